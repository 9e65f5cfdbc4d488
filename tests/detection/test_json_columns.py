"""Columns of JSON text say what is written of each value alone."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.detection.json_columns import data_column, json_column, json_values
from penstock.detection.values import data_text, json_text, json_value, present
from penstock.engine import vm
from penstock.engine.pool import Pool
from penstock.engine.texts import Values
from penstock.engine.values import encode
from penstock.events.table import TIME

text = st.text(st.characters(codec="utf-8"), max_size=5)
VALUES = {
    pa.bool_(): st.booleans(),
    pa.int64(): st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats() | st.integers(-3, 3).map(float),
    pa.string(): text,
    TIME: st.datetimes(timezones=st.just(UTC)),
}
some = st.sampled_from(list(VALUES)).flatmap(
    lambda kind: st.tuples(st.just(kind), st.lists(st.none() | VALUES[kind], min_size=4, max_size=4))
)


@given(some)
def test_a_column_is_its_values_in_json(given: tuple[pa.DataType, list[Any]]) -> None:
    kind, values = given
    expected = [
        json_text(json_value(present({"v": value})["v"])) if present({"v": value}) else None for value in values
    ]
    assert json_column(pa.array(values, kind)).to_pylist() == expected


@given(st.dictionaries(text, some, min_size=1, max_size=3))
def test_objects_have_the_members_that_are_there(columns: dict[str, tuple[pa.DataType, list[Any]]]) -> None:
    written = data_column({name: json_column(pa.array(values, kind)) for name, (kind, values) in columns.items()})
    rows = [{name: values[row] for name, (_, values) in columns.items()} for row in range(4)]
    assert written.to_pylist() == [data_text(present(row)) for row in rows]


@pytest.mark.parametrize("dictionary", [["R1", 'say "x"'], ["\u2028", "\x7f"]])
def test_text_in_dictionaries(dictionary: list[str]) -> None:
    coded = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int32()), pa.array(dictionary))
    assert json_column(coded).to_pylist() == [json_text(dictionary[1]), None, json_text(dictionary[0])]


def test_values_of_several_kinds() -> None:
    pool = Pool()
    columns = [pa.array([1]), pa.array(["x"]), pa.array([True]), pa.array([datetime(2026, 1, 1, tzinfo=UTC)], TIME)]
    pairs = [encode(column, pool) for column in columns] + [encode(pa.array([0.5]), pool), encode(pa.nulls(1), pool)]
    kinds, bits = (pa.concat_arrays([pa.array(pair[n]) for pair in pairs]).to_numpy() for n in range(2))
    values = Values(kinds.astype("int8"), bits, pool.texts())
    assert json_values(values).to_pylist() == ["1", '"x"', "true", '"2026-01-01T00:00:00Z"', "0.5", None]
    assert values.there == [vm.BOOLEAN, vm.INTEGER, vm.FLOAT, vm.TEXT, vm.TIME]


def test_the_largest_numbers_are_whole() -> None:
    column = pa.array([2**63 - 1, 2**63 - 1, 2**63 - 2])
    assert json_column(column).to_pylist() == ["9223372036854775807", "9223372036854775807", "9223372036854775806"]
