"""Rows of several tables as one: what Arrow makes of them, and names and sources as plain code finds them."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.events.records import from_dicts
from penstock.events.repeats import name_hashes
from penstock.events.table import EventTable, concat
from penstock.ordering.batch import Batch
from penstock.ordering.gathering import gathered, places_of
from penstock.ordering.held import run_of
from penstock.ordering.meeting import meet
from penstock.ordering.places import NEVER
from penstock.ordering.sources import Sources

TEXTS = st.text("aé漢", max_size=3) | st.sampled_from(["", "seven77", "eight888", "nine99999", "a text of many words"])
VALUES = {
    "text": TEXTS,
    "number": st.integers(-5, 5),
    "float": st.sampled_from([0.5, -1.25, 2.0]),
    "flag": st.booleans(),
    "time": st.sampled_from([datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 5, 1, tzinfo=UTC)]),
}
RECORDS = st.fixed_dictionaries(
    {"type": st.sampled_from("ABC"), "source": TEXTS, "id": TEXTS, "time": st.integers(0, 9)},
    optional={"seq": st.integers(0, 3), "data": st.fixed_dictionaries({}, optional=VALUES)},
)


@given(st.data(), st.lists(st.lists(RECORDS, min_size=1, max_size=6), min_size=1, max_size=4), st.booleans())
def test_gathered_rows_are_those_of_one_table(data: st.DataObject, many: list[list[Any]], sliced: bool) -> None:
    tables = [from_dicts(records) for records in many]
    if sliced:
        # Tables that were one have dictionaries in common, and columns that begin somewhere inside.
        whole, at = concat(tables), np.cumsum([0, *(len(table) for table in tables)])
        tables = [whole.slice(int(at[n]), len(table)) for n, table in enumerate(tables)]
    rows = [np.array(data.draw(st.permutations(range(len(table)))), np.int64) for table in tables]
    places = np.array(data.draw(st.permutations(places_of(rows).tolist())), np.int64)
    starts = np.cumsum([0, *(len(table) for table in tables)])
    wanted = concat(tables).take(starts[places >> 40] + (places & (2**40 - 1)))
    found = gathered(tables, places)
    assert found.to_events() == wanted.to_events()
    assert found.attributes.schema == wanted.attributes.schema


@given(records=st.lists(RECORDS, min_size=1, max_size=8), start=st.integers(0, 7))
def test_hashes_of_names_are_those_of_any_part_of_the_system(records: list[Any], start: int) -> None:
    table = from_dicts(records).slice(min(start, len(records) - 1))
    batch = Batch(table, np.zeros(len(table), np.int64))
    assert batch.names.tolist() == name_hashes(table.field("source"), table.field("id")).tolist()


def table_of(names: list[str], ends: list[int], beginnings: list[int]) -> EventTable:
    columns = zip(names, ends, beginnings, strict=True)
    return from_dicts(
        [{"type": "A", "source": s, "id": str(n), "lo": lo, "hi": hi} for n, (s, hi, lo) in enumerate(columns)]
    )


def test_what_events_show_of_their_sources() -> None:
    table = table_of(["s", "t", "s", "s", "penstock/P"], [5, 4, 9, 9, 7], [5, 4, 2, 3, 7])
    came = np.array([10, 11, 12, 11, 10])
    came.setflags(write=False)
    sources = Sources()
    met = meet(run_of(Batch(table, came)), sources)
    assert [sources.names[number] for number in met.sources.tolist()] == ["s", "t", "penstock/P"]
    assert (met.counts.tolist(), met.first.tolist(), met.last.tolist()) == ([3, 1, 1], [5, 4, 7], [9, 4, 7])
    assert met.unknown.all()
    assert sources.lowest.beginnings(met.sources).tolist() == [3, 4, NEVER]
    assert sources.heard[met.sources].tolist() == [12, 11, 10]
    again = meet(run_of(Batch(table, came)), sources)
    assert not again.unknown.any()
    disordered = again.disordered(np.array([5, 4, 2, 3, 7]))
    assert disordered is not None
    assert disordered.tolist() == [True, False, True, False, False]


@pytest.mark.parametrize("length", [7, 8, 9])
def test_texts_at_the_end_of_their_column_are_whole(length: int) -> None:
    table = table_of(["s"] * 3, [1, 2, 3], [1, 2, 3]).replaced("id", pa.array(["x" * length, "", "y" * length]))
    rows = np.array([2, 1, 0])
    assert gathered([table], rows).field("id").to_pylist() == ["y" * length, "", "x" * length]
