"""What is compiled at installation is all that detections use."""

import subprocess
import sys

_DETECTIONS = """
import importlib, pkgutil
import pyarrow as pa
import penstock as ps
from penstock import engine
from penstock.detection.prepare import compile_all

modules = [importlib.import_module(f"penstock.engine.{one.name}") for one in pkgutil.iter_modules(engine.__path__)]

def compiled():
    functions = [one for module in modules for one in vars(module).values() if hasattr(one, "signatures")]
    return {(one.py_func.__qualname__, *map(str, some)) for one in functions for some in one.signatures}

compile_all()
before = compiled()
times = list(range(6000))
types = ["A", "B", "C"] * 2000
pair = "[A(k = $k)] ; [B(k = $k)] within 1 h"
for ids in ({"id": [str(time) for time in times]}, {}):
    for keys in ([time // 6 for time in times], [f"k{time // 6}" for time in times]):
        table = pa.table({"type": types, "time": times, "k": keys, **ids})
        for context in ("continuous", "chronicle", "recent", "cumulative"):
            ps.detect(table, pair, context=context, incomplete=context == "recent")
        ps.detect(table, "([A(k = $k)], [T in {T, B(k = $k)}]){T = 1 s}")
        ps.detect(table, "a: [A(k = $k)] ; b: [B(k = $k)]+ ; [C(k = $k)] where count(b) > 0 select n = a.k within 1 h")
        ps.detect(table, f"P := {pair}\\n[P(k = $k)] ; [C(k = $k)] within 1 h")
        ps.detect(table.slice(0, 600), "[A(k = $k)] || [B(k = $k)] within 1 s")
        detector = ps.Detector(pair)
        for start in range(0, 600, 100):
            detector.feed(table.slice(start, 100))
            detector = ps.Detector.restore(detector.snapshot())
        detector.finish()
        noise = pa.array([type if time % 50 < 2 else "N" for time, type in zip(times, types)]).dictionary_encode()
        ps.detect(table.set_column(0, "type", noise), pair)
        for pattern in (
            "[A(k = $k AND n = $n)] ; [B(k = $k AND n > $n)]",
            "[A(k = $k) in {A(k = $k), C(k > $k)}] ; [B(k = $k)]",
        ):
            detector = ps.Detector(pattern)
            for start in range(0, 60, 10):
                detector.feed(table.append_column("n", table["time"]).slice(start, 10))
                detector = ps.Detector.restore(detector.snapshot())
            detector.finish()
print(sorted(compiled() - before))
"""


def test_no_detection_compiles_what_the_installation_has_not() -> None:
    told = subprocess.run([sys.executable, "-c", _DETECTIONS], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
