"""How long a composite takes through micro-batches on Spark, from the file with its last event to a row on the driver.

Files come one after the other, each when what the one before leads to was seen, so nothing waits in a queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.bench.report import Section
from penstock.bench.results import Measurement
from penstock.bench.spark_streams import OURS, PATTERN
from penstock.bench.streams import GAP, START, Stream
from penstock.spark import following
from penstock.spark.detecting import detect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART = "spark delays"
FILTER = "a filter, without state"
WARM = 5
"""Files that are not counted: a query that has just begun is slow."""


@dataclass(frozen=True)
class Trickle:
    """A stream that comes in small files: so many of them, with so many pairs of events each."""

    files: int
    pairs: int

    def write(self, folder: Path, number: int) -> None:
        """One file, which appears as a whole; its number is the key of its first pair."""
        keys = np.tile(number + (self.files + WARM) * np.arange(self.pairs), 2)
        ids = number * 2 * self.pairs + np.arange(2 * self.pairs)
        columns = {
            "type": pa.array(["A"] * self.pairs + ["B"] * self.pairs + ["N"]),
            "id": pa.array([*map(str, ids), f"end {number}"]),
            "time": START + (number * (2 * self.pairs + 1) + np.arange(2 * self.pairs + 1)) * GAP,
            "k": np.append(keys, -1),
        }
        hidden = folder / f".{number}"
        pq.write_table(pa.table(columns), hidden)
        hidden.rename(folder / f"{number:05}.parquet")


def measure(session: SparkSession, one: Trickle) -> Iterator[Measurement]:
    """Each way in turn; the time of a measurement is that of all files together."""
    ways: dict[str, Callable[[DataFrame], DataFrame]] = {OURS: _detected, FILTER: _filtered}
    for name, make in ways.items():
        with TemporaryDirectory() as folder:
            write = partial(one.write, Path(folder))
            delays = following.delays(session, Path(folder), make, write, one.files + WARM)[WARM:]
        stream, more = Stream("trickle", 2 * one.pairs * one.files, one.pairs), {"delays": delays}
        yield Measurement(PART, stream, "pairs", name, sum(delays), source="parquet", more=more)


def _detected(events: DataFrame) -> DataFrame:
    return detect(events, PATTERN, carry="none")


def _filtered(events: DataFrame) -> DataFrame:
    return events.where("type = 'B'")


def sections(found: list[Measurement]) -> Iterator[Section]:
    """One table.

    >>> one = Measurement(PART, Stream("trickle", 600, 100), "pairs", OURS, 0.6, more={"delays": [0.1, 0.2, 0.3]})
    >>> [section.rows for section in sections([one])]
    [(('penstock', '200', '3', '200', '300', '300'),)]
    """
    rows = []
    for one in found:
        delays = one.more["delays"]
        told = (median(delays), float(np.quantile(delays, 0.99, method="higher")), max(delays))
        size = f"{one.stream.events // len(delays):,}"
        rows.append((one.way, size, str(len(delays)), *(f"{seconds * 1e3:,.0f}" for seconds in told)))
    yield Section(
        "Delays on Spark",
        "Milliseconds from a file with events to what it leads to, seen by the driver.",
        ("way", "events of a file", "files", "p50", "p99", "longest"),
        tuple(rows),
    )
