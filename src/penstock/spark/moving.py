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
from penstock.spark.packing import PACKED
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
    rows: DataFrame, pack: Packing, pack_by_name: Packing, work: Work, latest: DataFrame | None = None
) -> DataFrame:
    """What is detected in rows that are packed so; ``latest`` says how far events go, if those who pack do not."""
    return found_by(Finding(work.detect, work.schema), rows, pack, pack_by_name, work, latest)


def found_by(
    finding: Finding,
    rows: DataFrame,
    pack: Packing,
    pack_by_name: Packing,
    work: Work,
    latest: DataFrame | None = None,
) -> DataFrame:
    """The same for whatever is done with the events of a bucket.

    Where events may be repeated, they go to their buckets with their names beside them. Only if events of one name are
    in different buckets all of it is done again: read, packed by names, settled, and then detected.
    """
    total = work.recipe.total
    blobs = packed(rows, pack)
    if not work.settles:
        return finding.over(_with_ends(in_buckets(blobs, total), latest))
    if not Places.of(work.recipe).are_few:
        return finding.over(_with_ends(in_buckets(settled(rows, pack_by_name, work), total), latest))
    moved = blobs.repartitionById(total, f.expr(f"bucket % {total}"))  # shares of names beside buckets: fewer tasks
    names = moved.where(f"{_MOVED_BUCKET} >= {total}")
    told = f.broadcast(names.mapInArrow(telling(work.compare), from_arrow_schema(APART)))
    at_once = moved.where(f"{_MOVED_BUCKET} < {total}").join(told, how="left_anti")
    again = settled(rows.join(told, how="left_semi"), pack_by_name, work)
    # Asked once more, so that Spark sees that nothing is to be done again, and starts no tasks for it.
    return finding.over(_with_ends(at_once.union(in_buckets(again, total).join(told, how="left_semi")), latest))


def packed(rows: DataFrame, pack: Packing) -> DataFrame:
    """Rows as blobs, which some work packs."""
    return rows.mapInArrow(telling(pack), from_arrow_schema(PACKED))


def settled(rows: DataFrame, pack_by_name: Packing, work: Work) -> DataFrame:
    """Rows as blobs of events without repeated ones, wherever these stand."""
    met = packed(rows, pack_by_name).repartitionById(work.recipe.buckets, f.col("bucket"))
    return met.mapInArrow(telling(work.settle), from_arrow_schema(PACKED))


def _with_ends(blobs: DataFrame, latest: DataFrame | None) -> DataFrame:
    """Blobs in their buckets, each with the latest time at which an event ends, if that is given.

    It is found while events are packed and told where they are detected, so that neither waits for the other.
    """
    return blobs if latest is None else blobs.crossJoin(f.broadcast(latest))


def in_buckets(blobs: DataFrame, total: int) -> DataFrame:
    """Blobs in their buckets, each of which is a task of its own."""
    return blobs.repartitionById(total, f.col("bucket"))


def default_buckets(session: SparkSession) -> int:
    """How many buckets suit a session."""
    try:
        return _SHARES * int(session.sparkContext.defaultParallelism)
    except PySparkNotImplementedError:  # a session of Spark Connect does not know
        return int(session.conf.get("spark.sql.shuffle.partitions", "4") or 4)
