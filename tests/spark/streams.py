"""Streams for tests: each micro-batch is a file of JSON lines, results are what a file sink's log says."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import penstock as ps
from penstock import spark as ps_spark
from penstock.spark.failures import BUSY

SCHEMA = "type string, source string, id string, seq long, lo long, hi long, k string, v long"
TRIES = 5
"""How often a busy machine may fail to start a query."""
Record = dict[str, Any]


def event(type: str, at: int, k: Any = "x", source: str = "s", **more: Any) -> Record:
    """An event; its id follows from what it says."""
    return {"type": type, "source": source, "id": f"{type}{at}{k}{source}", "lo": at, "hi": at, "k": k, **more}


def beat(at: int, source: str = "s") -> Record:
    """A heartbeat."""
    return {"type": "penstock.heartbeat", "source": source, "lo": at, "hi": at}


class Stream:
    """A folder of input, one of results, and a checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path, pattern: Any, schema: str = SCHEMA, **options: Any) -> None:
        self.spark = spark
        self.folder = folder
        self.pattern = pattern
        self.schema = schema
        self.options = {"buckets": 3} | options
        self.count = 0
        for name in ("input", "output"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def put(self, *batches: Sequence[Record]) -> None:
        """More input: a file for each micro-batch."""
        for batch in batches:
            write_batch(self.folder / "input", self.count, batch)
            self.count += 1

    def events(self) -> DataFrame:
        """The stream of events."""
        reader = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return reader.json(str(self.folder / "input"))

    def run(self) -> None:
        """Lets the query go on until all input is consumed."""
        for _ in range(TRIES):
            try:
                self._run()
                return
            except ps.PenstockError as error:
                if BUSY not in str(error):
                    raise

    def _run(self) -> None:
        found = ps_spark.detect(self.events(), self.pattern, **self.options)
        writer = found.writeStream.format("parquet").outputMode("append").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(self.folder / "checkpoint"))
        query = writer.start(str(self.folder / "output"))
        query.awaitTermination()

    def rows(self) -> list[dict[str, Any]]:
        """All results so far."""
        if not (self.folder / "output" / "_spark_metadata").exists():
            return []
        found = self.spark.read.parquet(str(self.folder / "output")).collect()
        return [row.asDict(recursive=True) for row in found]

    def ids(self) -> list[list[str]]:
        """The ids of the parts of all composites, in order."""
        return sorted([part["id"] for part in row["parts"]] for row in self.rows())


def write_batch(folder: Path, number: int, records: Sequence[Record]) -> None:
    """A file that appears as a whole, later than those before it."""
    hidden = folder / f".{number:05}.json"
    hidden.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.utime(hidden, (1_000_000 + number, 1_000_000 + number))
    hidden.rename(folder / f"{number:05}.json")
