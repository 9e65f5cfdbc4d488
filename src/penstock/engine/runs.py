"""Codes in pages of Parquet files: runs of one that is repeated, or of several in as few bits as they need."""

from __future__ import annotations

import numpy as np

from penstock.engine.compiled import inlined
from penstock.engine.pointers import byte_at, word_at
from penstock.engine.taking import WORD

MOST_BITS = 32
"""Bits of a code."""
_MOST_SHIFTS = 35


@inlined
def next_run(address, place, size, bits, row):
    """The run at a place, which begins with a row.

    Returns the place behind it, the row behind it, where its codes are if each has its own, and otherwise the code. The
    row is the same if there is no such run.
    """
    head, place = number_at(address, place, size)
    count = head >> 1
    if head < 0:
        return place, row, np.int64(0), np.int64(0)
    if head & 1:
        behind = place + bits * count
        return behind, row + (8 * count if behind <= size else 0), place, np.int64(0)
    behind = place + ((bits + 7) >> 3)
    return behind, row + (count if behind <= size else 0), np.int64(0), code_in(address, place, size, bits, 0)


@inlined
def code_in(address, place, size, bits, number):
    """One of the codes that stand at a place, each in so many bits."""
    bit = number * bits
    word = word_from(address, place + (bit >> 3), size) >> np.uint64(bit & 7)
    return np.int64(word & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1)))


@inlined
def number_at(address, place, size):
    """A number with seven bits in each byte, and the place behind it; −1 where there is none."""
    found, shift = np.int64(0), np.int64(0)
    while place < size and shift < _MOST_SHIFTS:
        byte = np.int64(byte_at(address + place))
        place += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, place
        shift += 7
    return np.int64(-1), place


@inlined
def word_from(address, place, size):
    """The eight bytes from a place on; those behind the end are zeros."""
    if place + WORD <= size:
        return word_at(address + place)
    word = np.uint64(0)
    for byte in range(size - place):
        word |= np.uint64(byte_at(address + place + byte)) << np.uint64(8 * byte)
    return word
