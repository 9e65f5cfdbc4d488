"""The order of results is that of the keys, whatever is tied with what."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.detection.ordering import output_order

few = st.integers(0, 2)
rows = st.lists(st.tuples(few, few, few, st.lists(few, max_size=3), st.integers(0, 2**64 - 1)), max_size=12)


@given(rows)
def test_rows_are_ordered_by_stamp_type_leaves_and_id(rows: list[tuple[int, int, int, list[int], int]]) -> None:
    hi, lo, types = (np.array([row[key] for row in rows], np.int64) for key in range(3))
    offsets = np.cumsum([0, *(len(row[3]) for row in rows)])
    leaves = np.array([leaf for row in rows for leaf in row[3]], np.int64)
    words = np.array([row[4] for row in rows], np.uint64)
    order = output_order((lo, hi), types, offsets, leaves, [words])
    assert [rows[row] for row in order] == sorted(rows, key=lambda row: (*row[:4], row[4].to_bytes(8, "little")))


def test_stamps_that_are_far_apart() -> None:
    far = np.array([2**62, -(2**62), 0, 2**62])
    none = np.zeros(0, np.int64)
    order = output_order((far, np.zeros(4, np.int64)), np.zeros(4, np.int64), np.zeros(5, np.int64), none, [])
    assert order.tolist() == [1, 2, 0, 3]
