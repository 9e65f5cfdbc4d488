"""Some rows of columns of text as one column, and whether rows stand in order as they are: one pass each."""

from __future__ import annotations

import numpy as np

from penstock.engine.compiled import compiled, inlined
from penstock.engine.pointers import pointer, prefetch, put_word, word_at

WORD = 8
AHEAD = 16
"""So many rows pass while the processor fetches one."""


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
    source, target, size = data.ctypes.data, out.ctypes.data, data.shape[0]
    for number in range(rows.shape[0]):
        ask_ahead(number, rows, bounds, source)
        begin, end = np.int64(bounds[rows[number]]), np.int64(bounds[rows[number] + 1])
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
def are_in_order(hi, lo, offsets, leaves):
    """Whether composites stand in the order of results: by the ends of their stamps, then by their leaves."""
    for row in range(1, hi.shape[0]):
        if hi[row] > hi[row - 1]:
            continue
        if hi[row] < hi[row - 1] or lo[row] < lo[row - 1]:
            return False
        if lo[row] == lo[row - 1] and not are_before(row, offsets, leaves):
            return False
    return True


@compiled
def are_before(row, offsets, leaves):
    """Whether the leaves before a row's come before them."""
    first, second, last = offsets[row - 1], offsets[row], offsets[row + 1]
    middle = second
    while first < middle and second < last:
        if leaves[first] != leaves[second]:
            return leaves[first] < leaves[second]
        first += 1
        second += 1
    return first == middle and second < last


@compiled
def stand_in_order(rows, instants, bounds, data):
    """Whether rows come each after the one before, and so do their ids, like those of a counter.

    So there are neither ties between these rows, nor are any of them repeated.
    """
    address, size, count = data.ctypes.data, data.shape[0], rows.shape[0]
    for number in range(1, count):
        ask_ahead(number, rows, bounds, address)
        prefetch(pointer(instants.ctypes.data), rows[min(number + 2 * AHEAD, count - 1)])
        row, before = rows[number], rows[number - 1]
        if instants[row] <= instants[before]:
            return False
        length = bounds[row + 1] - bounds[row]
        shorter = bounds[before + 1] - bounds[before]
        if length < shorter:
            return False
        if length == shorter and not is_after(bounds[row], bounds[before], length, address, size, data):
            return False
    return True


@inlined
def ask_ahead(number, rows, bounds, address):
    """Asks for the texts of rows to come, which are all over the place: where they are, and a little later for them."""
    last = rows.shape[0] - 1
    prefetch(pointer(bounds.ctypes.data + 4 * rows[min(number + 2 * AHEAD, last)]), 0)
    prefetch(pointer(address + np.int64(bounds[rows[min(number + AHEAD, last)]])), 0)


@compiled
def is_after(one, other, length, address, size, data):
    """Whether the bytes from one place on are after as many from another."""
    for start in range(0, length, WORD):
        end = min(start + WORD, length)
        if one + start + WORD <= size and other + start + WORD <= size:
            first, second = word_at(address + one + start), word_at(address + other + start)
            if end - start < WORD:
                mask = (np.uint64(1) << np.uint64(8 * (end - start))) - np.uint64(1)
                first, second = first & mask, second & mask
            if first != second:
                return turned(first) > turned(second)
            continue
        for place in range(start, end):
            if data[one + place] != data[other + place]:
                return data[one + place] > data[other + place]
    return False


@compiled
def turned(word):
    """A word with its bytes in the opposite order."""
    for by, mask in (
        (np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
        (np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
        (np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
    ):
        word = ((word >> by) & mask) | ((word & mask) << by)
    return word
