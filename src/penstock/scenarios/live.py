"""Detection while a scenario runs: what comes in is taken, and how far detection has come can be asked at any time.

There is one protocol, so that a scenario does not know where its patterns are detected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from penstock.algebra.pattern import Pattern
from penstock.detection.composites import Composites
from penstock.detection.detector import Detector
from penstock.testing.simulator import Arrival


@dataclass(frozen=True)
class Progress:
    """How far detection has come.

    Attributes:
        consumed: Events that were put in order and consumed.
        live: Runs that wait.
        late: Events that came after their place had passed.
        composites: What was detected so far.
        delay: How long a consumed event waited until nothing earlier could come, on average, in microseconds.
    """

    consumed: int = 0
    live: int = 0
    late: int = 0
    composites: int = 0
    delay: float = 0.0


class Live(Protocol):
    """Detects while events come in."""

    def take(self, arrival: Arrival) -> None:
        """Events and heartbeats came in."""

    def progress(self) -> Progress:
        """How far it is."""

    def finish(self) -> Composites:
        """Nothing more comes: all that was detected."""

    def stop(self) -> None:
        """Ends what was started, whether or not it was finished."""


class InProcess:
    """Detection in this process, under the ``guaranteed`` policy.

    >>> from penstock import parse
    >>> from penstock.testing.simulator import SECOND, SimulatedSource, simulate
    >>> detection = InProcess(parse("[A(k = $k)] ; [B(k = $k)] within 5 s"), ["a", "b"])
    >>> for arrival in simulate([SimulatedSource("a"), SimulatedSource("b")], seconds=20, seed=1).arrivals(SECOND):
    ...     detection.take(arrival)
    >>> len(detection.finish()) == detection.progress().composites > 0
    True
    """

    def __init__(self, pattern: Pattern, sources: list[str]) -> None:
        self._detector = Detector(pattern, sources=sources)
        self._found: list[pa.Table] = []

    def take(self, arrival: Arrival) -> None:
        """What came together is taken together; of one source's heartbeats the last counts."""
        promised = {beat.source: beat.at for beat in arrival.heartbeats}
        found = self._detector.feed(arrival.table, heartbeats=promised)
        if len(found):
            self._found.append(found.table)

    def progress(self) -> Progress:
        """What the detector counts."""
        told = self._detector.counters
        return Progress(told.consumed, told.live, told.late, told.matched, told.delay)

    def finish(self) -> Composites:
        """Whatever is still held is consumed."""
        last = self._detector.finish()
        return Composites(joined([*self._found, last.table]))

    def stop(self) -> None:
        """Nothing was started."""


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Composites of several tables; a column that says nothing in one of them has the kind that it has elsewhere.

    >>> tables = [pa.table({"room": pa.nulls(1, pa.string())}), pa.table({"room": [7.5]})]
    >>> joined(tables)["room"].to_pylist()
    [None, 7.5]
    """
    kinds = {name: pa.string() for name in tables[0].column_names}
    for table in tables:
        for name in table.column_names:
            if table[name].null_count < len(table):
                kinds[name] = table.schema.field(name).type
    schema = pa.schema(kinds.items())
    return pa.concat_tables(
        pa.table([_as(table[name], kind) for name, kind in kinds.items()], schema=schema) for table in tables
    )


def _as(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    return column.cast(kind) if column.null_count < len(column) else pa.chunked_array([pa.nulls(len(column), kind)])
