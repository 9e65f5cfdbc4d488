from unittest import mock

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.events import repeats
from penstock.events.repeats import Names

names = st.tuples(st.sampled_from(["", "s", "t"]), st.integers(0, 30).map(str))


def taken(many, size):
    found = Names()
    for start in range(0, len(many), size):
        sources, ids = zip(*many[start : start + size], strict=True)
        found.take(pa.array(sources).dictionary_encode(), pa.array(ids))
    return found


@given(st.lists(names, max_size=12), st.integers(1, 5))
def test_names_are_different_in_any_batches(many, size):
    assert taken(many, size).are_different() == (len(set(many)) == len(many))


@given(st.lists(names, max_size=12), st.integers(1, 5), st.integers(0, 4))
def test_what_was_forgotten_is_not_said_to_be_different(many, size, remembered):
    with mock.patch.object(repeats, "_REMEMBERED", remembered):
        found = taken(many, size)
    assert not found.are_different() or len(set(many)) == len(many)
    assert found.is_known or not found.are_different()


def test_of_counters_only_the_last_is_kept():
    with mock.patch.object(repeats, "_REMEMBERED", 3):
        assert taken([("s", str(number)) for number in range(95, 120)], 4).are_different()
        assert not taken([("s", str(number)) for number in [*range(95, 120), 200, 199]], 4).is_known
