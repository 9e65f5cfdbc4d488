"""How many events a second, beside other ways: from memory, from Parquet, from CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from penstock.bench.by_penstock import engine_alone, engine_input
from penstock.bench.queries import Query
from penstock.bench.results import Measurement
from penstock.bench.streams import Stream
from penstock.bench.timing import Work, best_times
from penstock.bench.ways import OURS, Way
from penstock.events.table import EventTable

SOURCES = ("memory", "parquet", "csv")
ENGINE = "engine"
"""The engine alone, without what is before and after it."""


class Inputs:
    """A stream from one source, as each way takes it. Events are loaded when they are first asked for."""

    def __init__(self, ways: Mapping[str, Way], stream: Stream, source: str, folder: Path) -> None:
        self.ways = ways
        self.stream = stream
        self.source = source
        self.folder = folder

    def works(self, query: Query) -> dict[str, Work]:
        """What each way does with a query: everybody begins with a file, or with what suits them best in memory."""
        if self.source != "memory":
            path = self.stream.file(self.folder, self.source)
            return {name: partial(_read_and_find, one, path, query) for name, one in self.ways.items()}
        found: dict[str, Work] = {name: partial(one.find, self._loaded[name], query) for name, one in self.ways.items()}
        return {**found, ENGINE: partial(engine_alone, self._prepared, query)} if OURS in self.ways else found

    @cached_property
    def _table(self) -> pa.Table:
        return self.stream.table()

    @cached_property
    def _loaded(self) -> dict[str, Any]:
        return {name: one.load(self._table) for name, one in self.ways.items()}

    @cached_property
    def _prepared(self) -> EventTable:
        return engine_input(self._table)


def _read_and_find(one: Way, path: Path, query: Query) -> Any:
    return one.find(one.read(path), query)


def measure(inputs: Inputs, query: Query, rounds: int) -> list[Measurement]:
    """One query by each way, and by the engine alone where events are in memory.

    >>> from penstock.bench.queries import QUERIES
    >>> from penstock.bench.ways import way
    >>> inputs = Inputs({"loop": way("loop")}, Stream("dense", 50, 2), "memory", Path())
    >>> [(one.way, one.found) for one in measure(inputs, QUERIES["Q1"], 1)]
    [('loop', 16)]
    """
    found: dict[str, tuple[int, str | None]] = {}

    def take(name: str, value: Any) -> None:
        if name == ENGINE:
            found[name] = (value, None)
        else:
            matches = inputs.ways[name].matches(value)
            found[name] = (len(matches), str(matches.checksum()))

    return [
        Measurement(
            "speed",
            inputs.stream,
            query.name,
            name,
            time.seconds,
            inputs.source,
            time.cpu,
            time.rounds,
            *found[name],
        )
        for name, time in best_times(inputs.works(query), rounds, take).items()
    ]


def differences(measurements: Sequence[Measurement]) -> list[str]:
    """Where two ways found different things.

    >>> differences([])
    []
    """
    said = []
    groups: dict[tuple[Stream, str], list[Measurement]] = {}
    for one in measurements:
        if one.part == "speed":
            groups.setdefault((one.stream, one.query), []).append(one)
    for (stream, query), group in groups.items():
        sums = {one.checksum: one for one in group if one.checksum is not None}
        if len(sums) > 1 or len({one.found for one in group}) > 1:
            counts = ", ".join(f"{one.way} from {one.source}: {one.found:,}" for one in group)
            said.append(f"{stream.name}, {query}: not the same matches ({counts})")
    return said
