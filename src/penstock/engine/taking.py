"""Some rows of columns of text as one column, and whether rows stand in order as they are: one pass each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.compiled import compiled, inlined
from penstock.engine.pointers import byte_at, code_at, pointer, prefetch, put_half_word, put_word, word_at

WORD = 8
AHEAD = 32
"""So many rows pass while the processor fetches one."""


def flat(texts: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Where each text begins and ends, and the bytes of all."""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1] if offsets else _NO_BOUNDS
    letters = np.frombuffer(data, np.uint8) if data else _NO_BYTES
    for array in (bounds, letters):  # Arrow lets some be written, for which code would be compiled again
        array.flags.writeable = False
    return bounds, letters


_NO_BOUNDS = np.frombuffer(bytes(4), np.int32)
_NO_BYTES = np.frombuffer(bytes(1), np.uint8)


@compiled
def measure_texts(rows, where, bounds, ends):
    """Puts the length of each text behind the place where it will be; ``bounds`` is where texts begin and end."""
    for number in range(rows.shape[0]):
        row = rows[number]
        ends[where[number] + 1] = bounds[row + 1] - bounds[row]


@compiled
def add_up(ends):
    """Lengths become the places where texts end; returns the last one, which may be more than fits there."""
    total = np.int64(0)
    for number in range(ends.shape[0]):
        total += ends[number]
        ends[number] = total
    return total


@compiled
def copy_texts(alone, rows, where, bounds, data, ends, out):
    """Copies texts to where they belong; behind the last one ``out`` has a word to spare.

    Where these are all texts, in order, each is written as whole words: the next one overwrites what is too much.
    """
    source, target, size, edges = data.ctypes.data, out.ctypes.data, data.shape[0], bounds.ctypes.data
    last = rows.shape[0] - 1
    for number in range(last + 1):
        ask_ahead(rows[min(number + AHEAD, last)], rows[min(number + 2 * AHEAD, last)], edges, source)
        begin, end = text_of(rows[number], edges)
        to = np.int64(ends[where[number]])
        spare = WORD - 1 if alone and end + WORD <= size else 0
        while begin + WORD <= end + spare:
            put_word(target + to, word_at(source + begin))
            begin += WORD
            to += WORD
        while begin < end:
            out[to] = data[begin]
            begin += 1
            to += 1


@compiled
def spell(rows, codes, width, bounds, data, ends, out):
    """Writes the names of rows one after the other, and where each ends; ``codes`` is where their numbers are.

    Each is written as whole words, so that ``data`` and ``out`` have a word to spare at their ends. Returns the length.
    """
    source, target, edges = data.ctypes.data, out.ctypes.data, bounds.ctypes.data
    ends[0] = to = 0
    for number in range(rows.shape[0]):
        begin, end = text_of(code_at(codes, rows[number], width), edges)
        stop = to + end - begin
        while to < stop:
            put_word(target + to, word_at(source + begin))
            begin += WORD
            to += WORD
        to = stop
        ends[number + 1] = stop
    return to


@compiled
def are_in_order(hi, lo, offsets, leaves):
    """Whether composites stand in the order of results: by the ends of their stamps, then by their leaves."""
    for row in range(1, hi.shape[0]):
        if hi[row] > hi[row - 1]:
            continue
        if hi[row] < hi[row - 1] or lo[row] < lo[row - 1]:
            return False
        if lo[row] > lo[row - 1]:
            continue
        first, second, last = offsets[row - 1], offsets[row], offsets[row + 1]
        while first < offsets[row] and second < last and leaves[first] == leaves[second]:
            first += 1
            second += 1
        if second == last or (first < offsets[row] and leaves[first] > leaves[second]):
            return False
    return True


@compiled
def stand_in_order(rows, instants, bounds, data):
    """Whether rows come each after the one before, and so do their ids, which are none of them empty, as with counters.

    So there are neither ties between these rows, nor are any of them repeated.
    """
    return go_over(rows, instants, bounds, data, False, 0, 0, 0, rows) >= 0


