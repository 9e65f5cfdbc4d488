"""Detection over tables on Spark: ``detect`` for DataFrames that are all there.

The plan has two stages. In the first, Spark's own side leaves behind the rows and columns that no pattern needs, and
Python workers pack the others, a blob for each bucket. Blobs move to their buckets. In the second stage each bucket's
events are unpacked, put in order and detected by the engine that runs everywhere.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

import pyarrow as pa
from pyspark.errors import PySparkNotImplementedError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from penstock.detection.limits import Limits
from penstock.errors import PenstockError
from penstock.events.arrow import from_arrow
from penstock.events.mapping import Columns
from penstock.events.naming import field_columns
from penstock.spark.columns import last_stamp, needed_columns, needed_rows, quoted
from penstock.spark.failures import raise_ours, telling
from penstock.spark.packing import PACKED, PROGRESS, Progress, packed_rows
from penstock.spark.planning import Patterns, mapping_of, needs_end, patterns_of, plans_of, work_of
from penstock.spark.work import Work

_SHARES = 2
"""Buckets for each processor, so that none waits long for the others."""


class OneBucketWarning(UserWarning):
    """A pattern cannot be shared out, so that one worker detects all of it."""


def detect(
    df: DataFrame,
    pattern: Patterns,
    *,
    context: str = "continuous",
    restart: bool = False,
    until: int | str | datetime | None = None,
    zone: str | None = None,
    carry: str | Iterable[str] = "all",
    only: Iterable[str] = (),
    columns: Mapping[str, str] | Columns | None = None,
    time_unit: str | None = None,
    clock_error: int = 0,
    limits: Limits | None = None,
    incomplete: bool = False,
    buckets: int | None = None,
    unique: bool = False,
) -> DataFrame:
    """The composites of patterns over a DataFrame of events, as a DataFrame; nothing is computed before it is needed.

    Columns, options and results are those of `penstock.detect`; rows have no order. The types of the columns follow
    from the patterns and the DataFrame.

    Args:
        df: Events, a row each.
        pattern: A pattern or its text; several of them; or several by names, which bare ones get as their type.
        incomplete: Whether the runs that came to nothing are wanted too. Then ``kind`` says what a row is,
            ``composite`` or ``incomplete``, and ``reason`` and ``at`` why and when a run ended. Parameters called so
            have an underscore more.
        buckets: How many shares the events are divided into, two for each processor unless it is given. Results do
            not depend on it.
        unique: Whether it is known that no two events have the same source and id. Then none is looked for, which
            saves moving events twice. Events whose ids are made are never looked at for this.

    The other options are those of `penstock.detect`.

    >>> from penstock.spark.session import session
    >>> spark = session()  # doctest: +SKIP
    >>> rows = [("Open", 1, "D1"), ("Close", 2, "D1")]
    >>> df = spark.createDataFrame(rows, "type string, time long, door string")  # doctest: +SKIP
    >>> detect(df, "[Open(door = $d)] ; [Close(door = $d)]").select("d").collect()  # doctest: +SKIP
    [Row(d='D1')]
    """
    if df.isStreaming:
        raise PenstockError("this DataFrame is a stream", hint="give one that is all there")
    raise_ours()
    plans = plans_of(
        patterns_of(pattern), context=context, restart=restart, zone=zone, carry=carry, only=only, limits=limits,
        incomplete=incomplete,
    )  # fmt: skip
    mapping = mapping_of(columns, df.columns, zone, time_unit, clock_error)
    blank = from_arrow(to_arrow_schema(df.schema, timezone="UTC").empty_table(), mapping)
    settles = not unique and "id" in field_columns(df.columns, mapping)
    work = work_of(plans, blank, mapping, buckets or default_buckets(df.sparkSession), until, settles=settles)
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
