"""Columns that were made narrower are the same columns once they are wide again."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.events.settling import NAME
from penstock.spark.narrowing import narrowed, widened

WHOLE = st.integers(-(2**63), 2**63 - 1)
COLUMNS = {
    "whole": (pa.int64(), st.one_of(st.integers(0, 255), st.integers(-5, 70_000), WHOLE)),
    "text": (pa.string(), st.one_of(st.text(max_size=3), st.sampled_from(["aa", "bb", "é"]))),
    "name": (NAME, st.sampled_from(["A", "B", ""])),
    "real": (pa.float64(), st.floats(allow_nan=False)),
}


@given(st.data(), st.sampled_from(sorted(COLUMNS)), st.booleans(), st.integers(0, 3))
def test_wide_again(data: st.DataObject, name: str, has_nulls: bool, start: int) -> None:
    kind, values = COLUMNS[name]
    given = data.draw(st.lists(st.one_of(st.none(), values) if has_nulls else values, max_size=12))
    table = pa.table({name: pa.array(given, kind)}).slice(start)
    assert widened([narrowed(table)]) == table
    some = narrowed(table).slice(1, 3)
    assert widened([some]) == table.slice(1, 3)


@given(st.data(), st.sampled_from(sorted(COLUMNS)), st.booleans())
def test_pieces_may_be_narrowed_once_more(data: st.DataObject, name: str, has_nulls: bool) -> None:
    kind, values = COLUMNS[name]
    given = data.draw(st.lists(st.one_of(st.none(), values) if has_nulls else values, min_size=1, max_size=12))
    table, size = pa.table({name: pa.array(given, kind)}), data.draw(st.integers(1, 5))
    whole = narrowed(table)
    pieces = [narrowed(whole.slice(start, size)) for start in range(0, len(table), size)]
    assert widened(pieces)[name].to_pylist() == given


@given(st.data(), st.sampled_from(sorted(COLUMNS)), st.booleans())
def test_several_are_one_behind_the_other(data: st.DataObject, name: str, has_nulls: bool) -> None:
    kind, values = COLUMNS[name]
    one = st.lists(st.one_of(st.none(), values) if has_nulls else values, max_size=6)
    tables = [pa.table({name: pa.array(given, kind)}) for given in data.draw(st.lists(one, min_size=1, max_size=4))]
    whole = widened([narrowed(table).slice(start) for start, table in enumerate(tables)])
    assert whole.schema.types == [kind]
    assert whole[name].to_pylist() == [
        value for start, table in enumerate(tables) for value in table.slice(start)[name].to_pylist()
    ]


@pytest.mark.parametrize(("most", "width"), [(255, 1), (256, 2), (65_536, 4), (2**32, 8)])
def test_whole_numbers_take_the_bytes_of_their_range(most: int, width: int) -> None:
    least = 1_767_225_600_000_000
    narrow = narrowed(pa.table({"hi": [least, least + most]}))
    assert narrow["hi"].type.bit_width == 8 * width


def test_a_dictionary_with_many_entries_keeps_long_codes() -> None:
    table = pa.table({"type": pa.array([str(number) for number in range(40_000)]).cast(NAME)})
    assert narrowed(table) == table == widened([narrowed(table)])
