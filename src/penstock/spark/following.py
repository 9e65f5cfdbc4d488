"""What benchmarks ask of streams on Spark: how long micro-batches and results take, what they write, and memory."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

from penstock.errors import PenstockError

_SAMPLE = 0.25
"""So many seconds pass between two looks at workers' memory."""
_LONGEST = 120.0
"""So many seconds are waited for what a file leads to."""


@dataclass
class Followed:
    """Micro-batches in order: rows, seconds and bytes of state written; and the memory of workers, sampled."""

    batches: list[tuple[int, float, int]] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)

    def seconds(self, first: int = 0) -> float:
        """How long the micro-batches from one on took."""
        return sum(seconds for _, seconds, _ in self.batches[first:])

    def rows(self, first: int = 0) -> int:
        """How many rows these had."""
        return sum(rows for rows, _, _ in self.batches[first:])

    def written(self, first: int = 0) -> int:
        """How many bytes of state these wrote."""
        return sum(written for _, _, written in self.batches[first:])


def followed(session: SparkSession, folder: Path, make: Callable[[DataFrame], DataFrame], mode: str) -> Followed:
    """Runs a query over a folder of Parquet files, one file a micro-batch, and throws its results away."""
    schema = session.read.parquet(str(folder)).schema
    events = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    session.conf.set("spark.sql.streaming.numRecentProgressUpdates", "10000")
    found = Followed()
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = make(events).writeStream.format("noop").outputMode(mode).option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        over = threading.Event()
        watcher = threading.Thread(target=_watch, args=(found.memory, over), daemon=True)
        watcher.start()
        query.awaitTermination()
        over.set()
        watcher.join()
        for progress in query.recentProgress:
            written = sum(_written(one.json) for one in progress.stateOperators)
            found.batches.append((progress.numInputRows, progress.durationMs["triggerExecution"] / 1e3, written))
    return found


def delays(
    session: SparkSession,
    folder: Path,
    make: Callable[[DataFrame], DataFrame],
    write: Callable[[int], None],
    count: int,
) -> list[float]:
    """How long it takes from each file of a folder, of so many, until a row with its number as ``k`` is seen here."""
    write(0)
    events = session.readStream.schema(session.read.parquet(str(folder)).schema).parquet(str(folder))
    seen: dict[int, float] = {}
    waits = threading.Condition()

    def note(found: DataFrame, _: int) -> None:
        keys = [row[0] for row in found.select("k").distinct().where(f.col("k").between(0, count)).collect()]
        with waits:
            seen.update(dict.fromkeys(keys, time.perf_counter()))
            waits.notify_all()

    taken = []
    with tempfile.TemporaryDirectory() as checkpoint:
        begins = time.perf_counter()
        query = make(events).writeStream.foreachBatch(note).option("checkpointLocation", checkpoint).start()
        try:
            for number in range(count):
                if number:
                    begins = time.perf_counter()
                    write(number)
                with waits:
                    if not waits.wait_for(partial(seen.__contains__, number), _LONGEST):
                        raise PenstockError(f"what file {number} leads to was not seen", hint="see what the query says")
                taken.append(seen[number] - begins)
        finally:
            query.stop()
    return taken


def _written(operator: str) -> int:
    return int(json.loads(operator).get("customMetrics", {}).get("rocksdbTotalBytesWritten", 0))


def _watch(found: list[int], over: threading.Event) -> None:
    while not over.wait(_SAMPLE):
        found.append(max(_workers(), default=0))


def _workers() -> Iterator[int]:
    """The bytes that each of this process's Python workers has in memory."""
    page, parents, sizes = os.sysconf("SC_PAGE_SIZE"), {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(path.name)] = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if b"\0penstock.spark.daemon" in (path / "cmdline").read_bytes():
                sizes[int(path.name)] = int((path / "statm").read_text().split()[1]) * page
        except OSError:
            continue
    for number, size in sizes.items():
        while number in parents and number != os.getpid():
            number = parents[number]
        if number == os.getpid():
            yield size


def aggregated(events: DataFrame) -> DataFrame:
    """Spark's own means: a row for each key with how many events it has and when the last was."""
    return events.groupBy("k").agg(f.count(f.lit(1)).alias("count"), f.max("time").alias("last"))


def by_key(events: DataFrame) -> DataFrame:
    """Each A with the Bs after it, by a stateful processor for each key, as one would write it by hand."""
    found = events.where("type IN ('A', 'B')").groupBy("k")
    return found.transformWithState(_Pairs(), "id string, id_1 string", "append", "none")


class _Pairs(StatefulProcessor):
    """An A waits for a B of its key."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._waiting = handle.getListState("waiting", "id string")

    def handleInputRows(self, key: Any, rows: Iterable[Row], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        waiting = [row[0] for row in self._waiting.get()]
        for row in sorted(rows, key=lambda row: row.time):
            if row.type == "A":
                waiting.append(row.id)
            else:
                yield from (Row(id=one, id_1=row.id) for one in waiting)
                waiting = []
        if waiting:
            self._waiting.put([(one,) for one in waiting])
        else:
            self._waiting.clear()
