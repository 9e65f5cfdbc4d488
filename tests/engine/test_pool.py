"""Texts by number: equal texts have one number, however they are given, and forgotten ones leave no trace."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock as ps
from penstock.engine import vm
from penstock.engine.pool import STRETCH, Pool

TEXTS = st.lists(st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=20)), max_size=30)


@given(st.lists(TEXTS, max_size=4), st.booleans(), st.integers(0, 3))
def test_equal_texts_have_the_same_number_and_others_another(
    batches: list[list[str | None]], coded: bool, skipped: int
) -> None:
    pool, known = Pool(), dict[str, int]()
    for batch in batches:
        column = pa.array(["left out"] * skipped + batch, pa.string())
        column = (column.dictionary_encode() if coded else column).slice(skipped)
        kinds, bits = pool.column(column)
        assert kinds.tolist() == [vm.NULL if text is None else vm.TEXT for text in batch]
        for text, number in zip(batch, bits.tolist(), strict=True):
            if text is not None:
                assert number == known.setdefault(text, number)
                assert pool.text(number) == text
    assert len(set(known.values())) == len(known)
    assert sorted(pool.texts().to_pylist()) == sorted(known)


def test_many_texts_some_of_which_are_kept() -> None:
    pool = Pool()
    texts = pa.array([f"{'long ' * (number % 5)}{number}" for number in range(3 * STRETCH)])
    rows = np.arange(len(texts))
    assert (pool.numbers(texts, rows) == rows).all()
    assert (pool.numbers(texts, rows[::-1].copy()) == rows[::-1]).all()
    pool.keep(rows[1::2])
    assert (pool.numbers(texts, rows[1::2].copy()) == np.arange(len(rows) // 2)).all()
    assert len(pool) == len(rows) // 2
    assert pool.texts(len(pool) - 1).to_pylist() == texts[-1:].to_pylist()


def test_of_a_dictionary_only_what_is_said_is_entered() -> None:
    pool = Pool()
    column = pa.DictionaryArray.from_arrays(pa.array([2, 0, None], pa.int8()), pa.array(["a", "b", "c"]))
    assert pool.column(column)[1].tolist() == [1, 0, 0]
    assert pool.texts().to_pylist() == ["a", "c"]


@pytest.mark.parametrize("kind", ["string", "dictionary", "mixed"])
def test_keys_that_are_texts_share_events_out_as_numbers_do(kind: str) -> None:
    random = np.random.default_rng(5)
    types, numbers = random.choice(["A", "B", "N"], 5000), random.integers(0, 300, 5000)
    keys = pa.array([f"key {number}" for number in numbers])
    if kind == "dictionary":
        keys = keys.dictionary_encode()
    if kind == "mixed":  # a null concerns nobody
        keys = pa.array([None if number == 7 else f"key {number}" for number in numbers])
    table = {"type": types, "id": [f"{n:04}" for n in range(5000)], "time": np.arange(5000)}
    found = ps.detect(pa.table(table | {"k": keys}), "[A(k = $k)] ; [B(k = $k)]")
    expected = ps.detect(pa.table(table | {"k": numbers}), "[A(k = $k)] ; [B(k = $k)]")
    wanted = [one for one in _parts(expected) if kind != "mixed" or numbers[int(one[0])] != 7]
    assert _parts(found) == wanted


def _parts(found: ps.Composites) -> list[list[str | None]]:
    return [[part["id"] for part in parts] for parts in found.table["parts"].to_pylist()]
