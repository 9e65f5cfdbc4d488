from random import Random
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.events.order import in_weak_order, ordered
from penstock.events.records import from_dicts
from penstock.events.repeats import name_hashes

texts = st.sampled_from(["", "a", "B", "é", "\uffee", "\U0001f600"])
records = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["A", "B"]),
        "source": texts,
        "id": st.sampled_from(["1", "2", "é", "\uffee", "\U0001f600"]),
        "lo": st.integers(-3, 0),
        "hi": st.integers(0, 3),
    },
    optional={"seq": st.integers(-2, 2), "data": st.fixed_dictionaries({"v": st.integers(0, 2)})},
)


@given(st.lists(records, max_size=20, unique_by=lambda r: (r["source"], r["id"])))
def test_events_are_sorted_by_the_weak_order(many):
    table, repeated = ordered(from_dicts(many))
    assert repeated == 0
    assert table.to_events() == sorted(from_dicts(many).to_events(), key=lambda event: event.weak_key)


@given(st.lists(records, max_size=20))
def test_of_repeated_events_the_first_in_the_order_is_kept(many):
    table, repeated = ordered(from_dicts(many))
    first = {}
    for event in sorted(from_dicts(many).to_events(), key=lambda event: event.weak_key):
        first.setdefault((event.source, event.id), event.weak_key)
    assert repeated == len(many) - len(first)
    assert [event.weak_key for event in table.to_events()] == list(first.values())


@given(st.lists(records, max_size=12), st.randoms())
def test_the_result_does_not_depend_on_the_order_given(many, random: Random):
    shuffled = random.sample(many, len(many))
    assert ordered(from_dicts(many))[0].to_events() == ordered(from_dicts(shuffled))[0].to_events()


def test_what_is_in_order_is_left_as_it_is():
    table = from_dicts([{"type": "A", "id": str(n), "time": n} for n in range(3)])
    assert ordered(table)[0] is table


@given(st.lists(records, max_size=20), st.integers(1, 3))
def test_events_whose_hashes_coincide_are_not_repeated(many, different):
    def coarse(sources, ids):
        return name_hashes(sources, ids) % np.uint64(different)

    with mock.patch("penstock.events.order.name_hashes", coarse):
        found = ordered(from_dicts(many))
    expected = ordered(from_dicts(many))
    assert (found[0].to_events(), found[1]) == (expected[0].to_events(), expected[1])


@given(st.lists(records, max_size=12))
def test_what_is_said_to_be_in_order_is(many):
    keys = [event.weak_key for event in from_dicts(many).to_events()]
    assert in_weak_order(from_dicts(many)) == (keys == sorted(keys))
    assert in_weak_order(ordered(from_dicts(many))[0])
