"""Memory that engines leave is given to those that come, once nobody can see it."""

from __future__ import annotations

import gc
from threading import Thread

import numpy as np
import pytest

from penstock.engine import spare
from penstock.engine.spare import LEAST, MOST, Spare
from tests.compare.case import case_of
from tests.compare.trial import compared, random_trial


def address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def test_what_is_left_is_used_again() -> None:
    some = Spare()
    first = some.unwritten(LEAST)
    where = address(first)
    del first
    assert len(some) == LEAST
    assert address(some.unwritten(LEAST)) == where


def test_what_is_asked_to_be_blank_is() -> None:
    some = Spare()
    some.unwritten(2 * LEAST).fill(7)
    again = some.blank(LEAST + 1)
    assert len(again) == LEAST + 1
    assert not again.any()


def test_while_a_view_is_there_nobody_else_gets_it() -> None:
    some = Spare()
    whole = some.blank(LEAST)
    view = whole.reshape(-1, 4)[1:, 2]
    del whole
    gc.collect()
    assert len(some) == 0
    other = some.unwritten(LEAST)
    other.fill(9)
    assert not view.any()
    del view
    gc.collect()
    assert len(some) == LEAST


def test_the_smallest_that_fits_is_taken_and_none_that_is_far_too_long() -> None:
    some = Spare()
    arrays = [some.unwritten(length * LEAST) for length in (3, 2, 9)]
    where = [address(array) for array in arrays]
    arrays.clear()
    assert address(some.unwritten(LEAST)) == where[1]
    assert len(some) == 14 * LEAST  # it came back at once
    held = [some.unwritten(2 * LEAST), some.unwritten(2 * LEAST), some.unwritten(2 * LEAST)]
    assert [address(array) for array in held[:2]] == [where[1], where[0]]
    assert address(held[2]) != where[2]


def test_small_arrays_are_not_kept() -> None:
    some = Spare()
    some.blank(LEAST - 1)
    assert len(some) == 0


def test_there_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST * 8 == 64 << 20
    monkeypatch.setattr(spare, "MOST", 3 * LEAST)
    some = Spare()
    arrays = [some.unwritten(LEAST) for _ in range(5)]
    arrays.clear()
    assert len(some) == 3 * LEAST


def test_threads_never_get_the_same_memory() -> None:
    some, wrong = Spare(), []

    def work(number: int) -> None:
        for _ in range(300):
            array = some.unwritten(LEAST)
            array[::512] = number
            if (array[::512] != number).any():
                wrong.append(number)

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_was_there_before_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """All memory that engines leave is used again, and is full of nonsense."""
    monkeypatch.setattr(spare, "LEAST", 1)
    given: list[int] = []

    def keep(self: Spare, array: np.ndarray) -> None:
        array.fill(0x5A5A5A5A5A5A5A5A)
        given.append(len(array))
        self._arrays[id(array)] = array

    monkeypatch.setattr(Spare, "_keep", keep)
    try:
        for number in range(200):
            trial = random_trial(f"spare:{number}")
            assert compared(trial)[0] is None, case_of(trial, "they differ")
    finally:
        spare.SPARE._arrays.clear()
    assert len(given) > 200
