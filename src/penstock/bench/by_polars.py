"""Polars: as-of joins written by hand, lazy, so that files are read as far as they are needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from penstock.bench.matches import Matches, of_columns
from penstock.bench.queries import Query, Shape


class Polars:
    """As-of joins over lazy frames."""

    def load(self, table: pa.Table) -> pl.LazyFrame:
        """A frame in memory; types are categories."""
        return pl.DataFrame(table).lazy()

    def read(self, path: Path) -> pl.LazyFrame:
        """A frame that is read when it is collected."""
        return pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_csv(path)

    def find(self, events: pl.LazyFrame, query: Query) -> pl.DataFrame:
        """A row for each match."""
        if query.shape == Shape.CHAIN:
            return _chain(events, query.types, query.window).collect()
        if query.shape == Shape.REPETITION:
            return _repetition(events, query.types, query.window)
        return _absence(events, query.types, query.window).collect()

    def matches(self, found: pl.DataFrame) -> Matches:
        """The same as arrays."""
        return of_columns(found.to_arrow())


def _of_type(events: pl.LazyFrame, type: str, place: int) -> pl.LazyFrame:
    chosen = events.filter(pl.col("type") == type)
    return chosen.select("k", pl.col("id").alias(f"id_{place}"), pl.col("time").alias(f"time_{place}"))


def _next(left: pl.LazyFrame, right: pl.LazyFrame, place: int, **options: Any) -> pl.LazyFrame:
    """Each row of the left with the first of the right that comes after it.

    Both must be sorted within each key, and stay so: of two that begin in order, neither overtakes the other.
    """
    joined = left.join_asof(
        right,
        left_on=f"time_{place - 1}",
        right_on=f"time_{place}",
        by="k",
        strategy="forward",
        allow_exact_matches=False,
        check_sortedness=False,
        coalesce=False,
        **options,
    )
    return joined.drop("k_right", strict=False)


def _chain(events: pl.LazyFrame, types: str, window: int) -> pl.LazyFrame:
    joined = _of_type(events, types[0], 0)
    for place in range(1, len(types)):
        joined = _next(joined, _of_type(events, types[place], place), place)
        joined = joined.filter(pl.col(f"time_{place}") - pl.col("time_0") <= window)
    return joined.drop("k")


def _repetition(events: pl.LazyFrame, types: str, window: int) -> pl.DataFrame:
    """The chain, with all of the middle between its first and its last."""
    ordered = _of_type(events, types[1], 1).sort("k", "time_1").with_row_index("row")
    first = _next(_of_type(events, types[0], 0), ordered, 1).filter(pl.col("row").is_not_null())
    whole = _next(first, _of_type(events, types[2], 2), 2).filter(pl.col("time_2") - pl.col("time_0") <= window)
    until = ordered.select("k", pl.col("time_1").alias("time_before"), pl.col("row").alias("row_before"))
    joined = whole.join_asof(until, left_on="time_2", right_on="time_before", by="k", check_sortedness=False)
    # Together, so that a file is read once.
    middle, spans = pl.collect_all([ordered, joined.select("id_0", "time_0", "row", "row_before", "id_2", "time_2")])
    rows = pl.int_ranges(spans["row"], spans["row_before"] + 1, dtype=pl.UInt32, eager=True)
    inside = pl.DataFrame({"match": pl.int_range(len(spans), eager=True), "at": rows}).explode("at")
    lists = inside.select("match", middle["id_1"].gather(inside["at"]), middle["time_1"].gather(inside["at"]))
    lists = lists.group_by("match", maintain_order=True).agg("id_1", "time_1")
    return pl.concat(
        [spans.select("id_0", "time_0"), lists.drop("match"), spans.select("id_2", "time_2")], how="horizontal"
    )


def _absence(events: pl.LazyFrame, types: str, window: int) -> pl.LazyFrame:
    end = events.select(pl.col("time").max().alias("end"))
    starts = _of_type(events, types[0], 0)
    joined = _next(starts, _of_type(events, types[1], 1), 1, tolerance=window).filter(pl.col("id_1").is_null())
    return joined.join(end, how="cross").filter(pl.col("time_0") + window <= pl.col("end")).select("id_0", "time_0")


WAY: Any = Polars()
