"""Detection on Spark beside hand-written window functions, beside Spark's own sort, and beside one process.

All read the same Parquet file. Streams on Spark are measured in a module of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.bench.queries import Query, Shape
from penstock.bench.results import Measurement
from penstock.bench.streams import Stream
from penstock.checks.check import parse
from penstock.detection.files import detect_files
from penstock.detection.plan import plan_of
from penstock.spark import batch, files, measuring, moving
from penstock.spark.session import SETTINGS, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART = "spark"
QUERIES = ("Q1", "Q2", "Q4")
"""What window functions can say."""
WINDOWS, SORT, PROCESS = "window functions", "repartition + sort", "one process"
WINDOWS_ONCE, SORT_ONCE = f"{WINDOWS}, ids once", f"{SORT}, ids once"
"""The same with repeated events left out before, as our ways do unless it is known that there are none."""
FRAME, COMPUTED, UNIQUE, PATH = "DataFrame", "computed DataFrame", "computed, unique ids", "Parquet path"
"""Our ways: from a DataFrame of files; from one that Spark computes, whose rows cross to workers; from such a one if it
is known that no event is repeated; from files of which that is known too."""
OURS = (FRAME, COMPUTED, UNIQUE, PATH)


@dataclass(frozen=True)
class Place:
    """Where a query is measured: a session with so many processors, and a file."""

    session: SparkSession
    cores: int
    stream: Stream
    path: Path

    def ways(self, query: Query) -> Mapping[str, Callable[[], int | None]]:
        """What each way does; it says how many matches there are, if it knows."""
        given = self.session.read.parquet(str(self.path))
        computed, once = given.where("k >= 0"), given.dropDuplicates(["id"])
        here = (self.session, str(self.path), query.pattern)
        return {
            FRAME: lambda: measuring.drained(batch.detect_table(given, query.pattern, carry="none")),
            COMPUTED: lambda: measuring.drained(batch.detect_table(computed, query.pattern, carry="none")),
            UNIQUE: lambda: measuring.drained(batch.detect_table(computed, query.pattern, carry="none", unique=True)),
            PATH: lambda: measuring.drained(files.detect_files(*here, unique=True, carry="none")),
            WINDOWS: lambda: measuring.drained(self._windows(given, query)),
            WINDOWS_ONCE: lambda: measuring.drained(self._windows(once, query)),
            SORT: lambda: self._sorted(given, query),
            SORT_ONCE: lambda: self._sorted(once, query),
            PROCESS: lambda: self._alone(query),
        }

    def _windows(self, given: DataFrame, query: Query) -> DataFrame:
        given.createOrReplaceTempView("events")
        return self.session.sql(window_functions(query))

    def _sorted(self, given: DataFrame, query: Query) -> None:
        wanted = given.where(f"type IN ({_listed(query)})")
        measuring.drained(measuring.sorted_by_key(wanted, "k", "time", moving.default_buckets(self.session)))

    def _alone(self, query: Query) -> int:
        return len(detect_files([self.path], plan_of(parse(query.pattern), carry="none")).composites)


def window_functions(query: Query) -> str:
    """A query by hand: one sort for each key, backwards, so that the next event of a type is the last one seen.

    It gives what a composite says: its key, the ids and times of its events, and when a timer fired.

    >>> from penstock.bench.queries import QUERIES
    >>> window_functions(QUERIES["Q1"]).splitlines()[0]
    'SELECT k, id, time, next_B.id AS id_1, next_B.time AS time_1 FROM ('
    """
    absence = query.shape == Shape.ABSENCE
    inner = f"SELECT type, id, time, k FROM events WHERE type IN ({_listed(query)})"
    for place in range(len(query.types) - 1, 0, -1):
        inner = _with_next(query, place, inner)
    first, second = query.types[0], query.types[1]
    if absence:
        end = f"time + {query.window} <= (SELECT max(time) FROM events)"
        late = f"(next_{second} IS NULL OR next_{second}.time - time > {query.window})"
        columns = f"k, id, time, time + {query.window} AS at"
        return f"SELECT {columns} FROM (\n{inner}\n) WHERE type = '{first}' AND {late} AND {end}"
    paths = [".".join(f"next_{type}" for type in query.types[1 : place + 1]) for place in range(1, len(query.types))]
    columns = ", ".join(f"{path}.id AS id_{n}, {path}.time AS time_{n}" for n, path in enumerate(paths, 1))
    found = f"type = '{first}' AND {paths[-1]}.time - time <= {query.window}"
    return f"SELECT k, id, time, {columns} FROM (\n{inner}\n) WHERE {found}"


def _with_next(query: Query, place: int, inner: str) -> str:
    """The rows with the next event of a type after each, and what comes after that."""
    type = query.types[place]
    after = f", next_{query.types[place + 1]}" if place + 1 < len(query.types) else ""
    following = f"last(IF(type = '{type}', struct(id, time{after}), NULL), true)"
    frame = "(PARTITION BY k ORDER BY time DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    return f"SELECT *, {following} OVER {frame} AS next_{type} FROM ({inner})"


def _listed(query: Query) -> str:
    return ", ".join(f"'{type}'" for type in query.types)


def measure(place: Place, query: Query, rounds: int) -> Iterator[Measurement]:
    """All ways to a query, which take turns; each has one round before that is not counted."""
    ways = place.ways(query)
    best: dict[str, float] = {}
    found: dict[str, int | None] = {}
    moved: dict[str, int] = {}
    for number in range(rounds + 1):
        for name, work in ways.items():
            before = measuring.moved_bytes(place.session)
            start = time.perf_counter()
            found[name] = work()
            seconds = time.perf_counter() - start
            moved[name] = measuring.moved_bytes(place.session) - before
            if number:
                best[name] = min(seconds, best.get(name, seconds))
    for name, seconds in best.items():
        more: dict[str, Any] = {"cores": place.cores, "moved": moved[name]}
        yield Measurement(
            PART, place.stream, query.name, name, seconds, source="parquet", rounds=rounds, found=found[name], more=more
        )


def places(streams: list[Stream], cores: tuple[int, ...], folder: Path) -> Iterator[Place]:
    """A session for each number of processors, one after the other, and all streams in each."""
    for number in cores:
        made = session(f"local[{number}]", SETTINGS, is_silent=True)
        for stream in streams:
            yield Place(made, number, stream, stream.file(folder, "parquet"))
        made.stop()
