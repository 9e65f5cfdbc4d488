from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events.cloudevents import from_cloudevent
from penstock.events.mapping import Columns
from penstock.events.records import from_dicts
from penstock.events.table import TIME

T0, T1 = "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"


def only(record, **options):
    return from_dicts([record], **options).record(0)


@pytest.mark.parametrize(
    "time",
    [
        1_000_000,
        T1,
        "1970-01-01T01:00:01+01:00",
        datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
        np.int64(1_000_000),
    ],
)
def test_times_are_microseconds_datetimes_or_rfc_3339(time):
    assert only({"type": "A", "time": time}).stamp == only({"type": "A", "lo": time, "hi": time}).stamp
    assert only({"type": "A", "time": time}).hi == 1_000_000


def test_no_source_is_the_empty_text_and_no_id_is_none_yet():
    table = from_dicts([{"type": "A", "time": 0}])
    assert table.field("source").to_pylist() == [""]
    assert table.field("id").to_pylist() == [None]
    assert not table.fixed


def test_all_fields_of_a_cloudevent_are_read():
    event = only(
        {
            "specversion": "1.0", "type": "A", "source": "s", "id": 7, "sequence": "3", "timelo": T0,
            "timehi": T1, "time": T1, "timekind": "uncertain", "arrival": T1, "retracted": True, "subject":
            "x", "data": {"v": 1, "parts": [{"type": "B", "source": "t", "id": "1", "time": T0, "data":
            {"w": 2}}]},
        }
    )  # fmt: skip
    assert (event.type, event.source, event.id, event.seq, event.lo, event.hi) == (
        "A",
        "s",
        "7",
        3,
        0,
        1_000_000,
    )
    assert (event.uncertain, event.arrival, event.retracted) == (True, 1_000_000, True)
    assert event.attributes == {"v": 1}
    assert [(part.id, part.attributes) for part in event.parts] == [("1", {"w": 2})]


def test_attributes_have_five_kinds():
    at = datetime(2026, 3, 1, 10, tzinfo=UTC)
    data = {"b": True, "i": 1, "f": 1.5, "s": "x", "t": at, "none": None, "nan": float("nan")}
    table = from_dicts([{"type": "A", "time": 0, "data": data}])
    kinds = {name: table.attribute(name).type for name in "bifst"}
    assert kinds == {"b": pa.bool_(), "i": pa.int64(), "f": pa.float64(), "s": pa.string(), "t": TIME}
    assert table.record(0).attributes == {"b": True, "i": 1, "f": 1.5, "s": "x", "t": at}


def test_numpy_decimals_dates_and_zones_are_converted():
    data = {
        "b": np.bool_(False),
        "i": np.uint8(3),
        "f": np.float32(0.5),
        "s": np.str_("x"),
        "d": Decimal("1.5"),
    }
    later = {"day": date(2026, 3, 1), "t": datetime(1970, 1, 1, 1)}
    event = only({"type": "A", "time": 0, "data": data | later}, zone="Europe/Berlin")
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert event.attributes == {
        "b": False,
        "i": 3,
        "f": 0.5,
        "s": "x",
        "d": 1.5,
        "day": "2026-03-01",
        "t": epoch,
    }


def test_an_integer_in_one_record_and_a_float_in_another_is_a_float():
    table = from_dicts([{"type": "A", "time": 0, "data": {"v": v}} for v in (1, None, 2.5, float("nan"))])
    assert table.attribute("v").to_pylist() == [1.0, None, 2.5, None]


def test_an_attribute_that_is_called_parts_and_is_no_list_is_one():
    assert only({"type": "A", "time": 0, "data": {"parts": 3}}).attributes == {"parts": 3}


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (1, "x", "a whole number in record 2 and text in record 3"),
        (True, 1, "true or false in record 2 and a whole number in record 3"),
        (1.5, True, "a number in record 2 and true or false in record 3"),
        ("x", datetime(2026, 1, 1, tzinfo=UTC), "text in record 2 and a time in record 3"),
    ],
)
def test_any_other_mixture_is_an_error_that_names_both_records(first, second, words):
    records = [{"type": "A", "time": 0, "data": {"v": v}} for v in (None, first, second)]
    with pytest.raises(DataError) as error:
        from_dicts(records)
    assert error.value.message == f"attribute 'v' is {words}"


