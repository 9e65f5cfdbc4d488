"""Whole numbers out of the pages of a column."""

from __future__ import annotations

import numpy as np

from penstock.engine.compiled import compiled
from penstock.engine.memory import Ints
from penstock.engine.pagetexts import bytes_of
from penstock.engine.pointers import pointer
from penstock.engine.runs import MOST_BITS, code_in, next_run
from penstock.engine.taking import WORD
from penstock.events.parquetpages import Page, Pages, UnreadableError


def numbers_in(given: Pages, first: int, count: int) -> Ints:
    """The numbers of so many rows, from the first on."""
    numbers = np.empty(count, np.int64)
    row = first
    for page in given.pages:
        stop = min(page.end, first + count)
        if page.first <= row < stop:
            _read(given, page, row, numbers[row - first : stop - first])
            row = stop
    if row < first + count:
        raise UnreadableError("there are fewer rows than there should be")
    return numbers


def _read(given: Pages, page: Page, row: int, numbers: Ints) -> None:
    """Writes the numbers of the rows of a page from one on."""
    if page.is_coded:
        if given.dictionary is None:
            raise UnreadableError("there is no dictionary")
        is_well = read_coded(bytes_of(page), page.first, row, _plain(given.dictionary), numbers)
        if not is_well:
            raise UnreadableError("a page has other codes than it says")
    else:
        numbers[:] = _plain(page)[row - page.first :][: len(numbers)]


def _plain(page: Page) -> Ints:
    if not 0 <= page.rows * WORD <= len(page.values):
        raise UnreadableError("a page has fewer numbers than it says")
    numbers = np.frombuffer(page.values, np.int64, page.rows)
    numbers.flags.writeable = False
    return numbers


@compiled
def read_coded(data, first, row, listed, numbers):
    """Writes the numbers that codes stand for, of rows from one on; ``first`` is the row of the first code."""
    address, size, bits = data.ctypes.data, data.shape[0], np.int64(data[0])
    if bits > MOST_BITS:
        return False
    place, end, packed, code = np.int64(1), first, np.int64(0), np.int64(0)
    known, target, at, stop = listed.shape[0], pointer(numbers.ctypes.data), row, row + numbers.shape[0]
    values = pointer(listed.ctypes.data)
    while at < stop:
        begin = end
        place, end, packed, code = next_run(address, place, size, bits, end)
        if end == begin:
            return False
        while at < min(end, stop):
            if packed:
                code = code_in(address, packed, size, bits, at - begin)
            if code >= known:
                return False
            target[at - row] = values[code]
            at += 1
    return True
