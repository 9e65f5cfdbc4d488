"""Detection over tables on Spark: DataFrames that are all there.

The plan has two stages. In the first, Spark's own side leaves behind the rows and columns that no pattern needs, and
Python workers pack the others, a blob for each bucket. Blobs move to their buckets. In the second stage each bucket's
events are unpacked, put in order and detected by the engine that runs everywhere.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Unpack

import pyarrow as pa
from pyspark.errors import PySparkNotImplementedError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from penstock.events.arrow import from_arrow
from penstock.events.naming import field_columns
from penstock.spark.columns import last_stamp, needed_columns, needed_rows, quoted
from penstock.spark.failures import raise_ours, telling
from penstock.spark.options import TableOptions
from penstock.spark.packing import PACKED, PROGRESS, Progress, packed_rows
from penstock.spark.planning import (
    Patterns,
    common_options,
    mapping_of,
    needs_end,
    patterns_of,
    plans_of,
    work_of,
)
from penstock.spark.work import Work

_SHARES = 2
"""Buckets for each processor, so that none waits long for the others."""


class OneBucketWarning(UserWarning):
    """A pattern cannot be shared out, so that one worker detects all of it."""


def detect_table(df: DataFrame, pattern: Patterns, **options: Unpack[TableOptions]) -> DataFrame:
    """The composites of patterns over a DataFrame that is all there; arguments are those of `penstock.spark.detect`."""
    raise_ours()
    common = common_options(options, TableOptions)
    plans = plans_of(patterns_of(pattern), **common)
    mapping = mapping_of(df.columns, **common)
    blank = from_arrow(to_arrow_schema(df.schema, timezone="UTC").empty_table(), mapping)
    settles = not options.get("unique") and "id" in field_columns(df.columns, mapping)
    size = options.get("buckets") or default_buckets(df.sparkSession)
    work = work_of(plans, blank, mapping, size, options.get("until"), settles=settles)
    warn_of_one_bucket(work)
    return found_in(packed(df, work), work)


def packed(df: DataFrame, work: Work) -> DataFrame:
    """The events of a DataFrame in blobs, with what each bucket must know of the end of the input."""
    recipe = work.recipe
    blobs = from_arrow_schema(PACKED)
    names = needed_columns(df.schema, recipe)
    work = work.reading(len(names) < len(df.columns))
    chosen = df.select([quoted(name) for name in names])
    condition = needed_rows(df.schema, recipe)
    if condition is None:
        return settled(chosen.mapInArrow(telling(work.pack), blobs), work)
    silent = work.without_progress()
    rows = settled(chosen.where(condition).mapInArrow(telling(silent.pack), blobs), silent)
    if not needs_end(work.plans):
        return rows
    last = df.agg(last_stamp(df.schema, recipe.columns).alias("last"))
    return rows.union(last.mapInArrow(_Ending(recipe.total), blobs))


def settled(blobs: DataFrame, work: Work) -> DataFrame:
    """Packed events without repeated ones, if there may be any."""
    if not work.settles:
        return blobs
    met = blobs.repartitionById(work.recipe.buckets, f.col("bucket"))
    return met.mapInArrow(telling(work.settle), from_arrow_schema(PACKED))


class _Ending:
    """Tells every bucket the last stamp of all events, those that were left behind among them."""

    def __init__(self, total: int) -> None:
        self._total = total

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for last in batch["last"].to_pylist():
                if last is not None:
                    told = Progress({"": (last, 0)}).to_table()
                    yield packed_rows(PROGRESS, [(bucket, told) for bucket in range(self._total)])


def found_in(blobs: DataFrame, work: Work) -> DataFrame:
    """What is found in packed events, each bucket in a task of its own."""
    moved = blobs.repartitionById(work.recipe.total, f.col("bucket"))
    return moved.mapInArrow(telling(work.detect), from_arrow_schema(work.schema))


def default_buckets(session: SparkSession) -> int:
    """How many buckets suit a session."""
    try:
        return _SHARES * int(session.sparkContext.defaultParallelism)
    except PySparkNotImplementedError:  # a session of Spark Connect does not know
        return int(session.conf.get("spark.sql.shuffle.partitions", "4") or 4)


def warn_of_one_bucket(work: Work) -> None:
    """Say which definitions are not shared out, and why."""
    for name, reason in work.recipe.split.reasons.items():
        warnings.warn(
            f"`{name}` is detected in one bucket, since {reason}; a parameter that all its events have would spread it",
            OneBucketWarning,
            stacklevel=3,
        )
