"""Pandas: ``merge_asof``, one for each step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from penstock.bench.matches import Matches, of_columns
from penstock.bench.queries import Query, Shape


class Pandas:
    """As-of joins over data frames."""

    def load(self, table: pa.Table) -> Any:
        """A frame; types are categories."""
        return table.to_pandas()

    def read(self, path: Path) -> Any:
        """The frame of a file."""
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        return pd.read_csv(path, engine="pyarrow")

    def find(self, events: Any, query: Query) -> Any:
        """A row for each match."""
        if query.shape == Shape.CHAIN:
            return _chain(events, query.types, query.window)
        if query.shape == Shape.REPETITION:
            return _repetition(events, query.types, query.window)
        return _absence(events, query.types, query.window)

    def matches(self, found: Any) -> Matches:
        """The same as arrays."""
        return of_columns(found if isinstance(found, pa.Table) else pa.Table.from_pandas(found, preserve_index=False))


def _of_type(events: Any, type: str, place: int) -> Any:
    chosen = events.loc[events["type"] == type, ["k", "id", "time"]]
    return chosen.rename(columns={"id": f"id_{place}", "time": f"time_{place}"})


def _next(left: Any, right: Any, place: int, **options: Any) -> Any:
    """Each row of the left with the first of the right that comes after it."""
    return pd.merge_asof(
        left,
        right,
        left_on=f"time_{place - 1}",
        right_on=f"time_{place}",
        by="k",
        direction="forward",
        allow_exact_matches=False,
        **options,
    )


def _chain(events: Any, types: str, window: int) -> Any:
    joined = _of_type(events, types[0], 0)
    for place in range(1, len(types)):
        joined = _next(joined, _of_type(events, types[place], place), place)
        joined = joined[joined[f"time_{place}"] - joined["time_0"] <= window]
        joined = joined.astype({f"time_{place}": np.int64})
        joined = joined if place == len(types) - 1 else joined.sort_values(f"time_{place}")
    return joined.drop(columns="k")


def _repetition(events: Any, types: str, window: int) -> pa.Table:
    """The chain, with all of the middle between its first and its last."""
    middle = _of_type(events, types[1], 1).sort_values(["k", "time_1"], kind="stable")
    middle["row"] = np.arange(len(middle))
    by_time = middle.sort_values("time_1")
    first = _next(_of_type(events, types[0], 0), by_time, 1).dropna(subset=["row"])
    first = first.astype({"time_1": np.int64, "row": np.int64}).sort_values("time_1")
    whole = _next(first, _of_type(events, types[2], 2), 2)
    whole = whole[whole["time_2"] - whole["time_0"] <= window].astype({"time_2": np.int64}).sort_values("time_2")
    before = by_time[["k", "time_1", "row"]].rename(columns={"time_1": "time_before", "row": "row_before"})
    spans = pd.merge_asof(whole, before, left_on="time_2", right_on="time_before", by="k")
    lengths = (spans["row_before"] - spans["row"] + 1).to_numpy(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.repeat(spans["row"].to_numpy() - offsets[:-1], lengths) + np.arange(offsets[-1])
    return pa.table(
        {
            "id_0": pa.array(spans["id_0"]),
            "time_0": pa.array(spans["time_0"]),
            "id_1": pa.ListArray.from_arrays(offsets.astype(np.int32), pa.array(middle["id_1"].to_numpy()[rows])),
            "time_1": pa.ListArray.from_arrays(offsets.astype(np.int32), pa.array(middle["time_1"].to_numpy()[rows])),
            "id_2": pa.array(spans["id_2"]),
            "time_2": pa.array(spans["time_2"]),
        }
    )


def _absence(events: Any, types: str, window: int) -> Any:
    starts = _of_type(events, types[0], 0)
    joined = _next(starts, _of_type(events, types[1], 1), 1, tolerance=window)
    alone = joined["time_1"].isna() & (joined["time_0"] + window <= events["time"].max())
    return joined.loc[alone, ["id_0", "time_0"]]


WAY: Any = Pandas()
