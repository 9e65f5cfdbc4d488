"""Symbols know what they are, whether their rows follow each other or not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.composed import PRIMITIVE, are_of_input, of_input
from penstock.engine.store import Symbols

ADDED = st.tuples(st.sampled_from([PRIMITIVE, PRIMITIVE, PRIMITIVE, 0]), st.integers(0, 3), st.integers(0, 5))


@given(steps=st.lists(st.one_of(ADDED, st.randoms(use_true_random=False)), max_size=12))
def test_symbols_are_what_was_added_less_what_was_let_go(steps) -> None:
    """A step adds some rows, with a gap before them and perhaps one inside, or lets some symbols go."""
    symbols, expected, following = Symbols(), [], 0
    for step in steps:
        if not isinstance(step, tuple):
            kept = [slot for slot in range(len(expected)) if step.random() < 0.7]
            symbols.keep(np.array(kept, np.int64))
            expected = [expected[slot] for slot in kept]
            continue
        owner, gap, count = step
        rows = [0, 1, 2, 4, 5][:count] if gap == 3 else list(range(count))
        first = following + gap
        symbols.add(owner, first, np.array(rows, np.int64))
        expected += [(owner, first + row) for row in rows]
        following = first + 6
        if gap == 0 and count:
            following = first + rows[-1] + 1
    assert symbols.count == len(expected)
    owners, rows = symbols.of(np.arange(len(expected)))
    assert list(zip(owners.tolist(), rows.tolist(), strict=True)) == expected
    for owner in (PRIMITIVE, 0):
        assert symbols.rows_of(owner).tolist() == [row for whose, row in expected if whose == owner]


def test_owners_of_input_stand_for_as_many_as_they_are() -> None:
    assert are_of_input(of_input(0))
    assert are_of_input(of_input(3))
    assert are_of_input(np.full(3, PRIMITIVE))
    assert not are_of_input(np.array([PRIMITIVE, 0]))
    assert np.concatenate([of_input(2), np.array([1])]).tolist() == [PRIMITIVE, PRIMITIVE, 1]
