"""What was measured: raw numbers, with the machine, the versions and the command they come from."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from penstock.bench.streams import Stream

PACKAGES = ("penstock", "numpy", "pyarrow", "numba", "polars", "pandas", "duckdb")


@dataclass(frozen=True)
class Measurement:
    """One number: how long one way took for one thing.

    Attributes:
        part: Which part of the benchmark it belongs to.
        way: Who did it.
        seconds: The least on the clock.
        cpu: The least on processors; more than ``seconds`` would be more than one thread.
        found: How many composites there were.
        checksum: A sum over the ids and stamps of their parts, as text.
        more: What else was measured.
    """

    part: str
    stream: Stream
    query: str
    way: str
    seconds: float
    source: str = "memory"
    cpu: float | None = None
    rounds: int = 1
    found: int | None = None
    checksum: str | None = None
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Millions of events a second.

        >>> Measurement("speed", Stream("main", 2_000_000, 10), "Q1", "penstock", 0.5).rate
        4.0
        """
        return self.stream.events / self.seconds / 1e6

    def by_processor(self) -> Measurement:
        """The same with seconds on processors where they are known: a busy machine makes the clock say too much.

        >>> Measurement("speed", Stream("main", 2, 1), "Q1", "loop", 5.0, cpu=3.0).by_processor().seconds
        3.0
        """
        return self if self.cpu is None else replace(self, seconds=self.cpu, more={**self.more, "clock": self.seconds})


@dataclass(frozen=True)
class Results:
    """All measurements of one run, and notes on what was left out."""

    command: str
    measurements: tuple[Measurement, ...]
    notes: tuple[str, ...] = ()
    clock: str = "wall"
    machine: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    def part(self, name: str) -> list[Measurement]:
        """The measurements of one part.

        >>> Results("penstock bench engine", ()).part("speed")
        []
        """
        return [one for one in self.measurements if one.part == name]

    def to_json(self) -> str:
        """For machines.

        >>> json.loads(Results("penstock bench engine", ()).to_json())["measurements"]
        []
        """
        return json.dumps(asdict(self), indent=1) + "\n"


def machine() -> str:
    """The processor, how many of it, the Python, and how busy it is: others' work makes times worse.

    >>> machine().count(",") >= 2
    True
    """
    busy = f"load {os.getloadavg()[0]:.1f} at the start"
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, {busy}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            named = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        named = []
    return named[0] if named else platform.processor() or platform.machine()


def versions(names: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The versions of packages that are installed.

    >>> "numpy" in versions()
    True
    """
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
