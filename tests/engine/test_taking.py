"""Rows that are taken in one pass, and order that is found in one, are what they are row by row."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.sorting import rows_in_order
from penstock.engine.taking import are_in_order, stand_in_order
from penstock.engine.texts import flat, taken_texts

texts = st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=8)
composites = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.lists(st.integers(0, 3), min_size=1, max_size=3)), max_size=5
)


@given(st.lists(texts, min_size=1, max_size=3), st.data())
def test_texts_of_several_columns_are_put_where_they_belong(columns: list[list[str]], data: st.DataObject) -> None:
    chosen = [(n, row) for n, column in enumerate(columns) for row in range(len(column))]
    wanted = data.draw(st.lists(st.sampled_from(chosen), max_size=12))
    pieces = []
    for number, column in enumerate(columns):
        where = np.array([place for place, (n, _) in enumerate(wanted) if n == number], np.int64)
        rows = np.array([row for n, row in wanted if n == number], np.int64)
        pieces.append((pa.array(["left out", *column]).slice(1), rows, where))
    assert taken_texts(pieces, len(wanted)).to_pylist() == [columns[n][row] for n, row in wanted]


@given(composites)
def test_composites_are_in_order_if_sorting_leaves_them_so(found: list[tuple[int, int, list[int]]]) -> None:
    hi, lo = (np.array([one[number] for one in found], np.int64) for number in (0, 1))
    offsets = np.cumsum([0, *(len(leaves) for _, _, leaves in found)])
    leaves = np.array([leaf for _, _, some in found for leaf in some], np.int64)
    are_different = len({(*one[:2], *one[2]) for one in found}) == len(found)
    is_same = rows_in_order((hi, lo), offsets, leaves, []).tolist() == [*range(len(found))]
    assert are_in_order(hi, lo, offsets, leaves) == (is_same and are_different)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 10**10)), max_size=6), st.booleans())
def test_events_stand_in_order_if_their_ends_and_their_ids_rise(rows: list[tuple[int, int, int]], rise: bool) -> None:
    if rise:
        ends, numbers = sorted({row[1] for row in rows}), sorted({row[2] for row in rows})
        rows = [(row[0], *pair) for row, *pair in zip(rows, ends, numbers, strict=False)]
    ids = pa.array([str(number) for _, _, number in rows], pa.string())
    hi = np.array([row[1] for row in rows], np.int64)
    wanted = [(at, (len(str(number)), str(number))) for code, at, number in rows if code < 2]
    chosen = np.array([row for row, (code, _, _) in enumerate(rows) if code < 2], np.int64)
    rising = all(one[0] < two[0] and one[1] < two[1] for one, two in pairwise(wanted))
    assert stand_in_order(chosen, hi, *flat(ids)) == rising
