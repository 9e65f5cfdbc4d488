import pyarrow as pa
import pytest

from penstock.errors import DataError
from penstock.events.constants import constant
from penstock.events.records import from_dicts
from penstock.events.settling import NAME
from penstock.events.table import FIELDS, concat, make_table


def table(*values, fixed=False):
    attributes = {} if values == () else {"v": pa.array(values)}
    rows = range(len(values) or 1)
    fields = {"type": ["A" for _ in rows], "lo": list(rows), "hi": list(rows)}
    return make_table(fields, attributes, fixed)


def test_types_and_sources_are_dictionary_coded_and_times_are_int64():
    fields = table(1).fields
    assert fields.schema == FIELDS
    assert str(fields.schema.field("type").type) == "dictionary<values=string, indices=int32, ordered=0>"
    assert fields.schema.field("lo").type == pa.int64()


def test_columns_have_one_chunk_and_attributes_the_order_of_their_names():
    both = concat([from_dicts([{"type": "A", "time": 0, "data": {"z": 1, "a": 2}}]), table(1)])
    assert {column.num_chunks for column in both.fields.columns + both.attributes.columns} == {1}
    assert both.attributes.column_names == ["a", "v", "z"]


def test_tables_are_joined_with_one_dictionary():
    one, two = (from_dicts([{"type": kind, "source": kind, "time": 0}]) for kind in "AB")
    both = concat([one, two, one])
    assert both.field("type").to_pylist() == ["A", "B", "A"]
    assert both.field("type").dictionary.to_pylist() == ["A", "B"]


def test_integers_and_floats_are_floats():
    assert concat([table(1), table(0.5), table(2)]).attribute("v").to_pylist() == [1.0, 0.5, 2.0]


def test_a_column_without_values_takes_any_kind():
    empty = table(None, None)
    empty = make_table({name: empty.field(name) for name in FIELDS.names}, {"v": pa.nulls(2, pa.string())})
    assert concat([empty, table(7)]).attribute("v").to_pylist() == [None, None, 7]


@pytest.mark.parametrize("other", ["x", True])
def test_any_other_mixture_names_both_records(other):
    with pytest.raises(
        DataError, match=r"attribute 'v' is a whole number in row 1 of table 1 and .* in row 2 of table 2"
    ):
        concat([table(1), table(None, other)])


def test_a_mixture_says_where_in_the_words_given():
    with pytest.raises(DataError, match="a number in here 0 and text in there 1"):
        concat([table(0.5), table(None, "x")], [lambda row: f"here {row}", lambda row: f"there {row}"])


def test_columns_are_fixed_only_if_those_of_all_tables_are():
    assert concat([table(1, fixed=True), table(2, fixed=True)]).fixed
    assert not concat([table(1, fixed=True), table(2)]).fixed


def test_no_tables_give_an_empty_one():
    assert len(concat([])) == 0
    assert concat([]).to_events() == []


def test_rows_can_be_taken_and_sliced():
    numbers = table(1, 2, 3)
    assert numbers.take([2, 0]).attribute("v").to_pylist() == [3, 1]
    assert numbers.slice(1).attribute("v").to_pylist() == [2, 3]
    assert len(numbers.slice(1, 1)) == 1
    assert len(table().take([0, 0])) == 2


def test_a_record_is_an_event():
    event = from_dicts([{"type": "A", "id": "1", "seq": 2, "time": 3, "data": {"v": None, "w": "x"}}]).record(0)
    assert (event.type, event.id, event.seq, event.hi, event.attributes) == ("A", "1", 2, 3, {"w": "x"})


@pytest.mark.parametrize("kind", [*FIELDS.types, pa.float64()])
@pytest.mark.parametrize("length", [0, 1, 70])
def test_a_constant_column_is_what_arrow_makes_of_the_value(kind, length):
    for value in ("x", "") if kind == NAME else (None, True, False) if kind == pa.bool_() else (None,):
        column = constant(value, kind, length)
        column.validate(full=True)
        assert (column.type, column.to_pylist()) == (kind, [value] * length)
