"""What ``penstock bench spark`` does: detection over tables and streams on Spark, beside Spark's own means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.bench import spark_delays, spark_streams
from penstock.bench.on_spark import QUERIES, measure, places
from penstock.bench.queries import QUERIES as ALL
from penstock.bench.report import section_page, section_table
from penstock.bench.results import Measurement, machine
from penstock.bench.spark_delays import Trickle
from penstock.bench.spark_report import sections
from penstock.bench.spark_streams import BATCHES, Following
from penstock.bench.streams import Stream
from penstock.command.benchmarking import folder_for
from penstock.command.progress import Bar, progress_bar
from penstock.command.writing import output, say, styled
from penstock.detection.prepare import prepare
from penstock.errors import PenstockError
from penstock.spark.session import SETTINGS, session

TABLES, STREAMS, DELAYS = "tables", "streams", "delays"
WAYS = {
    "penstock": spark_streams.OURS,
    "native": spark_streams.NATIVE,
    "by-key": spark_streams.BY_KEY,
    "small": spark_streams.SMALL,
}
"""The ways over streams, by what they are called in options."""
PAIRS = 100
"""Pairs of events in each file whose delay is measured."""


@dataclass(frozen=True)
class Request:
    """What was asked for, as the options say it."""

    events: tuple[int, ...]
    keys: tuple[int, ...]
    streams: tuple[str, ...]
    queries: tuple[str, ...]
    cores: tuple[int, ...]
    parts: tuple[str, ...]
    batch: int | None
    ways: tuple[str, ...]
    files: int
    rounds: int
    data: Path | None
    json: Path | None
    markdown: Path | None


def run(request: Request) -> None:
    """Measure and show; ways that do not find the same are an error in the end."""
    prepare()
    here = machine()
    streams = [
        Stream(kind, events, keys) for events in request.events for keys in request.keys for kind in request.streams
    ]
    queries = [ALL[name] for name in request.queries or QUERIES]
    found: list[Measurement] = []
    followed: list[Measurement] = []
    delayed: list[Measurement] = []
    with folder_for(request.data) as folder, progress_bar() as bar:
        if STREAMS in request.parts:
            followed = list(_followed(request, folder, bar))
        if DELAYS in request.parts:
            delayed = list(_delayed(request, bar))
        if TABLES not in request.parts:
            streams = []
        total, done = len(request.cores) * len(streams) * len(queries), 0
        for place in places(streams, request.cores, folder):
            for query in queries:
                bar.count(f"{place.stream.name}, {place.cores} cores: {query.name}", done, total)
                found += measure(place, query, request.rounds)
                done += 1
    tables = [*sections(found), *(spark_streams.sections(followed) if followed else ())]
    tables += spark_delays.sections(delayed) if delayed else ()
    say(styled(*map(section_table, tables)))
    if request.json:
        with output(request.json) as file:
            file.write(json.dumps([asdict(one) for one in [*found, *followed, *delayed]], indent=1).encode())
    if request.markdown:
        with output(request.markdown) as file:
            file.write("\n".join([here, *map(section_page, tables), ""]).encode())
    _check_same(found)


def _followed(request: Request, folder: Path, bar: Bar) -> Iterator[Measurement]:
    """Streams, with all processors that were asked for."""
    made = session(f"local[{max(request.cores)}]", SETTINGS, is_silent=True)
    followings = [followed_in(events, keys, request.batch) for events in request.events for keys in request.keys]
    for done, one in enumerate(followings):
        bar.count(f"streams with {one.keys:,} live runs", done, len(followings))
        yield from spark_streams.measure(made, one, folder, tuple(WAYS[name] for name in request.ways))
    made.stop()


def followed_in(events: int, keys: int, batch: int | None) -> Following:
    """A stream of so many events, in micro-batches of so many.

    >>> followed_in(1000, 10, None).batches, followed_in(1000, 10, 20).batches
    (8, 50)
    """
    if batch is None:
        return Following(keys, events // BATCHES)
    return Following(keys, batch, max(1, events // batch))


def _delayed(request: Request, bar: Bar) -> Iterator[Measurement]:
    """Delays, with all processors that were asked for."""
    made = session(f"local[{max(request.cores)}]", SETTINGS, is_silent=True)
    bar.count("delays", 0, 1)
    yield from spark_delays.measure(made, Trickle(request.files, PAIRS))
    made.stop()


def _check_same(found: list[Measurement]) -> None:
    for group in dict.fromkeys((one.stream, one.query) for one in found):
        numbers = {one.way: one.found for one in found if (one.stream, one.query) == group and one.found is not None}
        if len(set(numbers.values())) > 1:
            told = ", ".join(f"{way} {number:,}" for way, number in numbers.items())
            raise PenstockError(f"{group[1]}: they find different numbers of matches: {told}", hint="one is wrong")
