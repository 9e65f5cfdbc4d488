"""Picks the rows that matter out of a batch, in one pass over its types, and lays them out as places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine import memory as m
from penstock.engine.bits import BYTES, equal_bytes, number_of_bits, place_of_lowest
from penstock.engine.compiled import compiled
from penstock.engine.memory import Ints
from penstock.engine.pointers import pointer

BITS = 63
FEW = 16
"""So many types are looked for one after the other."""
TOGETHER = 8
"""So many rows are written at once."""


@dataclass(frozen=True)
class Picked:
    """The rows of a table whose types are wanted; ``wanted`` says it of each name in its dictionary of types."""

    wanted: NDArray[np.bool_]
    rows: Ints

    def between(self, start: int, end: int) -> Picked:
        """The same for a slice of the table.

        >>> Picked(np.array([True]), np.array([2, 5, 9])).between(4, 9).rows
        array([1])
        """
        if not start and (not len(self.rows) or self.rows[-1] < end):
            return self
        first, last = np.searchsorted(self.rows, (start, end))
        return Picked(self.wanted, self.rows[first:last] - start if start else self.rows[first:last])


@compiled
def choose(codes, wanted):
    """The rows whose type is wanted; ``codes`` are types by number."""
    some = np.flatnonzero(wanted)
    if codes.itemsize == 1 and len(some) <= FEW:
        return choose_by_bytes(codes, some)
    if len(wanted) <= BITS:
        return choose_by_bits(codes, wanted)
    rows = np.empty(len(codes), np.int64)
    count = 0
    for row in range(len(codes)):
        rows[count] = row
        count += wanted[codes[row]]
    return rows[:count].copy()


@compiled
def choose_by_bytes(codes, some):
    """The same where a few types are wanted, each of which takes a byte."""
    total, start = len(codes), codes.ctypes.data
    rows = np.empty(total + BYTES, np.int64)  # memory is taken only as far as it is written
    found = pointer(rows.ctypes.data)
    count, whole = np.int64(0), total - total % BYTES
    for row in range(0, whole, BYTES):
        left = np.uint64(0)
        for code in some:
            left |= equal_bytes(start + row, np.int8(code))
        at = count
        count += number_of_bits(left)
        while left != 0:
            for place in range(TOGETHER):  # those too many are overwritten: how many there are cannot be foreseen
                found[at + place] = row + place_of_lowest(left)
                left &= left - np.uint64(1)
            at += TOGETHER
    for row in range(whole, total):
        for code in some:
            if codes[row] == code:
                found[count] = row
                count += 1
    return rows[:count]


@compiled
def choose_by_bits(codes, wanted):
    """The same where the types that are wanted are bits of one word."""
    bits = np.int64(0)
    for code in range(len(wanted)):
        bits |= np.int64(wanted[code]) << code
    rows = np.empty(len(codes) + 1, np.int64)  # memory is taken only as far as it is written
    found = pointer(rows.ctypes.data)
    count = np.int64(0)
    for row in range(len(codes)):
        found[count] = row
        count += (bits >> np.int64(codes[row])) & 1
    return rows[:count]


@compiled
def masks_of(codes, rows, masks):
    """The mask of each row's type."""
    found = np.empty(len(rows), np.int64)
    for at in range(len(rows)):
        found[at] = masks[codes[rows[at]]]
    return found


@compiled
def places_of(symbols, rows, instants, begins, owners, sets, first_number, first_identity):
    """Places without composites of sides: one for each symbol, which may concern several instances.

    A symbol is the number of a row among ``rows``, those that were chosen.
    """
    count = len(symbols)
    places = np.empty((count, m.PLACE_WIDTH), np.int64)
    place = -1
    for at in range(count):
        symbol = symbols[at]
        if at == 0 or symbol != symbols[at - 1]:
            place += 1
        places[at, m.PLACE] = place
        places[at, m.INSTANT] = instants[rows[symbol]]
        places[at, m.BEGINS] = begins[rows[symbol]]
        places[at, m.INSTANCE] = owners[at]
        places[at, m.PLACE_SYMBOL] = first_number + symbol
        places[at, m.SETS] = sets[at]
        places[at, m.SIDE] = -1
        places[at, m.IDENTITY] = first_identity + symbol
    return places
