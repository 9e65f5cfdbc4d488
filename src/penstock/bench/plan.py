"""What a run measures: its parts one after the other, with sizes of their own unless others are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from penstock.bench import feeding, flink, fresh, growth, speed
from penstock.bench.by_penstock import WAY
from penstock.bench.queries import QUERIES, Query
from penstock.bench.results import Measurement
from penstock.bench.stages import stages
from penstock.bench.streams import SHARES, Stream
from penstock.bench.ways import OURS, way

Step = tuple[str, Callable[[], Sequence[Measurement]]]
"""What is measured next, in words, and the work."""

SMALL = 2_000_000
LARGE = 20_000_000
FEW_KEYS = 10_000
MANY_KEYS = 1_000_000


@dataclass(frozen=True)
class Plan:
    """What was asked for; an empty choice is each part's own.

    >>> plan = Plan(events=(500,), keys=(5,), streams=("main",), queries=("Q1",), ways=("loop",), sources=("memory",))
    >>> [title for title, _ in plan.steps(Path())]
    ['main, 500 events, 5 keys: Q1 from memory', ..., 'memory', 'first detection', ...]
    """

    parts: tuple[str, ...] = ()
    events: tuple[int, ...] = ()
    keys: tuple[int, ...] = ()
    streams: tuple[str, ...] = tuple(SHARES)
    queries: tuple[str, ...] = tuple(QUERIES)
    ways: tuple[str, ...] = ()
    sources: tuple[str, ...] = speed.SOURCES
    rounds: int = 3
    flink: bool = False
    texts: bool = False

    def steps(self, folder: Path) -> Iterator[Step]:
        """Everything to measure, in order; files go into the folder."""
        for name in self.parts or tuple(PARTS):
            yield from PARTS[name](self, folder)

    def chosen(self) -> list[Query]:
        """The queries."""
        return [QUERIES[name] for name in self.queries]

    def stream(self, events: int, keys: int) -> Stream:
        """One stream of the sizes that are asked for, else of these."""
        return Stream(self.streams[0], max(self.events or (events,)), max(self.keys or (keys,)), self.texts)


def _speed(plan: Plan, folder: Path) -> Iterator[Step]:
    for events in plan.events or (SMALL,):
        for keys in plan.keys or (FEW_KEYS, MANY_KEYS):
            for kind in plan.streams:
                stream = Stream(kind, events, keys, plan.texts)
                yield from _speed_steps(plan, stream, folder)
                queries = [query for query in plan.chosen() if query.name in flink.QUERIES]
                if plan.flink and queries:
                    yield f"{stream.name}: Flink CEP", partial(flink.measure, stream, queries, folder)


def _speed_steps(plan: Plan, stream: Stream, folder: Path) -> Iterator[Step]:
    ways = {name: way(name) for name in (OURS, *plan.ways)}
    for source in plan.sources:
        inputs = speed.Inputs(ways, stream, source, folder)
        for query in plan.chosen():
            title = f"{stream.name}: {query.name} from {source}"
            yield title, partial(speed.measure, inputs, query, plan.rounds)


def _growth(plan: Plan, folder: Path) -> Iterator[Step]:
    for axis, value, stream, query in growth.points(plan.stream(SMALL, FEW_KEYS)):
        yield f"growth: {value:,} {axis}", partial(growth.measure, axis, value, stream, query, plan.rounds)


def _feeding(plan: Plan, folder: Path) -> Iterator[Step]:
    make = feeding.detector()
    if make is not None:
        yield "small batches", partial(feeding.measure, make, plan.stream(SMALL, FEW_KEYS), QUERIES["Q1"])


def _memory(plan: Plan, folder: Path) -> Iterator[Step]:
    yield "memory", lambda: [fresh.memory(plan.stream(LARGE, MANY_KEYS), QUERIES["Q1"], folder)]


def _first(plan: Plan, folder: Path) -> Iterator[Step]:
    yield "first detection", lambda: [fresh.first(plan.rounds)]


def _stages(plan: Plan, folder: Path) -> Iterator[Step]:
    for kind in plan.streams:
        stream = Stream(kind, max(plan.events or (SMALL,)), min(plan.keys or (FEW_KEYS,)), plan.texts)
        yield f"{stream.name}: where the time goes", partial(_staged, stream, QUERIES["Q1"])


def _staged(stream: Stream, query: Query) -> list[Measurement]:
    table = stream.table()
    return [
        Measurement("stages", stream, query.name, OURS, one.seconds, more={"function": one.name, "depth": one.depth})
        for one in stages(lambda: WAY.find(table, query))
    ]


PARTS: dict[str, Callable[[Plan, Path], Iterator[Step]]] = {
    "speed": _speed,
    "growth": _growth,
    "feeding": _feeding,
    "memory": _memory,
    "first": _first,
    "stages": _stages,
}
