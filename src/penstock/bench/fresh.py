"""What is measured in a process of its own: the memory that a detection needs, and the first one after the start.

``python -m penstock.bench.fresh FILE PATTERN`` is the first of these processes.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from penstock.bench.feeding import detector
from penstock.bench.queries import Query
from penstock.bench.results import Measurement
from penstock.bench.streams import Stream
from penstock.bench.ways import OURS, use_one_thread
from penstock.detection.local import detect
from penstock.events.files import read_events

BATCH = 1 << 17
FIRST = "import penstock; penstock.detect([{'type': 'A', 'id': '1', 'time': 0}], '[A]')"


def memory(stream: Stream, query: Query, folder: Path) -> Measurement:
    """A query over a Parquet file, and the most memory that was resident at once."""
    path = stream.file(folder, "parquet")
    said = _child("-m", "penstock.bench.fresh", str(path), query.pattern)
    answer = json.loads(said)
    more = {"peak": answer["peak"], "streaming": answer["streaming"]}
    seconds, found = answer["seconds"], answer["found"]
    return Measurement("memory", stream, query.name, OURS, seconds, source="parquet", found=found, more=more)


def first(rounds: int) -> Measurement:
    """The first detection of a process, from its start to its end, with the kernel on disk."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        _child("-c", FIRST)
        times.append(time.perf_counter() - start)
    return Measurement("first", Stream("main", 1, 1), "[A]", OURS, min(times), rounds=rounds)


def _child(*arguments: str) -> str:
    return subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout


def peak() -> int:
    """The most bytes of this process that were resident at once.

    >>> peak() > 1_000_000
    True
    """
    try:
        # What getrusage says may be of the process that started this one.
        status = Path("/proc/self/status").read_text()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def _found(path: Path, pattern: str) -> int:
    make = detector()
    if make is None:
        return len(detect(read_events([path]).table, pattern, carry="none"))
    one = make(pattern, carry="none")
    with pq.ParquetFile(path) as file:
        found = sum(len(one.feed(batch)) for batch in file.iter_batches(BATCH))
    return found + len(one.finish())


def _answer(path: str, pattern: str) -> dict[str, Any]:
    use_one_thread()
    start = time.perf_counter()
    found = _found(Path(path), pattern)
    seconds = time.perf_counter() - start
    return {"found": found, "seconds": seconds, "peak": peak(), "streaming": detector() is not None}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_answer(*sys.argv[1:])))