def test_a_mixture_with_numbers_between_names_the_record_that_differs():
    records = [{"type": "A", "time": 0, "data": {"v": v}} for v in (1, 1.5, "x")]
    with pytest.raises(DataError, match="a whole number in record 1 and text in record 3"):
        from_dicts(records)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"type": "A"}, "record 2: field 'time': is missing"),
        ({"type": "A", "time": "soon"}, "record 2: field 'time': 'soon' is not a time"),
        (
            {"type": "A", "time": datetime(2026, 3, 1)},
            "record 2: field 'time': '2026-03-01 00:00:00' has no zone",
        ),
        ({"type": "A", "lo": 5}, "record 2: field 'hi': is missing, but there is 'lo'"),
        ({"type": "A", "lo": 5, "hi": 3}, "record 2: field 'lo': 5 is after 'hi', which is 3"),
        (
            {"type": "A", "time": 4, "lo": 3, "hi": 5},
            "record 2: field 'time': 4 is not the end of the interval, 'hi'",
        ),
        ({"type": "A", "time": "x", "lo": 3, "hi": 5}, "record 2: field 'time': 'x' is not a time"),
        ({"type": "A", "time": 4, "lo": 3, "hi": "x"}, "record 2: field 'hi': 'x' is not a time"),
        (
            {"type": "A", "time": 10**18},
            "record 2: field 'time': 1000000000000000000 is outside the years 1 to 9999",
        ),
        ({"type": "A", "time": 10**30}, "is outside the years 1 to 9999"),
        ({"type": "A", "time": 0, "arrival": "x"}, "record 2: field 'arrival': 'x' is not a time"),
        (
            {"type": "A", "time": 0, "data": {"v": [1]}},
            "record 2: field 'data.v': [1] is no value for an attribute",
        ),
        (
            {"type": "A", "time": 0, "data": {"v": 2**63}},
            "record 2: field 'data.v': 9223372036854775808 does not fit",
        ),
        (
            {"type": "A", "time": 0, "data": {"v": "\ud800"}},
            "record 2: field 'data.v': '\\ud800' is no Unicode text",
        ),
        (
            {"type": "A", "time": 0, "data": {"\ud800": 1}},
            "record 2: the attribute name '\\ud800' is no Unicode text",
        ),
        ({"type": "\ud800", "time": 0}, "record 2: field 'type': '\\ud800' is no Unicode text"),
        (
            {"type": "A", "time": 0, "data": {"parts": [3]}},
            "record 2: field 'data.parts': part 1: expected an object",
        ),
        (None, "record 2: expected an object, found None"),
    ],
)
def test_a_bad_record_is_named_or_left_out(record, message):
    records = [{"type": "A", "time": 1}, record, {"type": "A", "time": 2}]
    with pytest.raises(DataError) as error:
        from_dicts(records)
    assert message in error.value.message
    assert error.value.hint
    bad = []
    assert from_dicts(records, on_bad=bad.append).field("hi").to_pylist() == [1, 2]
    assert [one.message for one in bad] == [error.value.message]


def test_of_several_bad_records_the_first_is_named():
    with pytest.raises(DataError, match="record 1"):
        from_dicts([{"type": "A", "time": 0, "data": {"v": [1]}}, {"type": "A"}])


def test_a_bad_record_does_not_mix_kinds():
    records = [{"type": "A", "time": 0, "data": {"v": 1}}, {"type": "A", "data": {"v": "x"}}]
    assert from_dicts(records, on_bad=lambda error: None).attribute("v").to_pylist() == [1]


def test_a_clock_error_widens_the_stamp_and_makes_it_uncertain():
    event = only({"type": "A", "time": 10}, clock_error=3)
    assert (event.lo, event.hi, event.uncertain) == (7, 13, True)
    with pytest.raises(DataError, match="with its clock error"):
        only({"type": "A", "time": "9999-12-31T23:59:59Z"}, clock_error=2_000_000)


def test_numbers_count_the_unit_that_is_given():
    assert only({"type": "A", "time": 3}, time_unit="s").hi == 3_000_000
    assert only({"type": "A", "time": 1.5}, time_unit="ms").hi == 1500
    assert only({"type": "A", "lo": 1, "hi": 1001}, time_unit="ns").stamp.length == 2


@pytest.mark.parametrize(("unit", "lo", "hi"), [("ns", 1, 2), ("us", 1500, 1500)])
def test_nanoseconds_are_rounded_outwards(unit, lo, hi):
    event = only({"type": "A", "time": 1500}, time_unit=unit)
    assert (event.lo, event.hi) == (lo, hi)


def test_foreign_records_are_mapped_and_what_is_no_field_is_an_attribute():
    columns = Columns(type_from="alarm", time_from="from", time_to="to", source_from="device", time_unit="s")
    event = only({"alarm": 11, "from": 1, "to": 2, "device": "d", "time": "noon", "x": 5}, columns=columns)
    assert (event.type, event.source, event.lo, event.hi) == ("11", "d", 1_000_000, 2_000_000)
    assert event.attributes == {"alarm": 11, "from": 1, "to": 2, "device": "d", "time": "noon", "x": 5}


def test_foreign_records_may_keep_the_fields_under_data():
    event = only({"type": "A", "data": {"at": 7, "x": 1}}, columns=Columns(time_from="at"))
    assert (event.hi, event.attributes) == (7, {"at": 7, "x": 1})


def test_one_type_for_all_records():
    event = only({"type": "x", "time": 1}, columns=Columns(type="Reading"))
    assert (event.type, event.attributes) == ("Reading", {"type": "x"})


def test_errors_name_the_key_that_the_record_has():
    with pytest.raises(DataError, match="record 1: field 'at': 'x' is not a time"):
        only({"type": "A", "at": "x"}, columns=Columns(time_from="at"))


records = st.fixed_dictionaries(
    {"type": st.sampled_from(["A", "B"]), "time": st.integers(0, 9)},
    optional={
        "source": st.sampled_from(["", "s"]),
        "id": st.sampled_from(["1", "2"]),
        "seq": st.integers(-1, 1),
        "arrival": st.integers(0, 9),
        "data": st.dictionaries(st.sampled_from("xyz"), st.none() | st.integers(0, 3)),
    },
)


@given(st.lists(records, max_size=4))
def test_many_records_are_read_as_each_of_them(many):
    assert from_dicts(many).to_events() == [from_cloudevent(one) for one in many]


@given(st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)), min_size=1))
def test_columns_of_text_are_read_as_each_text(values):
    table = from_dicts([{"type": "A", "time": value.isoformat()} for value in values])
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert table.field("hi").to_pylist() == [(value - epoch) // timedelta(microseconds=1) for value in values]
