"""Whole numbers and names out of the pages of a column, of all rows."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.compiled import compiled
from penstock.engine.memory import Ints
from penstock.engine.pagetexts import TextSearch, bytes_of
from penstock.engine.runs import MOST_BITS, code_in, next_run
from penstock.engine.taking import WORD
from penstock.events.parquetpages import Page, Pages, UnreadableError

MOST_NAMES = 127
"""Names whose codes take a byte each."""
N = TypeVar("N", np.int8, np.int64)


def numbers_in(given: Pages, first: int, count: int) -> Ints:
    """The whole numbers of so many rows, from the first on."""
    listed = _NO_NUMBERS if given.dictionary is None else _plain(given.dictionary)
    return _read(given, first, np.empty(count, np.int64), listed)


def names_in(given: Pages, first: int, count: int) -> pa.DictionaryArray:
    """The names of so many rows, from the first on, by codes of a byte each."""
    listed = given.dictionary
    if listed is None or not 0 < listed.rows <= MOST_NAMES or not all(page.is_coded for page in given.pages):
        raise UnreadableError("names are many, or not all of them are coded")
    codes = _read(given, first, np.empty(count, np.int8), _CODES[: listed.rows])
    names = TextSearch(Pages((listed,), None), np.arange(listed.rows)).texts()
    return pa.DictionaryArray.from_arrays(pa.array(codes), names)


def _read(given: Pages, first: int, values: NDArray[N], listed: NDArray[N]) -> NDArray[N]:
    """Writes what rows have from the first on; ``listed`` is what codes stand for."""
    row, end = first, first + len(values)
    for page in given.pages:
        stop = min(page.end, end)
        if page.first <= row < stop:
            share = values[row - first : stop - first]
            if not page.is_coded:
                share[:] = _plain(page)[row - page.first :][: len(share)]
            elif not spread(bytes_of(page), page.first, row, listed, share):
                raise UnreadableError("a page has other codes than it says")
            row = stop
    if row < end:
        raise UnreadableError("there are fewer rows than there should be")
    return values


def _plain(page: Page) -> Ints:
    if not 0 <= page.rows * WORD <= len(page.values):
        raise UnreadableError("a page has fewer numbers than it says")
    return _fixed(np.frombuffer(page.values, np.int64, page.rows))


def _fixed(values: NDArray[N]) -> NDArray[N]:
    values.flags.writeable = False
    return values


_NO_NUMBERS = _fixed(np.empty(0, np.int64))
_CODES = _fixed(np.arange(MOST_NAMES, dtype=np.int8))


@compiled
def spread(data, first, row, listed, values):
    """Writes what codes stand for, of rows from one on; ``first`` is the row of the first code."""
    address, size, bits, known = data.ctypes.data, data.shape[0], np.int64(data[0]), listed.shape[0]
    if bits > MOST_BITS:
        return False
    place, end, at, stop = np.int64(1), first, row, row + values.shape[0]
    while at < stop:
        begin = end
        place, end, packed, code = next_run(address, place, size, bits, end)
        last = min(end, stop)
        if end == begin:
            return False
        while at < last:
            if packed:
                code = code_in(address, packed, size, bits, at - begin)
            if code >= known:
                return False
            values[at - row] = listed[code]
            at += 1
    return True
