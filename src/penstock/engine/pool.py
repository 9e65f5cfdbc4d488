"""Texts by number: equal texts have the same one, which is found for whole columns in compiled code."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine import vm
from penstock.engine.compiled import compiled, inlined
from penstock.engine.memory import Ints
from penstock.engine.pointers import pointer, prefetch, put_word
from penstock.engine.slots import mark_of, move_slots, no_slots, number_in, slot_word
from penstock.engine.taking import WORD, ask_ahead, flat, text_of, word_of
from penstock.engine.vm import mix

STRETCH = 1 << 14
"""Rows whose texts are looked up between two looks at how much room there is."""
ROOM = 1 << 6
"""For how many texts there is room at first."""
AHEAD = 16
"""So many slots are fetched together."""


class Pool:
    """All texts that values of a detector may be, one after the other for the kernel.

    >>> pool = Pool()
    >>> pool.numbers(pa.array(["a", "b", "a"]), np.arange(3)).tolist(), pool.text(1)
    ([0, 1, 0], 'b')
    """

    def __init__(self) -> None:
        self._empty()

    def _empty(self) -> None:
        self._count = 0
        self._ends: Ints = np.zeros(ROOM + 1, np.int64)
        self._letters: NDArray[np.uint8] = np.empty(ROOM * WORD, np.uint8)
        self._slots = no_slots(2 * ROOM)

    def __len__(self) -> int:
        return self._count

    @property
    def addresses(self) -> tuple[int, int]:
        """Where it is said where texts begin and end, and where their bytes are; good until the next text comes."""
        return int(self._ends.ctypes.data), int(self._letters.ctypes.data)

    def number(self, text: str) -> int:
        """The number of a text."""
        return int(self.numbers(pa.array([text]), np.zeros(1, np.int64))[0])

    def text(self, number: int) -> str:
        """The text with a number."""
        start, end = self._ends[number : number + 2].tolist()
        return self._letters[start:end].tobytes().decode()

    def texts(self, first: int = 0) -> pa.Array:
        """All texts from a number on, as a column."""
        return self._whole().slice(first).cast(pa.string())

    def taken(self, numbers: Ints) -> pa.Array:
        """The texts with these numbers, as a column."""
        return self._whole().take(pa.array(numbers)).cast(pa.string())

    def _whole(self) -> pa.Array:
        """All texts where they are; good until the next text comes."""
        ends, letters = self._ends[: self._count + 1], self._letters
        return pa.LargeStringArray.from_buffers(self._count, pa.py_buffer(ends), pa.py_buffer(letters))

    def keep(self, kept: Ints) -> None:
        """Forgets all texts but these, which get the numbers of their places."""
        texts = self.taken(kept)
        self._empty()
        self.numbers(texts, np.arange(len(texts)))

    def column(self, texts: pa.Array) -> tuple[Ints, Ints]:
        """Kinds and bits of a column of texts."""
        there = np.asarray(texts.is_valid())
        rows = np.flatnonzero(there)
        bits = np.zeros(len(texts), np.int64)
        bits[rows] = self.numbers(texts, rows)
        return np.where(there, vm.TEXT, vm.NULL), bits

    def numbers(self, texts: pa.Array, rows: Ints) -> Ints:
        """The numbers of some rows of a column of texts, none of which is null."""
        if not pa.types.is_dictionary(texts.type):
            return self._entered(texts, rows)
        codes = np.asarray(texts.indices.fill_null(0) if texts.null_count else texts.indices)[rows]
        is_said = np.zeros(len(texts.dictionary), bool)
        is_said[codes] = True
        said = np.flatnonzero(is_said)
        numbers = np.empty(len(is_said), np.int64)
        numbers[said] = self._entered(texts.dictionary, said)
        return numbers.take(codes)

    def _entered(self, texts: pa.Array, rows: Ints) -> Ints:
        bounds, letters = flat(texts)
        numbers = np.empty(len(rows), np.int64)
        for start in range(0, len(rows), STRETCH):
            some = rows[start : start + STRETCH]
            self._make_room(len(some), length_of(some, bounds))
            found = numbers[start : start + STRETCH]
            self._count = enter(some, bounds, letters, self._slots, self._ends, self._letters, self._count, found)
        return numbers

    def _make_room(self, texts: int, length: int) -> None:
        """Room for so many more texts, which are so many bytes long together, and for a word behind the last one."""
        count = self._count + texts
        used = int(self._ends[self._count])
        if count >= len(self._ends):
            longer = np.zeros(2 * count + 1, np.int64)
            longer[: self._count + 1] = self._ends[: self._count + 1]
            self._ends = longer
        if used + length + WORD > len(self._letters):
            wider = np.empty(2 * (used + length + WORD), np.uint8)
            wider[:used] = self._letters[:used]
            self._letters = wider
        if 2 * count > len(self._slots):
            before, self._slots = self._slots, no_slots(2 * count)
            move_slots(before, self._slots)


@compiled
def length_of(rows, bounds):
    """How many bytes the texts of some rows have together."""
    total = np.int64(0)
    for number in range(rows.shape[0]):
        total += np.int64(bounds[rows[number] + 1]) - np.int64(bounds[rows[number]])
    return total


@compiled
def enter(rows, bounds, data, slots, ends, letters, count, found):
    """The number of the text of each row, those that are not known yet included; returns how many there are then."""
    address, size, edges = data.ctypes.data, data.shape[0], bounds.ctypes.data
    table, mask = pointer(slots.ctypes.data), np.int64(slots.shape[0] - 1)
    offsets, own, room = pointer(ends.ctypes.data), letters.ctypes.data, letters.shape[0]
    last = rows.shape[0] - 1
    for first in range(0, last + 1, AHEAD):
        stop = min(first + AHEAD, last + 1)
        for at in range(first, stop):
            ask_ahead(rows[min(at + AHEAD, last)], rows[min(at + 2 * AHEAD, last)], edges, address)
            begin, end = text_of(rows[at], edges)
            found[at] = mark_of(hash_of(begin, end, address, size))
            prefetch(table, found[at] & mask)
        for at in range(first, stop):
            begin, end = text_of(rows[at], edges)
            mark = found[at]
            slot = mark & mask
            while table[slot] != 0:
                number = number_in(table[slot]) - 1
                is_likely = mark_of(table[slot]) == mark and offsets[number + 1] - offsets[number] == end - begin
                if is_likely and is_same(begin, end, address, size, offsets[number], own, room):
                    break
                slot = (slot + 1) & mask
            if table[slot] == 0:
                offsets[count + 1] = copied(begin, end, address, size, offsets[count], own)
                count += 1
                table[slot] = slot_word(mark, count)
            found[at] = number_in(table[slot]) - 1
    return count


@inlined
def hash_of(begin, end, address, size):
    """A hash of a text."""
    whole = end - begin
    while begin < end:
        whole = mix(whole, word_of(begin, end, address, size))
        begin += WORD
    return whole


@inlined
def is_same(begin, end, address, size, there, own, room):
    """Whether a text is one of the pool, from a place there on, which is as long."""
    stop = there + end - begin
    while begin < end:
        if word_of(begin, end, address, size) != word_of(there, stop, own, room):
            return False
        begin += WORD
        there += WORD
    return True


@inlined
def copied(begin, end, address, size, there, own):
    """Writes a text into the pool, as whole words; returns where it ends."""
    stop = there + end - begin
    while begin < end:
        put_word(own + there, word_of(begin, end, address, size))
        begin += WORD
        there += WORD
    return stop
