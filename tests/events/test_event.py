import pytest

from penstock.errors import DataError
from penstock.events.event import Event
from penstock.events.stamp import Stamp


def test_an_event_has_a_stamp_and_a_place_in_the_weak_order():
    a, b = Event("A", "s", "1", 1, 5), Event("A", "s", "1", 2, 5, seq=3)
    assert a.stamp == Stamp(1, 5)
    assert a.weak_key < b.weak_key


def test_an_event_does_not_end_before_it_begins():
    with pytest.raises(DataError, match="is after hi"):
        Event("A", "s", "1", 2, 1)


def test_events_are_values():
    assert Event("A", "s", "1", 1, 1, attributes={"x": 1}) == Event("A", "s", "1", 1, 1, attributes={"x": 1})
    assert len({Event("A", "s", "1", 1, 1, attributes={"x": 1}), Event("A", "s", "1", 1, 1, attributes={"x": 1})}) == 1