@compiled
def copy_in_order(rows, instants, bounds, data, when, ends, out, beside):
    """Copies the instants and the ids of rows while it is asked whether they stand in order; -1 if they do not.

    Otherwise returns the length of all ids. They are written as whole words, so that ``out`` has a word to spare.
    ``beside`` has the addresses of more columns of 64 bits, each with that of where its rows are copied to.
    """
    return go_over(rows, instants, bounds, data, True, when.ctypes.data, ends.ctypes.data, out.ctypes.data, beside)


@inlined
def go_over(rows, instants, bounds, data, copies, when, bounds_there, out, beside):
    """How long the ids of rows are together that stand in order, -1 for others; ``copies`` is said by a constant."""
    address, size, edges, last = data.ctypes.data, data.shape[0], bounds.ctypes.data, rows.shape[0] - 1
    given, times, more = pointer(instants.ctypes.data), pointer(when), pointer(beside.ctypes.data)
    columns = 2 * (beside.shape[0] // 2) if copies else 0
    before, begin, end, word, length = np.int64(0), np.int64(0), np.int64(0), np.uint64(0), np.int64(0)
    if copies:
        put_half_word(bounds_there, np.int32(0))
    for number in range(last + 1):
        further = rows[min(number + 2 * AHEAD, last)]
        ask_ahead(rows[min(number + AHEAD, last)], further, edges, address)
        prefetch(given, further)
        ask_beside(further, columns, more)
        instant, (begins, stops) = given[rows[number]], text_of(rows[number], edges)
        here, size_before = word_of(begins, stops, address, size), end - begin
        following = turned(here)
        if stops == begins or (number > 0 and (instant <= before or stops - begins < size_before)):
            return -1
        if number > 0 and stops - begins == size_before:
            if following < word:
                return -1
            rest = size_before - WORD
            if following == word and not is_after(begins + WORD, begin + WORD, rest, address, size):
                return -1
        if copies:
            times[number] = instant
            copy_beside(rows[number], number, columns, more)
            put_word(out + length, here)
            for place in range(WORD, stops - begins, WORD):
                put_word(out + length + place, word_of(begins + place, stops, address, size))
            length += stops - begins
            put_half_word(bounds_there + 4 * (number + 1), np.int32(length))
        before, begin, end, word = instant, begins, stops, following
    return length


@inlined
def ask_beside(row, columns, more):
    """Asks for a row to come of more columns."""
    for column in range(0, columns, 2):
        prefetch(pointer(more[column]), row)


@inlined
def copy_beside(row, number, columns, more):
    """Copies a row of more columns."""
    for column in range(0, columns, 2):
        pointer(more[column + 1])[number] = pointer(more[column])[row]


@inlined
def text_of(row, edges):
    """Where a text begins and ends; ``edges`` is the address of the places where texts begin."""
    both = word_at(edges + 4 * row)
    return np.int64(both & np.uint64(0xFFFFFFFF)), np.int64(both >> np.uint64(32))


@inlined
def word_of(begin, end, address, size):
    """The bytes of a text from a place on that fit into a word, the first one lowest; ``size`` is that of all texts."""
    if begin + WORD <= size:
        word = word_at(address + begin)
        return word if begin + WORD <= end else word & ((np.uint64(1) << np.uint64(8 * (end - begin))) - np.uint64(1))
    word = np.uint64(0)
    for place in range(min(end - begin, WORD)):
        word |= np.uint64(byte_at(address + begin + place)) << np.uint64(8 * place)
    return word


@inlined
def ask_ahead(soon, later, edges, address):
    """Asks for the texts of two rows to come, which are all over the place: where one is, and for one itself."""
    prefetch(pointer(edges + 4 * later), 0)
    begin, _ = text_of(soon, edges)
    prefetch(pointer(address + begin), 0)


@inlined
def is_after(one, other, length, address, size):
    """Whether the bytes from one place on are after as many from another."""
    for start in range(0, length, WORD):
        first = word_of(one + start, one + length, address, size)
        second = word_of(other + start, other + length, address, size)
        if first != second:
            return turned(first) > turned(second)
    return False


@inlined
def turned(word):
    """A word with its bytes in the opposite order."""
    for by, mask in (
        (np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
        (np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
        (np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
    ):
        word = ((word >> by) & mask) | ((word & mask) << by)
    return word
