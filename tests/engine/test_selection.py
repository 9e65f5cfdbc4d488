"""The rows of types that are wanted are found, however many there are of both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.bits import BYTES
from penstock.engine.selection import BITS, FEW, Picked, choose

TYPES = (1, FEW, FEW + 1, BITS, BITS + 1, 127)


@pytest.mark.parametrize("kind", [np.int8, np.int32])
@pytest.mark.parametrize("types", TYPES)
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.0, 0.05, 0.5, 1.0]), count=st.integers(0, 5 * BYTES))
def test_chosen_rows_are_those_whose_type_is_wanted(
    kind: type, types: int, seed: int, share: float, count: int
) -> None:
    random = np.random.default_rng(seed)
    codes = random.integers(0, types, count).astype(kind)
    wanted = random.random(types) < share
    assert choose(codes, wanted).tolist() == np.flatnonzero(wanted[codes]).tolist()


def test_codes_may_begin_anywhere() -> None:
    codes = np.arange(300).astype(np.int8) & 3
    for start in range(70):
        assert choose(codes[start:], np.array([False, True, False, False])).tolist() == [
            row for row in range(300 - start) if (row + start) % 4 == 1
        ]


def test_what_was_picked_of_a_slice_is_counted_from_its_start() -> None:
    picked = Picked(np.array([True]), np.array([2, 5, 9]))
    assert picked.between(0, 10) is picked
    assert picked.between(0, 9).rows.tolist() == [2, 5]
    assert picked.between(5, 10).rows.tolist() == [0, 4]
    assert Picked(np.array([True]), np.zeros(0, np.int64)).between(0, 3).rows.tolist() == []
