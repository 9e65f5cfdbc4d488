"""Events of one name in different buckets are noticed, and others are not."""

import numpy as np
import pyarrow as pa
import pytest

from penstock import parse
from penstock.spark.names import NamingPacker, Places, apart
from penstock.spark.packing import Recipe
from penstock.spark.split import split

PAIR = "[A(k = $k)] ; [B(k = $k)]"
TO_ALL = "[A(k = $k)] ; [B(k = $k)] ; [All]"
TWO_KEYS = "[A(k = $k)] ; [A(l = $k)]"


def are_apart(text: str, *rows: tuple[str, str, int | None], buckets: int = 4, counts: bool = False) -> bool:
    """Whether events, each read by a task of its own, are noticed; they are types, ids and keys."""
    recipe = Recipe(split([parse(text)]), buckets)
    packed = [NamingPacker(recipe).pack(_table(*row)) for row in rows]
    whole = pa.Table.from_batches(packed)
    shares = range(recipe.total, recipe.total + recipe.buckets)
    of_shares = [whole.filter(pa.compute.equal(whole["bucket"], share)).to_batches() for share in shares]
    return any(list(apart(recipe, share, counts=counts)) for share in of_shares)


def _table(type: str, id: str, key: int | None) -> pa.Table:
    columns = {"type": [type], "id": [id], "time": [1]}
    return pa.table(columns | {name: pa.array([key], pa.int64()) for name in "kl"})


@pytest.mark.parametrize(
    ("text", "rows", "expected"),
    [
        (PAIR, [("A", "1", 1), ("B", "2", 2)], False),
        (PAIR, [("A", "1", 1), ("A", "1", 1)], False),
        (PAIR, [("A", "1", 1), ("B", "1", 1)], False),
        (PAIR, [("A", "1", key) for key in range(9)], True),
        (PAIR, [("A", "1", 1), ("A", "1", None)], True),
        (PAIR, [("A", "1", None), ("A", "1", None)], False),
        (TO_ALL, [("All", "1", 1), ("All", "1", 2)], False),
        (TO_ALL, [("All", "1", 1), ("A", "1", 1)], True),
        (TWO_KEYS, [("A", "1", 1), ("A", "1", 1)], False),
    ],
)
def test_events_of_one_name_in_different_buckets_are_noticed(
    text: str, rows: list[tuple[str, str, int | None]], expected: bool
) -> None:
    assert are_apart(text, *rows) is expected


def test_where_repeated_events_are_counted_any_is_noticed() -> None:
    assert are_apart(PAIR, ("A", "1", 1), ("A", "1", 1), counts=True)
    assert not are_apart(PAIR, ("A", "1", 1), ("A", "2", 1), counts=True)


def test_a_number_says_of_each_group_which_bucket_needs_an_event() -> None:
    recipe = Recipe(
        split([parse("One := [A(k = $k)] ; [B(k = $k)]\nTwo := [C(l = $l)] ; [D(l = $l)]\nThree := [E]")]), 3
    )
    places = Places.of(recipe)
    assert len(places.sizes) == len(recipe.split.groups)
    assert places.are_few
    assert not Places((1000,) * 4).are_few


def test_several_buckets_of_a_group_are_never_taken_for_the_same() -> None:
    places = Places((4,))
    rows, buckets = np.array([0, 0, 1, 2, 2, 2, 2]), np.array([1, 3, 2, 0, 1, 2, 3])
    numbers = places.numbers([(rows, buckets)], 4)
    assert numbers.tolist() == [6, 3, 5, 0]
    assert places.are_unclear(numbers.astype(np.uint64)).tolist() == [True, False, False, False]
