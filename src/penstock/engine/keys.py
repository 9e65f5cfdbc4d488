"""Instances by number: each combination of parameter values that occurs gets the next one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.engine.compiled import compiled
from penstock.engine.vm import mix

Ints = NDArray[np.int64]
STRETCH = 8192


class Instances:
    """The instances of a definition. Number 0 stands for all whose values have not been seen.

    ``floats`` are the parameters some of whose values come from a column of floats.
    """

    def __init__(self, parameters: int) -> None:
        self.kinds: Ints = np.zeros((1024, parameters), np.int64)
        self.values: Ints = np.zeros((1024, parameters), np.int64)
        self.count = 1
        self.floats: set[int] = set()
        self._slots: Ints = np.full(4096, -1, np.int64)

    def numbers(self, kinds: Ints, values: Ints) -> Ints:
        """The instance of each row of values; -1 where one is null."""
        found = np.empty(len(kinds), np.int64)
        for start in range(0, len(kinds), STRETCH):
            some = slice(start, start + STRETCH)
            self._make_room(len(kinds[some]))
            self.count = find(kinds[some], values[some], self.kinds, self.values, self.count, self._slots, found[some])
        return found

    def _make_room(self, more: int) -> None:
        while self.count + more > len(self.kinds):
            self.kinds = np.concatenate([self.kinds, np.zeros_like(self.kinds)])
            self.values = np.concatenate([self.values, np.zeros_like(self.values)])
        if 2 * (self.count + more) > len(self._slots):
            self._slots = np.full(1 << (4 * (self.count + more)).bit_length(), -1, np.int64)
            rehash(self.kinds, self.values, self.count, self._slots)


@compiled
def row_hash(kinds, values, row):
    """A hash of a row of values."""
    whole = 0
    for column in range(kinds.shape[1]):
        whole = mix(mix(whole, kinds[row, column]), values[row, column])
    return whole


@compiled
def rehash(kinds, values, count, slots):
    """Enters all known instances into an empty table."""
    mask = slots.shape[0] - 1
    for number in range(1, count):
        slot = row_hash(kinds, values, number) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = number


@compiled
def find(kinds, values, known_kinds, known_values, count, slots, found):
    """The number of each row's instance, new ones included; returns how many there are then."""
    mask = slots.shape[0] - 1
    width = kinds.shape[1]
    for row in range(kinds.shape[0]):
        found[row] = -1
        null = False
        for column in range(width):
            null = null or kinds[row, column] == 0
        if null:
            continue
        slot = row_hash(kinds, values, row) & mask
        while True:
            number = slots[slot]
            if number < 0:
                slots[slot] = count
                for column in range(width):
                    known_kinds[count, column] = kinds[row, column]
                    known_values[count, column] = values[row, column]
                found[row] = count
                count += 1
                break
            same = True
            for column in range(width):
                same = (
                    same
                    and known_kinds[number, column] == kinds[row, column]
                    and known_values[number, column] == values[row, column]
                )
            if same:
                found[row] = number
                break
            slot = (slot + 1) & mask
    return count
