"""How the time for an event grows: with keys, with the length of the window, with the runs that wait at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.bench.by_penstock import WAY, engine_alone, engine_input
from penstock.bench.queries import MINUTE, QUERIES, Query, Shape
from penstock.bench.results import Measurement
from penstock.bench.speed import ENGINE
from penstock.bench.streams import GAP, SHARES, Stream
from penstock.bench.timing import best_times
from penstock.bench.ways import OURS

KEYS = (100, 1_000, 10_000, 100_000, 1_000_000)
MINUTES = (1, 5, 20, 60, 240)
NEVER = Query("Q1", Shape.CHAIN, "AZ", 5 * MINUTE)
"""There is no Z: every A waits as long as the window, and nothing is made."""
ROUNDS = Query("Q3", Shape.REPETITION, "ABZ", 5 * MINUTE)
"""Here every B concerns every A that waits."""


def points(stream: Stream) -> Iterator[tuple[str, int, Stream, Query]]:
    """What varies, its value, and what is then measured.

    >>> [value for axis, value, _, _ in points(Stream("main", 2_000_000, 10_000)) if axis == "live runs"]
    [300, 1500, 6000, 18000, 72000]
    """
    for keys in KEYS:
        yield "keys", keys, replace(stream, keys=keys), QUERIES["Q1"]
    for minutes in MINUTES:
        yield "window, minutes", minutes, stream, QUERIES["Q1"].over(minutes * MINUTE)
    for minutes in MINUTES:
        yield "live runs", _live(stream, minutes), stream, NEVER.over(minutes * MINUTE)
    for minutes in MINUTES:
        yield "runs of one key", _live(stream, minutes), replace(stream, keys=1), ROUNDS.over(minutes * MINUTE)


def _live(stream: Stream, minutes: int) -> int:
    """How many runs wait at once that start with an A and never come to anything."""
    share = SHARES[stream.kind][0]
    return min(int(minutes * MINUTE // GAP * share), int(stream.events * share))


def measure(axis: str, value: int, stream: Stream, query: Query, rounds: int) -> list[Measurement]:
    """All of detection and the engine alone, at one point."""
    table = stream.table()
    prepared = engine_input(table)
    found: dict[str, int] = {}

    def take(name: str, value: Any) -> None:
        found[name] = value if name == ENGINE else len(value)

    works = {OURS: lambda: WAY.find(table, query), ENGINE: lambda: engine_alone(prepared, query)}
    times = best_times(works, rounds, take)
    return [
        Measurement(
            "growth",
            stream,
            query.name,
            name,
            time.seconds,
            cpu=time.cpu,
            rounds=time.rounds,
            found=found[name],
            more={"axis": axis, "value": value},
        )
        for name, time in times.items()
    ]
