"""Where ids rise like a counter, their ends show that names are different, and never that equal ones are."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.events.settling import NAME
from penstock.spark.stretches import Stretch, from_table, may_meet, stretch_of, to_table

MANY = 5000


def batch(ids: list[str], *sources: str) -> pa.Table:
    """The columns that matter here; sources take turns."""
    columns = {"id": pa.array(ids)}
    if sources:
        given = [sources[row % len(sources)] for row in range(len(ids))]
        columns["source"] = pa.array(given).cast(NAME)
    return pa.table(columns)


def counted(first: int, step: int = 1, prefix: str = "") -> list[str]:
    return [f"{prefix}{first + step * row}" for row in range(MANY)]


@pytest.mark.parametrize(
    ("flat", "is_known"),
    [
        (batch(counted(7)), False),
        (batch(counted(7), "s"), False),
        (batch(counted(7), "s", "t"), True),
        (batch(counted(7)[:9]), True),
        (batch(counted(7, step=3)), True),
        (batch(counted(7)[::-1]), True),
        (batch(counted(1_000_000, prefix="e")), True),
        (batch([*counted(7), "7"]), True),
    ],
)
def test_only_one_dense_counter_of_many_events_goes_without_numbers(flat: pa.Table, is_known: bool) -> None:
    assert stretch_of(flat).is_known is is_known


def test_a_stretch_comes_back_from_its_table() -> None:
    for source in ("s", None):
        stretch = Stretch(source, "1", "20", True)
        assert from_table(to_table(stretch)) == stretch


@pytest.mark.parametrize(
    ("stretches", "expected"),
    [
        ([], False),
        ([("s", 1, 9, False), ("s", 10, 99, False)], False),
        ([("s", 1, 10, False), ("s", 10, 99, False)], True),
        ([("s", 1, 10, False), ("t", 1, 10, False)], False),
        ([("s", 1, 10, False), (None, 5, 6, True)], True),
        ([("s", 1, 10, True), ("s", 1, 10, True)], False),
        ([("s", 1, 100, True), ("s", 2, 3, True), ("s", 50, 60, False)], True),
        ([("s", 1, 100, False), ("s", 200, 300, True), ("s", 250, 260, True)], False),
    ],
)
def test_stretches_that_may_meet(stretches: list[tuple[str | None, int, int, bool]], expected: bool) -> None:
    made = [Stretch(source, str(first), str(last), known) for source, first, last, known in stretches]
    assert may_meet(made) is expected
    assert may_meet(reversed(made)) is expected


@given(st.lists(st.lists(st.integers(0, 200).map(str), min_size=1, max_size=6), min_size=2, max_size=5))
def test_a_name_in_two_batches_is_always_in_both_stretches(batches: list[list[str]]) -> None:
    is_twice = any(set(one) & set(other) for row, one in enumerate(batches) for other in batches[:row])
    unnumbered = [Stretch("", one.first, one.last, False) for one in map(stretch_of, map(batch, batches))]
    assert may_meet(unnumbered) or not is_twice
