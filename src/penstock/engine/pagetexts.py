"""Some texts out of the pages of a column: only those that are asked for are copied."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.compiled import compiled
from penstock.engine.memory import Ints
from penstock.engine.pointers import half_word_at, put_word
from penstock.engine.runs import MOST_BITS, code_in, next_run, word_from
from penstock.engine.taking import WORD, add_up
from penstock.events.constants import MOST_BYTES
from penstock.events.parquetpages import Page, Pages, UnreadableError

LENGTH = 4
"""Bytes before each text, which say how long it is."""
Bytes = NDArray[np.uint8]


class PageTexts:
    """A column of texts that are read where they are taken: so many rows of some pages, from the first on.

    Where pages are not as they should be, ``otherwise`` gives the texts of the rows.
    """

    type = pa.string()
    null_count = 0

    def __init__(self, texts: Pages, first: int, count: int, otherwise: Callable[[Ints], pa.Array]) -> None:
        self._texts, self._first, self._count, self._otherwise = texts, first, count, otherwise

    def __len__(self) -> int:
        return self._count

    def slice(self, start: int, length: int | None = None) -> PageTexts:
        """The same from a row on."""
        left = max(0, self._count - start)
        count = left if length is None else min(length, left)
        return PageTexts(self._texts, self._first + start, count, self._otherwise)

    def whole(self) -> pa.Array:
        """All of them."""
        return self.take(pa.array(np.arange(self._count)))

    def take(self, rows: pa.Array) -> pa.Array:
        """The texts of some rows."""
        wanted = np.asarray(rows).astype(np.int64)
        wanted += self._first
        if len(wanted) and (wanted[1:] >= wanted[:-1]).all():
            with suppress(UnreadableError):
                return TextSearch(self._texts, wanted).texts()
        return self._otherwise(wanted)


class TextSearch:
    """Finds the texts of rows, which rise, in their pages."""

    def __init__(self, given: Pages, wanted: Ints) -> None:
        self._given, self._wanted = given, wanted
        self._places, self._ends = np.empty(len(wanted), np.int64), np.zeros(len(wanted) + 1, np.int32)

    def texts(self) -> pa.Array:
        """The texts, as one column."""
        wanted, ends = self._wanted, self._ends
        shares, done = [], 0
        for page in self._given.pages:
            stop = int(np.searchsorted(wanted, page.end))
            if done < stop and page.first <= wanted[done]:
                shares.append((self._searched(page, done, stop), done, stop))
                done = stop
        total = int(add_up(ends))
        if done < len(wanted) or total > MOST_BYTES:
            raise UnreadableError("there are other rows, or more bytes, than one column can have")
        texts = np.empty(total + WORD, np.uint8)
        for data, start, stop in shares:
            copy_found(data, self._places, ends, start, stop, texts)
        return pa.StringArray.from_buffers(len(wanted), pa.py_buffer(ends), pa.py_buffer(texts))

    def _searched(self, page: Page, start: int, stop: int) -> Bytes:
        """Notes where rows of a page have their texts and how long these are; returns what the texts are in."""
        found = (self._wanted, start, stop)
        if not page.is_coded:
            data = bytes_of(page)
            _check(find_plain(data, page.first, *found, self._places, self._ends))
            return data
        texts, starts, lengths = self._listed
        _check(find_coded(bytes_of(page), page.first, *found, starts, lengths, self._places, self._ends))
        return texts

    @cached_property
    def _listed(self) -> tuple[Bytes, Ints, NDArray[np.int32]]:
        """The texts that codes stand for, where they begin, and how long they are."""
        page = self._given.dictionary
        if page is None or not 0 <= page.rows * LENGTH <= len(page.values):
            raise UnreadableError("there is no such dictionary")
        data, starts, lengths = bytes_of(page), np.empty(page.rows, np.int64), np.zeros(page.rows + 1, np.int32)
        _check(find_plain(data, 0, np.arange(page.rows), 0, page.rows, starts, lengths))
        return data, starts, lengths


def bytes_of(page: Page) -> Bytes:
    """The values of a page, of which there is at least one byte."""
    data = np.frombuffer(page.values, np.uint8) if len(page.values) else np.zeros(1, np.uint8)
    data.flags.writeable = False
    return data


def _check(is_well: bool) -> None:
    if not is_well:
        raise UnreadableError("a page has other texts than it says")


@compiled
def find_plain(data, first, wanted, start, stop, places, ends):
    """Finds texts that stand one behind the other, each behind its length; False if they go beyond the end.

    ``first`` is the row of the first one. Of the rows that are ``wanted`` from ``start`` to ``stop``, which rise, it is
    noted where each text begins, and behind that place how long it is.
    """
    address, size, row, place, length = data.ctypes.data, data.shape[0], first, np.int64(0), np.int64(0)
    for number in range(start, stop):
        target = wanted[number]
        if number > start and target == wanted[number - 1]:
            places[number] = places[number - 1]
            ends[number + 1] = ends[number]
            continue
        while row <= target:
            if place + LENGTH > size:
                return False
            length = np.int64(half_word_at(address + place))
            place += LENGTH + length
            if length < 0 or place > size:
                return False
            row += 1
        places[number] = place - length
        ends[number + 1] = length
    return True


@compiled
def find_coded(data, first, wanted, start, stop, starts, lengths, places, ends):
    """The same for codes of texts, which begin at ``starts`` and are as long as ``lengths`` says behind each."""
    address, size, bits = data.ctypes.data, data.shape[0], np.int64(data[0])
    if bits > MOST_BITS:
        return False
    place, begin, end, packed, code = np.int64(1), first, first, np.int64(0), np.int64(0)
    for number in range(start, stop):
        target = wanted[number]
        while target >= end:
            begin = end
            place, end, packed, code = next_run(address, place, size, bits, end)
            if end == begin:
                return False
        if packed:
            code = code_in(address, packed, size, bits, target - begin)
        if code >= starts.shape[0]:
            return False
        places[number] = starts[code]
        ends[number + 1] = lengths[code + 1]
    return True


@compiled
def copy_found(data, places, ends, start, stop, texts):
    """Copies texts to where they belong as whole words; behind the last one ``texts`` has a word to spare."""
    source, target, size = data.ctypes.data, texts.ctypes.data, data.shape[0]
    for number in range(start, stop):
        place, to, end = places[number], np.int64(ends[number]), np.int64(ends[number + 1])
        while to < end:
            put_word(target + to, word_from(source, place, size))
            place += WORD
            to += WORD
