"""Streams on Spark: detection beside a native aggregation, and beside a stateful processor for each key by hand.

All follow the same folder of Parquet files, a file for each micro-batch. The first file has an A of every key, so that
as many runs wait as there are keys from then on. What comes before is not counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.bench.report import Section, figures
from penstock.bench.results import Measurement
from penstock.bench.streams import GAP, START, Stream
from penstock.spark import following
from penstock.spark.detecting import detect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART = "spark streams"
PATTERN = "[A(k = $k)] ; [B(k = $k)]"
OURS, NATIVE, BY_KEY, SMALL = "penstock", "native aggregation", "transformWithState by key", "penstock, small batches"
WARM = 2
"""Micro-batches that are not counted: the first has all keys, the next warms up."""
BATCHES = 8
SMALL_ROWS = 1_000
SHARE = 10
"""The way by key is given one event of so many: it would take too long."""


@dataclass(frozen=True)
class Following:
    """A stream to follow: so many keys, and micro-batches with so many events each."""

    keys: int
    events: int
    batches: int = BATCHES

    def write(self, folder: Path, rows: int) -> Path:
        """A folder with a file for each micro-batch of so many rows."""
        path = folder / f"stream-{self.keys}-{rows}-{self.batches}"
        if not path.exists():
            path.mkdir(parents=True)
            random = np.random.default_rng(7)
            self._write(path, 0, np.arange(self.keys), np.zeros(self.keys, np.int8))
            for number in range(1, self.batches + WARM):
                keys, types = random.integers(0, self.keys, rows), random.choice(3, rows, p=(0.45, 0.45, 0.1))
                self._write(path, number, keys, types)
        return path

    def _write(self, path: Path, number: int, keys: Any, types: Any) -> None:
        first = number * max(self.keys, self.events)
        columns = {
            "type": pa.array(["A", "B", "N"]).take(pa.array(types)),
            "id": pa.array(first + np.arange(len(keys))).cast(pa.string()),
            "time": START + (first + np.arange(len(keys))) * GAP,
            "k": keys,
        }
        file = path / f"{number:05}.parquet"
        pq.write_table(pa.table(columns), file)
        os.utime(file, (number + 1, number + 1))  # Spark takes files in this order


def measure(session: SparkSession, one: Following, folder: Path, ways: tuple[str, ...] = ()) -> Iterator[Measurement]:
    """Each way in turn over the same stream."""
    full, share = one.write(folder, one.events), one.write(folder, one.events // SHARE)
    plans: dict[str, tuple[Path, Callable[[DataFrame], DataFrame], str]] = {
        OURS: (full, _detected, "append"),
        NATIVE: (full, following.aggregated, "update"),
        BY_KEY: (share, following.by_key, "append"),
        SMALL: (one.write(folder, SMALL_ROWS), _detected, "append"),
    }
    for name, (path, make, mode) in plans.items():
        if ways and name not in ways:
            continue
        seen = following.followed(session, path, make, mode)
        seconds, rows = seen.seconds(WARM), seen.rows(WARM)
        more = {
            "written": seen.written(WARM),
            "batch": median(seconds for _, seconds, _ in seen.batches[WARM:]),
            "memory": (max(seen.memory[: len(seen.memory) // 2], default=0), max(seen.memory, default=0)),
        }
        yield Measurement(PART, Stream("pairs", rows, one.keys), "pairs", name, seconds, source="parquet", more=more)


def _detected(events: DataFrame) -> DataFrame:
    return detect(events, PATTERN, carry="none")


def sections(found: list[Measurement]) -> Iterator[Section]:
    """One table.

    >>> one = Measurement(PART, Stream("pairs", 1000, 10), "pairs", OURS, 2.0, more={"written": 5000, "batch": 0.5})
    >>> [section.rows for section in sections([one])]
    [(('10', 'penstock', '1,000', '0.50', '1.00', '0.50', '5', ''),)]
    """
    rows = []
    for one in found:
        base = next((other for other in found if other.way == NATIVE and other.stream.keys == one.stream.keys), one)
        memory = " → ".join(f"{some / 1e6:,.0f}" for some in one.more.get("memory", ()))
        written = one.more["written"] / one.stream.events
        rates = (figures(one.rate * 1000), figures(one.rate / base.rate))
        name = (f"{one.stream.keys:,}", one.way, f"{one.stream.events:,}")
        rows.append((*name, *rates, f"{one.more['batch']:.2f}", f"{written:,.0f}", memory))
    yield Section(
        "Streams on Spark",
        "Thousands of events a second, beside the native aggregation; the median micro-batch in seconds; bytes of "
        "state written for each event; megabytes of the largest worker in the first half and in all.",
        ("live runs", "way", "events", "rate", "/ native", "batch", "written", "memory"),
        tuple(rows),
    )
