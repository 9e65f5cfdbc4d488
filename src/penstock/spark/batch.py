"""Detection over tables on Spark: DataFrames that are all there.

The plan has two stages. In the first, Spark's own side leaves behind the rows and columns that no pattern needs, and
Python workers pack the others, a blob for each bucket; a DataFrame that is nothing but plain Parquet files is read by
the workers themselves. Blobs move to their buckets (`penstock.spark.moving`). In the second stage each bucket's events
are unpacked, put in order and detected by the engine that runs everywhere.
"""

from __future__ import annotations

from typing import Unpack

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from penstock.events.arrow import from_arrow
from penstock.events.naming import field_columns
from penstock.spark.columns import Frame, coded, coding_of, latest, needed_columns, needed_rows
from penstock.spark.failures import raise_ours
from penstock.spark.files import detect_files
from penstock.spark.moving import default_buckets, found_in
from penstock.spark.options import TableOptions
from penstock.spark.plain import plain_files
from penstock.spark.planning import (
    Patterns,
    common_options,
    mapping_of,
    needs_end,
    patterns_of,
    plans_of,
    warn_of_one_bucket,
    work_of,
)
from penstock.spark.work import Work


def detect_table(df: DataFrame, pattern: Patterns, **options: Unpack[TableOptions]) -> DataFrame:
    """The composites of patterns over a DataFrame that is all there; arguments are those of `penstock.spark.detect`."""
    files = plain_files(df)
    if files:
        return detect_files(df.sparkSession, files, pattern, **options)
    raise_ours()
    common = common_options(options, TableOptions)
    plans = plans_of(patterns_of(pattern), **common)
    mapping = mapping_of(df.columns, **common)
    blank = from_arrow(to_arrow_schema(df.schema, timezone="UTC").empty_table(), mapping)
    settles = not options.get("unique") and "id" in field_columns(df.columns, mapping)
    size = options.get("buckets") or default_buckets(df.sparkSession)
    work = work_of(plans, blank, mapping, size, options.get("until"), settles=settles)
    warn_of_one_bucket(work)
    return found_in_rows(df, work)


def found_in_rows(df: DataFrame, work: Work) -> DataFrame:
    """What is found in the events of a DataFrame, of which Spark's own side leaves behind what is not needed."""
    recipe, frame = work.recipe, Frame.of(df)
    names = needed_columns(frame.schema, recipe)
    leaves_behind = len(names) < len(df.columns)
    condition = needed_rows(frame, recipe)
    if condition is None:
        work = work.reading(names, leaves_behind)
        return found_in(frame.select(names), work.pack, work.pack_by_name, work)
    coding = coding_of(frame, recipe)
    columns = [frame.quoted(name) for name in names] if coding is None else coded(frame, names, coding)
    ends = latest(frame, recipe.columns) if needs_end(work.plans) else None
    work = work.reading(names, leaves_behind, coding).without_progress()
    return found_in(frame.rows.where(condition).selectExpr(*columns), work.pack, work.pack_by_name, work, ends)
