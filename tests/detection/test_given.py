"""Columns as they were given give what the same events give in any other form."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.events.files import read_events
from penstock.events.settling import NAME, SHORT_NAME

PATTERN = "[A(k = $k)] ; [B(k = $k)]"
PLAIN = "[A] ; [B]"
TYPES = ["N", "A", "B", "N", "A", "B"]


def table(ids: list[str | None], kind: pa.DataType = SHORT_NAME) -> pa.Table:
    times = pa.array(range(len(TYPES)), pa.timestamp("us", "UTC"))
    columns = [pa.array(TYPES, kind), pa.array(ids, pa.string()), times, pa.array([1] * len(TYPES))]
    return pa.table(columns, names=["type", "id", "time", "k"])


def dicts(given: pa.Table) -> list[dict[str, object]]:
    named = [{name: value for name, value in row.items() if value} for row in given.to_pylist()]
    return [{**row, "data": {"k": row.pop("k")}} for row in named]


IDS = {
    "counters": ["1", "2", "3", "4", "5", "6"],
    "absent, of no matter": ["", "2", "3", "", "5", "6"],
    "absent, first": ["1", "", "3", "4", "5", "6"],
    "absent, last": ["1", "2", "3", "4", "5", ""],
    "null, of no matter": [None, "2", "3", "4", "5", "6"],
    "null": ["1", "2", None, "4", "5", "6"],
    "all absent": ["", "", "", "", "", ""],
    "repeated": ["1", "2", "3", "4", "2", "6"],
}


@pytest.mark.parametrize("pattern", [PATTERN, PLAIN])
@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_a_table_gives_what_its_rows_as_dicts_give(pattern: str, ids: list[str | None]) -> None:
    given = table(ids)
    found, expected = ps.detect(given, pattern, carry="k"), ps.detect(dicts(given), pattern, carry="k")
    assert found.table.equals(expected.table)
    assert found.repeated == expected.repeated


@pytest.mark.parametrize("pattern", [PATTERN, PLAIN])
def test_codes_of_types_may_be_of_any_width(pattern: str) -> None:
    kinds = [SHORT_NAME, NAME, pa.dictionary(pa.int16(), pa.string()), pa.string(), pa.large_string()]
    found = [ps.detect(table(IDS["counters"], kind), pattern).table for kind in kinds]
    assert len(found[0]) == 2
    assert all(one.equals(found[0]) for one in found)


def test_a_categorical_of_pandas_is_read_as_it_is() -> None:
    frame = table(IDS["counters"]).to_pandas()
    assert isinstance(frame["type"].dtype, pd.CategoricalDtype)
    assert ps.detect(frame, PATTERN).table.equals(ps.detect(table(IDS["counters"]), PATTERN).table)


def test_a_slice_of_a_table_has_its_own_rows() -> None:
    whole, part = table(IDS["counters"]), table(IDS["counters"]).slice(3)
    assert len(ps.detect(part, PATTERN)) == 1
    assert [p.id for c in ps.detect(whole.slice(3), PATTERN) for p in c.parts] == ["5", "6"]


def test_a_detector_takes_short_codes_and_absent_ids_too() -> None:
    detector = ps.Detector(PATTERN)
    found = [*detector.feed(table(IDS["absent, first"])), *detector.finish()]
    assert len(found) == len(ps.detect(table(IDS["absent, first"]), PATTERN))


@pytest.mark.parametrize("place", [0, 7_000, 19_999])
def test_the_input_ends_with_its_last_event_wherever_that_stands(place: int) -> None:
    """Many rows, so that their times are looked at once."""
    times = list(range(20_000))
    times[place] = 10**9
    types = ["A" if row == 10 else "N" for row in range(20_000)]
    given = pa.table({"type": types, "id": [str(row) for row in times], "time": times})
    pattern = "([A], [T in {T, B}]){T = 5 min}"
    assert len(ps.detect(given, pattern)) == 1
    assert len(ps.detect(given.filter(pa.compute.less(given["time"], 10**9)), pattern)) == 0


def test_bad_rows_that_are_skipped_do_not_end_the_input(tmp_path: Path) -> None:
    times = [*range(20_000), 10**9]
    types = ["" if at == 10**9 else "A" if at == 10 else "N" for at in times]
    pq.write_table(pa.table({"type": types, "id": [str(at) for at in times], "time": times}), tmp_path / "e.parquet")
    loaded = read_events([tmp_path], skip_bad=True)
    assert len(loaded.bad) == 1
    assert len(ps.detect(loaded.table, "([A], [T in {T, B}]){T = 5 min}")) == 0
