"""The weak order and comparisons with a place, against the order of events as objects."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.events.event import Event
from penstock.ordering.lowest import Lowest
from penstock.ordering.places import FAR, Place, compared, rising, weak_order
from penstock.testing.strategies import traces
from tests.ordering.conftest import rows


@given(trace=traces(most=12))
def test_rows_are_put_into_the_weak_order(trace: list[Event]) -> None:
    table = rows(trace)
    ordered = table.take(weak_order(table)[0]).to_events()
    assert [one.weak_key for one in ordered] == sorted(one.weak_key for one in trace)


@given(instants=st.lists(st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_instants_rise_and_equal_ones_stay_in_their_order(instants: list[int]) -> None:
    rows, values = rising(np.array(instants))
    assert rows.tolist() == sorted(range(len(instants)), key=lambda row: instants[row])
    assert values.tolist() == sorted(instants)


@given(trace=traces(most=12), place=traces(most=1))
def test_rows_are_compared_with_a_place_as_events_are(trace: list[Event], place: list[Event]) -> None:
    at = Place(place[0].hi, place[0].lo, place[0].source.encode()) if place else Place(FAR, FAR, b"")
    wanted = [(key > at) - (key < at) for key in (Place(e.hi, e.lo, e.source.encode()) for e in trace)]
    assert compared(rows(trace), at).tolist() == wanted


stamps = st.tuples(st.integers(0, 30), st.integers(0, 5), st.integers(0, 3))


@given(changes=st.lists(stamps, min_size=1), dropped=st.sets(st.integers(0, 30)))
def test_the_least_of_many_is_known_after_every_change(changes: list[tuple[int, int, int]], dropped: set[int]) -> None:
    lowest, plain = Lowest(), {}
    for number, end, beginning in changes:
        lowest.set(np.array([number]), np.array([end]), np.array([beginning]))
        plain[number] = (end, beginning)
        least = min(plain.values())
        assert lowest.least() == least
        assert lowest.holding().tolist() == sorted(n for n, stamp in plain.items() if stamp == least)
    for number in dropped & plain.keys():
        lowest.drop(number)
        plain.pop(number)
    assert lowest.least() == min(plain.values(), default=(FAR, FAR))
