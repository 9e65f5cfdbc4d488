"""History first, then live: a table of past events gives the state with which a stream begins.

The buckets are those of the stream, and each is given all of history at once, as if it were the stream's first
micro-batch. What comes out is what that would have left in the state store, and what it would have found.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Unpack

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from penstock.errors import PenstockError
from penstock.spark.failures import telling
from penstock.spark.flow import Flow, packed_results, unpacked_results
from penstock.spark.groups import KEYED
from penstock.spark.options import StreamOptions
from penstock.spark.planning import Patterns, warn_of_one_bucket
from penstock.spark.streaming import chosen_by, flow_of

LEFT = pa.schema([("key", pa.string()), ("name", pa.string()), ("body", pa.binary())])
"""What buckets leave: pages by name, and what they found, under no name."""


@dataclass(frozen=True)
class Backfill:
    """What history gave.

    Attributes:
        composites: What was found in it, with all that was asked for beside: a DataFrame as `detect` gives it.
        state: What a stream begins with, if it is given as ``initial``.
    """

    composites: DataFrame
    state: DataFrame


def backfill(df: DataFrame, pattern: Patterns, **options: Unpack[StreamOptions]) -> Backfill:
    """Detects patterns in a table of past events, so that a stream can go on from there.

    The pattern and all options must be those of the stream. Together, what is found here and what the stream finds is
    what one stream over all events finds: events that would have to wait in a stream for others to come wait in the
    state. Nothing is computed before it is needed, and then once, since both results are kept by Spark.

    Args:
        df: Events, a row each; heartbeats may be among them.
        pattern: As for `penstock.spark.detect`.
        options: Those of `penstock.spark.detect` for a stream.

    >>> past = backfill(history, pattern, sources=["s"])  # doctest: +SKIP
    >>> past.composites.write.parquet("composites")  # doctest: +SKIP
    >>> found = detect(events, pattern, sources=["s"], initial=past.state)  # doctest: +SKIP
    """
    if df.isStreaming:
        raise PenstockError("history is a table, and this DataFrame is a stream", hint="read it with spark.read")
    flow = flow_of(df, pattern, **options)
    warn_of_one_bucket(flow.work)
    chosen, reading = chosen_by(df, flow)
    packed = chosen.mapInArrow(telling(reading.pack), from_arrow_schema(KEYED))
    moved = packed.repartitionById(flow.work.recipe.total, f.col("bucket"))
    left = moved.mapInArrow(telling(_Buckets(flow, time.time_ns() // 1000)), from_arrow_schema(LEFT)).persist()
    found = left.where(f.col("name") == "").select(f.col("body").alias("blob"))
    composites = found.mapInArrow(unpacked_results, from_arrow_schema(flow.work.schema))
    return Backfill(composites, left.where(f.col("name") != ""))


class _Buckets:
    """Lets each bucket take in all of history."""

    def __init__(self, flow: Flow, arrival: int) -> None:
        self.flow = flow
        self.arrival = arrival

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: dict[int, list[tuple[str, bytes]]] = {}
        for batch in batches:
            for row in batch.to_pylist():
                rows.setdefault(row["bucket"], []).append((row["kind"], row["blob"]))
        keys = self.flow.keys()
        for bucket, some in rows.items():
            yield from left_by(self.flow, bucket, keys[bucket], some, self.arrival)


def left_by(
    flow: Flow, bucket: int, key: str, rows: Iterable[tuple[str, bytes]], arrival: int
) -> Iterator[pa.RecordBatch]:
    """What one bucket leaves: what it found, then its pages."""
    store: dict[str, bytes] = {}
    for blob in packed_results(flow.advance(bucket, rows, arrival, store)):
        yield pa.record_batch([[key], [""], [blob]], schema=LEFT)
    for name, body in store.items():
        yield pa.record_batch([[key], [name], [body]], schema=LEFT)
