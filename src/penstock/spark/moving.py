"""Packed events on their way to their buckets, and what is found there, as a plan that Spark computes lazily.

Where events may be repeated, their names go beside them and are compared; `penstock.spark.names` says what for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.errors import PySparkNotImplementedError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from penstock.spark.failures import telling
from penstock.spark.names import APART, Places
from penstock.spark.packing import PACKED, PROGRESS, Progress, packed_rows
from penstock.spark.work import Work

Packing = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What makes rows of others."""
_MOVED_BUCKET = "CASE WHEN spark_partition_id() >= 0 THEN bucket END"
"""The bucket of packed rows that have moved, in a form that Spark does not ask for before they move.

It would otherwise pack all rows once for those that are asked for, and once more for the others.
"""
_SHARES = 2
"""Buckets for each processor, so that none waits long for the others."""


@dataclass(frozen=True)
class Finding:
    """What is done with the blobs of a bucket, and the columns of what that gives."""

    find: Packing
    schema: pa.Schema

    def over(self, blobs: DataFrame) -> DataFrame:
        """What is found in blobs that are in their buckets."""
        return blobs.mapInArrow(telling(self.find), from_arrow_schema(self.schema))


def found_in(
    rows: DataFrame, pack: Packing, pack_by_name: Packing, work: Work, last: DataFrame | None = None
) -> DataFrame:
    """What is detected in rows that are packed so; ``last`` has the last stamp, if those who pack do not tell it."""
    return found_by(Finding(work.detect, work.schema), rows, pack, pack_by_name, work, last)


def found_by(
    finding: Finding,
    rows: DataFrame,
    pack: Packing,
    pack_by_name: Packing,
    work: Work,
    last: DataFrame | None = None,
) -> DataFrame:
    """The same for whatever is done with the events of a bucket.

    Where events may be repeated, they go to their buckets with their names beside them. Only if events of one name are
    in different buckets all of it is done again: read, packed by names, settled, and then detected.
    """
    total = work.recipe.total
    blobs = _ended(packed(rows, pack), last, total)
    if not work.settles:
        return finding.over(in_buckets(blobs, total))
    if not Places.of(work.recipe).are_few:
        return finding.over(in_buckets(_ended(settled(rows, pack_by_name, work), last, total), total))
    moved = blobs.repartitionById(total, f.expr(f"bucket % {total}"))  # shares of names beside buckets: fewer tasks
    names = moved.where(f"{_MOVED_BUCKET} >= {total}")
    told = f.broadcast(names.mapInArrow(telling(work.compare), from_arrow_schema(APART)))
    at_once = moved.where(f"{_MOVED_BUCKET} < {total}").join(told, how="left_anti")
    again = settled(rows.join(told, how="left_semi"), pack_by_name, work)
    again = _ended(again, None if last is None else last.join(told, how="left_semi"), total)
    # Asked once more, so that Spark sees that nothing is to be done again, and starts no tasks for it.
    return finding.over(at_once.union(in_buckets(again, total).join(told, how="left_semi")))


def packed(rows: DataFrame, pack: Packing) -> DataFrame:
    """Rows as blobs, which some work packs."""
    return rows.mapInArrow(telling(pack), from_arrow_schema(PACKED))


def settled(rows: DataFrame, pack_by_name: Packing, work: Work) -> DataFrame:
    """Rows as blobs of events without repeated ones, wherever these stand."""
    met = packed(rows, pack_by_name).repartitionById(work.recipe.buckets, f.col("bucket"))
    return met.mapInArrow(telling(work.settle), from_arrow_schema(PACKED))


def _ended(blobs: DataFrame, last: DataFrame | None, total: int) -> DataFrame:
    """Blobs, with the last stamp of all events for every bucket if it is given."""
    if last is None:
        return blobs
    return blobs.union(last.mapInArrow(_Ending(total), from_arrow_schema(PACKED)))


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


def in_buckets(blobs: DataFrame, total: int) -> DataFrame:
    """Blobs in their buckets, each of which is a task of its own."""
    return blobs.repartitionById(total, f.col("bucket"))


def default_buckets(session: SparkSession) -> int:
    """How many buckets suit a session."""
    try:
        return _SHARES * int(session.sparkContext.defaultParallelism)
    except PySparkNotImplementedError:  # a session of Spark Connect does not know
        return int(session.conf.get("spark.sql.shuffle.partitions", "4") or 4)
