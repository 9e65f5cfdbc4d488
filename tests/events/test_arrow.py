from datetime import UTC, date, datetime
from decimal import Decimal

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events.arrow import from_arrow
from penstock.events.instant import instant
from penstock.events.instants import of_column
from penstock.events.mapping import Columns
from penstock.events.table import TIME

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
MICROSECONDS = 1_772_359_200_000_000


def stamp(time, **options):
    event = from_arrow(pa.table({"type": ["A"], "time": time}), **options).record(0)
    return event.lo, event.hi


VIEWS = {
    name: pa.array(some, pa.string_view()) for name, some in {"type": ["A", "B"], "source": ["s"], "v": ["x"]}.items()
}


class Capsule:
    """An object that is Arrow by its interface alone, as data frames are."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda t: t,
        lambda t: t.to_batches()[0],
        lambda t: t.to_reader(),
        Capsule,
        lambda t: duckdb.sql("select * from t"),
    ],
)
def test_anything_arrow_is_read(wrap):
    table = from_arrow(wrap(pa.table({"type": ["A"], "time": [5], "v": [1]})))
    assert table.record(0).attributes == {"v": 1}
    assert table.fixed


@pytest.mark.parametrize("name", ["type", "source", "v"])
def test_names_that_are_views_are_read(name):
    columns = {"type": ["A", "B"], "source": ["s", None], "v": ["x", None], "time": [5, 6]}
    coded = pa.DictionaryArray.from_arrays(pa.array(columns[name]).dictionary_encode().indices, VIEWS[name])
    table = from_arrow(pa.table(columns | {name: coded}))
    assert [event.attributes.get("v") for event in table.to_events()] == ["x", None]
    assert [(event.type, event.source) for event in table.to_events()] == [("A", "s"), ("B", "")]


def test_a_column_of_objects_has_values_of_one_kind():
    with pytest.raises(DataError, match="DataFrame has no columns of one kind each") as error:
        from_arrow(pd.DataFrame({"type": ["A", "A"], "time": [1, 2], "v": [1, "x"]}))
    assert error.value.hint


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (pa.array([MICROSECONDS]), {}),
        (pa.array([MICROSECONDS // 1_000_000], pa.int32()), {"time_unit": "s"}),
        (pa.array([MICROSECONDS // 1000], pa.uint64()), {"time_unit": "ms"}),
        (pa.array([MICROSECONDS / 1e6]), {"time_unit": "s"}),
        (pa.array([Decimal(MICROSECONDS // 1_000_000)]), {"time_unit": "s"}),
        (pa.array([AT]), {}),
        (pa.array([AT], pa.timestamp("s", "Europe/Berlin")), {}),
        (pa.array([AT], pa.timestamp("ns", "UTC")), {}),
        (pa.array([AT.replace(tzinfo=None)]), {"zone": "UTC"}),
        (pa.array([AT.replace(hour=11, tzinfo=None)]), {"zone": "Europe/Berlin"}),
        (pa.array(["2026-03-01T10:00:00Z"]), {}),
        (pa.array(["2026-03-01T10:00:00Z"], pa.large_string()), {}),
        (pa.array(["2026-03-01T10:00:00Z"], pa.string_view()), {}),
        (pa.array(["2026-03-01T10:00:00Z"]).dictionary_encode(), {}),
        (pa.array(["2026-03-01T11:00:00.000+01:00"]), {}),
        (pa.array(["2026-03-01t10:00:00z"]), {}),
        (pa.array(["2026-03-01 11:00:00"]), {"zone": "Europe/Berlin"}),
        (pa.array([str(MICROSECONDS)]), {}),
        (pa.array([f"{MICROSECONDS // 1_000_000}.0"]), {"time_unit": "s"}),
    ],
)
def test_times_are_numbers_time_stamps_or_text(column, options):
    assert stamp(column, **options) == (MICROSECONDS, MICROSECONDS)


def test_dates_are_midnights_in_the_zone():
    assert stamp([date(1970, 1, 2)], zone="UTC") == (86_400_000_000,) * 2
    with pytest.raises(DataError, match=r"row 1: field 'time': '1970-01-02.*' has no zone"):
        stamp([date(1970, 1, 2)])


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (pa.array([1500], pa.timestamp("ns", "UTC")), {}),
        (pa.array([1500]), {"time_unit": "ns"}),
        (pa.array([1.5]), {}),
        (pa.array(["1.5"]), {}),
        (pa.array(["1970-01-01T00:00:00.000001500Z"]), {}),
    ],
)
def test_what_is_finer_than_microseconds_is_rounded_outwards(column, options):
    assert stamp(column, **options) == (1, 2)


@given(st.lists(st.floats(-1e9, 4e9) | st.integers(0, 10**15).map(lambda n: n / 1e6), min_size=1))
def test_columns_of_floats_are_read_as_each_float(values):
    read = of_column(pa.array(values), "s")
    assert read.down.tolist() == [instant(value, "s") for value in values]
    assert read.up.tolist() == [instant(value, "s", round_up=True) for value in values]


def test_a_mapping_names_columns_which_stay_attributes():
    data = pa.table({"alarm_id": [11], "start": [1], "end": [2], "device": ["d1"]})
    event = from_arrow(
        data, {"type": "alarm_id", "lo": "start", "hi": "end", "source": "device"}, time_unit="s"
    ).record(0)
    assert (event.type, event.source, event.lo, event.hi) == ("11", "d1", 1_000_000, 2_000_000)
    assert event.attributes == {"alarm_id": 11, "start": 1, "end": 2, "device": "d1"}


def test_columns_with_the_names_of_fields_are_no_attributes():
    data = pa.table(
        {
            "type": ["A"],
            "source": ["s"],
            "id": [3],
            "sequence": ["4"],
            "timelo": [1],
            "timehi": [2],
            "time": [2],
            "arrival": [9],
            "timekind": ["uncertain"],
            "retracted": [True],
            "v": [1],
        }
    )
    event = from_arrow(data).record(0)
    assert (event.id, event.seq, event.lo, event.hi, event.arrival) == ("3", 4, 1, 2, 9)
    assert (event.uncertain, event.retracted, event.attributes) == (True, True, {"v": 1})


@pytest.mark.parametrize("columns", [{"time": "t"}, {"lo": "t"}, {"hi": "t"}, Columns(time_from="t")])
def test_one_time_alone_is_a_point(columns):
    event = from_arrow(pa.table({"type": ["A"], "t": [7]}), columns).record(0)
    assert (event.lo, event.hi) == (7, 7)


def test_the_other_end_may_have_its_own_name():
    event = from_arrow(pa.table({"type": ["A"], "t": [7], "hi": [9]}), {"lo": "t"}).record(0)
    assert (event.lo, event.hi) == (7, 9)
    event = from_arrow(pa.table({"type": ["A"], "time": [7], "end": [9]}), Columns(time_to="end")).record(0)
    assert (event.lo, event.hi) == (7, 9)


def test_a_mapped_time_takes_the_place_of_the_tables_own():
    event = from_arrow(pa.table({"type": ["A"], "t": [7], "lo": [20.5], "hi": [30.5]}), Columns(time_from="t")).record(
        0
    )
    assert (event.lo, event.hi, event.attributes["hi"]) == (7, 7, 30.5)


def test_one_type_for_all_rows():
    assert from_arrow(pa.table({"time": [1]}), type="Reading").record(0).type == "Reading"


@pytest.mark.parametrize(
    ("column", "kind", "value"),
    [
        (pa.array([3], pa.uint8()), pa.int64(), 3),
        (pa.array([3], pa.float32()), pa.float64(), 3.0),
        (pa.array([float("nan")]), pa.float64(), None),
        (pa.array([Decimal("1.5")]), pa.float64(), 1.5),
        (pa.array([Decimal("15")]), pa.int64(), 15),
        (pa.array(["x"], pa.large_string()), pa.string(), "x"),
        (pa.array(["x"], pa.string_view()), pa.string(), "x"),
        (pa.array(["x"]).dictionary_encode(), pa.string(), "x"),
        (pa.array([7]).dictionary_encode(), pa.int64(), 7),
        (pa.array([date(2026, 3, 1)]), pa.string(), "2026-03-01"),
        (pa.array([AT], pa.timestamp("ns", "UTC")), TIME, AT),
        (pa.nulls(1), pa.string(), None),
        (pa.array([True]), pa.bool_(), True),
    ],
)
def test_attributes_of_any_type_become_one_of_five_kinds(column, kind, value):
    table = from_arrow(pa.table({"type": ["A"], "time": [0], "v": column}))
    assert table.attribute("v").type == kind
    assert table.record(0).attributes.get("v") == value


@pytest.mark.parametrize("column", [[[1]], [{"x": 1}], [b"x"]])
def test_nested_columns_are_refused(column):
    with pytest.raises(DataError, match=r"column 'v' is .*, which is no kind of attribute"):
        from_arrow(pa.table({"type": ["A"], "time": [0], "v": column}))


def test_numbers_that_do_not_fit_are_bad_records():
    with pytest.raises(DataError, match="row 2: field 'v': 18446744073709551615 does not fit into 64 bits"):
        from_arrow(pa.table({"type": ["A", "A"], "time": [0, 0], "v": pa.array([1, 2**64 - 1], pa.uint64())}))
    with pytest.raises(DataError, match="row 2: field 'time': 18446744073709551615 is outside the years"):
        from_arrow(pa.table({"type": ["A", "A"], "time": pa.array([1, 2**64 - 1], pa.uint64())}))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"type": ["A", None, "A"]}, "row 2: field 'type': is missing"),
        ({"time": [1, None, 2]}, "row 2: field 'time': is missing"),
        ({"time": ["1", "soon", "2"]}, "row 2: field 'time': 'soon' is not a time"),
        (
            {"time": [1, 2, 2], "lo": [1, 3, 2], "hi": [1, 2, 2]},
            "row 2: field 'lo': 3 is after 'hi', which is 2",
        ),
        ({"time": [1, 3, 2], "lo": [1, 2, 2], "hi": [1, 2, 2]}, "row 2: field 'time': 3 is not the end"),
        ({"seq": ["1", "x", None]}, "row 2: field 'seq': expected a whole number"),
        ({"timekind": ["", "x", None]}, "row 2: field 'timekind': 'x' is no kind"),
        ({"arrival": ["1", "x", None]}, "row 2: field 'arrival': 'x' is not a time"),
        ({"parts": ["[]", "[3]", None]}, "row 2: field 'parts': part 1: expected an object"),
    ],
)
def test_a_bad_row_is_named_or_left_out(columns, message):
    data = pa.table({"type": ["A"] * 3, "time": [1, 5, 2]} | columns)
    with pytest.raises(DataError) as error:
        from_arrow(data)
    assert message in error.value.message
    bad = []
    assert from_arrow(data, on_bad=bad.append).field("hi").to_pylist() == [1, 2]
    assert len(bad) == 1


def test_naive_time_stamps_are_refused_without_a_zone():
    with pytest.raises(DataError, match=r"row 1: field 'time': '2026-03-01 10:00:00.* has no zone") as error:
        stamp(pa.array([AT.replace(tzinfo=None)]))
    assert "--zone" in error.value.hint
    with pytest.raises(DataError, match=r"row 1: field 'v': .* has no zone"):
        from_arrow(pa.table({"type": ["A"], "time": [0], "v": [AT.replace(tzinfo=None)]}))


def test_a_column_that_is_missing_is_named_with_the_nearest():
    with pytest.raises(DataError) as error:
        from_arrow(pa.table({"alarm_id": [1], "time": [0]}), {"type": "alarm"})
    assert error.value.message == "there is no column 'alarm'"
    assert "did you mean 'alarm_id'?" in error.value.hint
    with pytest.raises(DataError) as error:
        from_arrow(pa.table({"alarm_id": [1], "time": [0]}))
    assert error.value.message == "there is no column 'type'"
    assert "--type-from" in error.value.hint
    with pytest.raises(DataError, match="there is no column 'time'"):
        from_arrow(pa.table({"type": ["A"]}))


def test_what_is_no_table_or_no_time_is_refused():
    with pytest.raises(DataError, match="int is not a table"):
        from_arrow(3)
    with pytest.raises(DataError, match="column 'time': bool is no kind of time"):
        from_arrow(pa.table({"type": ["A"], "time": [True]}))
    with pytest.raises(DataError, match="there are two columns 'time'"):
        from_arrow(pa.table([pa.array([1])] * 2, names=["time", "time"]))
    with pytest.raises(DataError, match="columns: 'tpye' is no field"):
        from_arrow(pa.table({"type": ["A"], "time": [1]}), {"tpye": "type"})
    with pytest.raises(DataError, match="column 'type' is bool"):
        from_arrow(pa.table({"type": [True], "time": [1]}))


def test_whole_floats_stand_for_types_and_counters():
    event = from_arrow(
        pa.table({"type": [11.0, None], "time": [1, 2], "seq": [1.0, None]}), on_bad=lambda e: None
    ).record(0)
    assert (event.type, event.seq) == ("11", 1)


def test_parts_of_our_own_results_are_read_back():
    part = {
        "type": "A",
        "source": "s",
        "id": "1",
        "seq": 3,
        "lo": 5,
        "hi": 6,
        "label": "x",
        "data": '{"v": 1}',
        "path": [],
    }
    event = from_arrow(pa.table({"type": ["C"], "lo": [5], "hi": [6], "parts": [[part]]})).record(0)
    (inner,) = event.parts
    assert (inner.id, inner.seq, inner.lo, inner.attributes) == ("1", 3, 5, {"v": 1})


def test_chunks_and_dictionaries_of_chunks_are_joined():
    types = pa.chunked_array([pa.array(["A"]).dictionary_encode(), pa.array(["B", "A"]).dictionary_encode()])
    table = from_arrow(pa.table({"type": types, "time": pa.chunked_array([[1, 2], [3]]), "k": types}))
    assert table.field("type").to_pylist() == table.attribute("k").to_pylist() == ["A", "B", "A"]


@pytest.mark.parametrize(
    "dictionaries",
    [
        pytest.param([[*(f"n{number}" for number in range(100)), "A"], [*map(str, range(100)), "B"]], id="many"),
        pytest.param([[None, "A"], [None, "B"]], id="null"),
    ],
)
def test_chunks_are_joined_whatever_is_in_their_dictionaries(dictionaries):
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([len(names) - 1], pa.int8()), pa.array(names, pa.string()))
        for names in dictionaries
    ]
    column = pa.chunked_array(chunks)
    table = from_arrow(pa.table({"type": column, "source": column, "id": column, "time": [1, 2], "k": column}))
    for one in (*(table.field(name) for name in ("type", "source", "id")), table.attribute("k")):
        assert one.to_pylist() == ["A", "B"]


def test_dictionaries_of_nothing_say_nothing_and_those_of_lists_are_refused():
    nothing, lists = (
        pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), one) for one in (pa.nulls(1), pa.array([[1]]))
    )
    fields = {"type": ["A", "B"], "time": [1, 2]}
    assert from_arrow(pa.table({**fields, "v": pa.chunked_array([nothing] * 2)})).attribute("v").null_count == 2
    with pytest.raises(DataError, match="column 'v' is list<item: int64>, which is no kind of attribute"):
        from_arrow(pa.table({**fields, "v": pa.chunked_array([lists] * 2)}))


def test_an_empty_table_gives_no_events_but_its_columns():
    table = from_arrow(
        pa.table({"type": pa.array([], pa.string()), "time": pa.array([], pa.int64()), "v": pa.array([])})
    )
    assert (len(table), table.attributes.column_names) == (0, ["v"])


def test_columns_that_are_right_are_taken_as_they_are():
    texts = pa.array(["A", "B", "A"]).dictionary_encode()
    given = pa.table({"type": texts, "source": texts, "id": ["1", "2", "3"], "time": [1, 2, 3], "v": [4, 5, 6]})
    table = from_arrow(given)
    for column, name in ((table.field("id"), "id"), (table.field("hi"), "time"), (table.attribute("v"), "v")):
        assert column.buffers()[-1].address == given[name].chunk(0).buffers()[-1].address
    assert table.field("type").indices.buffers()[1].address == texts.indices.buffers()[1].address


@pytest.mark.parametrize(
    "texts",
    [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), ["A", "A", "B"]),
        pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), ["A", "B"]),
        pa.DictionaryArray.from_arrays(pa.array([0, 2, 1]), ["A", "B", None]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), [7, 8]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), ["A", "", *map(str, range(9))]),
    ],
)
def test_any_dictionary_of_names_means_what_it_says(texts):
    sources = from_arrow(pa.table({"type": ["A"] * 3, "source": texts, "time": [1, 2, 3]})).field("source")
    assert sources.to_pylist() == ["" if text is None else str(text) for text in texts.to_pylist()]
    assert len(sources.dictionary.unique()) == len(sources.dictionary)
