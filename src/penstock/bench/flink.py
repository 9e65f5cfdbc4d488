"""Flink CEP in Java, for the comparison only: its libraries are in a folder of their own, and nothing else uses them.

PyPI's ``apache-flink-libraries`` has the jars that ``apache-flink`` needs; ``javac`` compiles `CepBenchmark.java`
against them. Java, 17 or newer and with a compiler, must be there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from penstock.bench.queries import Query
from penstock.bench.results import Measurement
from penstock.bench.streams import Stream
from penstock.errors import PenstockError

VERSION = "2.3.0"
WAY = "flink"
FILTERED = "flink, filtered"
"""The same where events that the pattern does not name are taken out by hand before they are shared out by key."""
PROGRAM = "CepBenchmark"
MEMORY = "-Xmx4g"
SAID = {WAY: "", FILTERED: "/filtered"}
"""What the program says behind the name of a query."""
QUERIES = ("Q1", "Q2", "Q3", "Q4")
"""A chain of nine takes it minutes, and tells nothing that the shorter ones do not."""
ROUNDS = 2
"""A round of Flink's takes as long as a hundred of ours: more would be waiting for little."""


def cache_folder() -> Path:
    """Where the libraries are kept.

    >>> cache_folder().name
    'flink-2.3.0'
    """
    home = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or home) / "penstock" / f"flink-{VERSION}"


def is_installed() -> bool:
    """Whether the libraries are there already; if not, they are some 330 MB to fetch."""
    return bool(_jars())


def install() -> None:
    """Fetches the libraries, once."""
    folder = cache_folder()
    beside = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    wanted = f"apache-flink-libraries=={VERSION}"
    _run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(beside), wanted])
    shutil.rmtree(folder, ignore_errors=True)
    beside.rename(folder)


def measure(stream: Stream, queries: Sequence[Query], folder: Path) -> list[Measurement]:
    """All queries over a stream, in both ways and one Java process; a first round gets it warm and does not count.

    What making the events takes is measured by a round without a pattern, and subtracted.
    """
    classes = _compiled(folder)
    said = [f"{one.name}={one.shape}:{one.types}:{one.window}" for one in queries]
    arguments = [str(stream.arrays(folder)), str(ROUNDS + 1), *said]
    output = _run([_java("java"), MEMORY, "-cp", _path(classes), PROGRAM, *arguments])
    lines = [line.split() for line in output.splitlines()]
    warm = lines[1 + len(SAID) * len(queries) :]
    return [_best(stream, one, way, warm) for one in queries for way in SAID]


def _best(stream: Stream, query: Query, way: str, lines: list[list[str]]) -> Measurement:
    reading, whole = ([line for line in lines if line[0] == name] for name in ("read", query.name + SAID[way]))
    seconds, cpu = (_least(whole, column) - _least(reading, column) for column in (1, 2))
    return Measurement(
        "speed",
        stream,
        query.name,
        way,
        seconds,
        cpu=cpu,
        rounds=len(whole),
        found=int(whole[0][3]),
        checksum=whole[0][4],
        more={"reading": _least(reading, 1), "reading_cpu": _least(reading, 2)},
    )


def _least(lines: list[list[str]], column: int) -> float:
    return min(float(line[column]) for line in lines)


def _jars() -> list[Path]:
    libraries = cache_folder() / "pyflink" / "lib"
    return [path for kind in ("flink-cep", "flink-dist", "log4j") for path in sorted(libraries.glob(f"{kind}-*.jar"))]


def _path(*first: Path) -> str:
    return os.pathsep.join(map(str, [*first, *_jars()]))


def _compiled(folder: Path) -> Path:
    classes = folder / "classes"
    if not classes.exists():
        source = folder / f"{PROGRAM}.java"
        source.write_bytes(files("penstock.bench").joinpath(source.name).read_bytes())
        _run([_java("javac"), "-d", str(classes), "-cp", _path(), str(source)])
    return classes


def _java(program: str) -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(program, path=f"{home}/bin" if home else None)
    if found is None:
        raise PenstockError(
            f"Flink CEP needs {program}, and there is none", hint="install a JDK, 17 or newer, or set JAVA_HOME"
        )
    return found


def _run(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if result.returncode:
        last = "\n".join((result.stderr or result.stdout).splitlines()[-5:])
        raise PenstockError(f"{Path(command[0]).name} failed:\n{last}", hint="leave out --flink to go on without it")
    return result.stdout
