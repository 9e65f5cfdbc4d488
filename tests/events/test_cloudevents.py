from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events.cloudevents import from_cloudevent, to_cloudevent, to_part
from penstock.events.event import Event
from penstock.events.times import EARLIEST, LATEST

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
times = st.integers(EARLIEST, LATEST)
spans = st.tuples(times, times).map(sorted)
values = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | words
attributes = st.dictionaries(words.filter(lambda name: name != "parts"), values, max_size=3)


@st.composite
def events(draw, depth=2):
    lo, hi = draw(spans)
    parts = draw(st.lists(events(depth - 1), max_size=2)) if depth else []
    return Event(
        draw(words),
        draw(words),
        draw(words),
        lo,
        hi,
        draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
        draw(attributes),
        tuple(parts),
    )


@given(events())
def test_a_cloudevent_comes_back_as_the_event_that_it_was(event):
    assert from_cloudevent(to_cloudevent(event)) == event
    assert from_cloudevent(to_part(event)) == event


@given(events(0), st.none() | times, st.booleans(), st.booleans())
def test_arrival_kind_of_interval_and_retraction_come_back(event, arrival, uncertain, retracted):
    full = Event(
        event.type, event.source, event.id, event.lo, event.hi,
        arrival=arrival, uncertain=uncertain and event.lo < event.hi, retracted=retracted,
    )  # fmt: skip
    assert from_cloudevent(to_cloudevent(full)) == full


def test_keys_have_one_order():
    event = Event("A", "s", "1", 0, 1000, 7, {"x": 1}, (Event("B", "t", "2", 0, 0),))
    record = to_cloudevent(event)
    assert list(record) == [
        "specversion",
        "type",
        "source",
        "id",
        "time",
        "sequence",
        "timelo",
        "timehi",
        "data",
    ]
    assert record["sequence"] == "7"
    assert record["time"] == record["timehi"] == "1970-01-01T00:00:00.001Z"
    assert record["data"] == {
        "x": 1,
        "parts": [{"type": "B", "source": "t", "id": "2", "time": "1970-01-01T00:00:00Z"}],
    }


def test_a_point_has_time_alone_and_nothing_to_say_has_no_data():
    assert to_cloudevent(Event("A", "s", "1", 0, 0)) == {
        "specversion": "1.0",
        "type": "A",
        "source": "s",
        "id": "1",
        "time": "1970-01-01T00:00:00Z",
    }


def test_a_composite_without_parts_has_an_empty_list():
    assert to_cloudevent(Event("Silence", "penstock/Silence", "1", 0, 0))["data"] == {"parts": []}


def test_times_among_the_attributes_are_written_in_rfc_3339():
    record = to_part(Event("A", "s", "1", 0, 0, attributes={"at": datetime(2026, 3, 1, tzinfo=UTC)}))
    assert record["data"] == {"at": "2026-03-01T00:00:00Z"}


def test_sequence_is_read_as_text_or_number():
    record = {"type": "A", "time": "1970-01-01T00:00:00Z"}
    assert from_cloudevent(record | {"sequence": "12"}).seq == 12
    assert from_cloudevent(record | {"sequence": 12}).seq == 12


def test_nanoseconds_are_rounded_outwards():
    event = from_cloudevent({"type": "A", "time": "1970-01-01T00:00:00.000000500Z"})
    assert (event.lo, event.hi) == (0, 1)


def test_other_extensions_are_ignored():
    record = {"specversion": "1.0", "type": "A", "time": "1970-01-01T00:00:00Z", "traceparent": "00-x"}
    assert from_cloudevent(record).attributes == {}


T0, T1 = "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"time": T0}, "field 'type': is missing"),
        ({"type": "", "time": T0}, "field 'type': is missing"),
        ({"type": 1.5, "time": T0}, "field 'type': expected text, found 1.5"),
        ({"type": "A"}, "field 'time': is missing"),
        ({"type": "A", "time": "soon"}, "field 'time': 'soon' is not a time"),
        ({"type": "A", "time": True}, "field 'time': True is not a time"),
        ({"type": "A", "timelo": T0}, "field 'timehi': is missing, but there is 'timelo'"),
        ({"type": "A", "timehi": T0}, "field 'timelo': is missing, but there is 'timehi'"),
        (
            {"type": "A", "timelo": T1, "timehi": T0},
            f"field 'timelo': '{T1}' is after 'timehi', which is '{T0}'",
        ),
        (
            {"type": "A", "time": T0, "timelo": T0, "timehi": T1},
            f"field 'time': '{T0}' is not the end of the interval",
        ),
        ({"type": "A", "time": T0, "timekind": "odd"}, "field 'timekind': 'odd' is no kind of interval"),
        (
            {"type": "A", "time": T0, "sequence": "x"},
            "field 'sequence': expected a whole number of 64 bits, found 'x'",
        ),
        ({"type": "A", "time": T0, "seq": 2**63}, "field 'seq': expected a whole number"),
        ({"type": "A", "time": T0, "retracted": "yes"}, "field 'retracted': expected true or false"),
        ({"type": "A", "time": T0, "arrival": "x"}, "field 'arrival': 'x' is not a time"),
        ({"type": "A", "time": T0, "data": [1]}, "field 'data': expected an object"),
        ({"type": "A", "time": T0, "data": {"v": [1]}}, "field 'data.v': [1] is no value for an attribute"),
        (
            {"type": "A", "time": T0, "data_base64": "AA=="},
            "field 'data_base64': binary data has no attributes",
        ),
        ({"type": "A", "time": T0, "room": 1}, "field 'room': is no field of an event"),
        ({"type": "A", "time": T0, "data": {"parts": [{"type": "B"}]}}, "part 1: field 'time': is missing"),
        ("A", "expected an object, found 'A'"),
    ],
)
def test_a_bad_record_is_refused(record, message):
    with pytest.raises(DataError) as error:
        from_cloudevent(record)
    assert message in error.value.message
    assert error.value.hint
