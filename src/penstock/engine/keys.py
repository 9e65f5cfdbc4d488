"""Instances by number: each combination of parameter values that occurs gets the next one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.engine import memory as m
from penstock.engine import vm
from penstock.engine.compiled import compiled, inlined
from penstock.engine.memory import Ints
from penstock.engine.pointers import pointer, prefetch
from penstock.engine.vm import mix

STRETCH = 1 << 12
AHEAD = 32
"""So many slots are fetched together."""
NEAR = 1 << 12, 1 << 17
"""For how many small numbers their instances stand in a list, at first and at most."""
SPREAD = 8
"""That list is at most so many times as long as there are instances."""


class Instances:
    """The instances of a definition. Number 0 stands for all whose values have not been seen.

    ``floats`` are the parameters some of whose values come from a column of floats.
    """

    def __init__(self, parameters: int) -> None:
        self.kinds: Ints = np.zeros((1024, parameters), np.int64)
        self.values: Ints = np.zeros((1024, parameters), np.int64)
        self.count = 1
        self.floats: set[int] = set()
        self._slots: Ints = np.full((4096, 2), -1, np.int64)
        self._near = _nowhere(NEAR[0])
        self._only_kind: int | None = 0
        self._places: Ints = np.empty((0, m.PLACE_WIDTH), np.int64)

    def numbers(self, key: list[tuple[Ints | int, Ints]]) -> Ints:
        """The instance of each row; ``key`` has the kinds (or one for all) and bits of each parameter's values.

        A row in which one is null is in none, -1.
        """
        if len(key) == 1 and isinstance(key[0][0], int) and self._only_kind in (0, key[0][0]):
            self._only_kind = key[0][0]
            return self._found(key[0][0], key[0][1])
        self._only_kind = None
        count = len(key[0][1])
        kinds = np.stack([np.broadcast_to(kind, count) for kind, _ in key], axis=1)
        values = np.stack([bits for _, bits in key], axis=1)
        found = np.empty(count, np.int64)
        for start in range(0, count, STRETCH):
            some = slice(start, start + STRETCH)
            self.make_room(len(kinds[some]))
            self.count = find(kinds[some], values[some], self.kinds, self.values, self.count, self._slots, found[some])
        return found

    def _found(self, kind: int, values: Ints) -> Ints:
        """The same for one parameter whose values are all of one kind."""
        found = np.empty(len(values), np.int64)
        if kind == 0:
            found[:] = -1
            return found
        for start in range(0, len(values), STRETCH):
            some = slice(start, start + STRETCH)
            self.make_room(len(values[some]))
            self.count = find_one(kind, values[some], self.kinds, self.values, self.count, self._slots, found[some])
        return found

    def takes_one(self, kind: int) -> bool:
        """Whether there is one parameter, all of whose values are of this kind so far."""
        return self.kinds.shape[1] == 1 and self._only_kind in (0, kind)

    def places(
        self, rows: Ints, codes: Ints, masks: Ints, keys: Ints, stamps: tuple[Ints, Ints], first: tuple[int, int]
    ) -> Ints:
        """Places of rows that concern one instance each, by integers in ``keys``; ``masks`` are sets by type.

        ``stamps`` are all rows' beginnings and ends, ``first`` the number and identity of the first place's symbol.
        What is returned is good until the next call.
        """
        self._only_kind = vm.INTEGER
        if len(rows) > len(self._places):
            self._places = np.empty((len(rows) + len(rows) // 4, m.PLACE_WIDTH), np.int64)
        for start in range(0, len(rows), STRETCH):
            end = min(start + STRETCH, len(rows))
            self.make_room(end - start)
            known = self.kinds, self.values, self._slots, self._near
            self.count, largest = place_by_key(
                start, end, rows, codes, masks, keys, known, self.count, stamps, *first, self._places
            )
            if len(self._near) <= largest < min(NEAR[1], SPREAD * self.count):
                self._near = np.concatenate([self._near, _nowhere((1 << largest.bit_length()) - len(self._near))])
        return self._places[: len(rows)]

    @property
    def only_kind(self) -> int | None:
        """The kind of all values, if there is one parameter and all its values are of the same kind."""
        return self._only_kind or None

    def make_room(self, more: int) -> None:
        """Room for so many more instances."""
        while self.count + more > len(self.kinds):
            self.kinds = np.concatenate([self.kinds, np.zeros_like(self.kinds)])
            self.values = np.concatenate([self.values, np.zeros_like(self.values)])
        if 2 * (self.count + more) > len(self._slots):
            self._rehash(1 << (4 * (self.count + more)).bit_length())

    def _rehash(self, slots: int) -> None:
        self._slots = np.full((slots, 2), -1, np.int64)
        rehash(self.kinds, self.values, self.count, self._slots)

    def keep(self, kept: Ints) -> None:
        """Forgets all instances but these, which get the numbers of their places; the first is 0."""
        self.kinds[: len(kept)], self.values[: len(kept)] = self.kinds[kept], self.values[kept]
        self.count = len(kept)
        self._near[:] = -1
        self._rehash(max(4096, 1 << (4 * self.count).bit_length()))


def _nowhere(count: int) -> NDArray[np.int32]:
    """A list for small numbers of whose instances nothing is known."""
    return np.full(count, -1, np.int32)


@compiled
def row_hash(kinds, values, row):
    """A hash of a row of values."""
    whole = 0
    for column in range(kinds.shape[1]):
        whole = mix(mix(whole, kinds[row, column]), values[row, column])
    return whole


@compiled
def rehash(kinds, values, count, slots):
    """Enters all known instances into an empty table of numbers and hashes."""
    mask = slots.shape[0] - 1
    for number in range(1, count):
        whole = row_hash(kinds, values, number)
        slot = whole & mask
        while slots[slot, 0] >= 0:
            slot = (slot + 1) & mask
        slots[slot, 0] = number
        slots[slot, 1] = whole


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
        whole = row_hash(kinds, values, row)
        slot = whole & mask
        while found[row] < 0:
            number = slots[slot, 0]
            if number < 0:
                slots[slot, 0] = count
                slots[slot, 1] = whole
                for column in range(width):
                    known_kinds[count, column] = kinds[row, column]
                    known_values[count, column] = values[row, column]
                found[row] = count
                count += 1
            elif slots[slot, 1] == whole:
                same = True
                for column in range(width):
                    same = (
                        same
                        and known_kinds[number, column] == kinds[row, column]
                        and known_values[number, column] == values[row, column]
                    )
                if same:
                    found[row] = number
            slot = (slot + 1) & mask
    return count


@inlined
def find_hashed(whole, kind, value, mask, table, known_kinds, known_values, count):
    """The number of the instance with this hash, which no other value has; and how many there are then."""
    slot = whole & mask
    while table[2 * slot] >= 0 and table[2 * slot + 1] != whole:
        slot = (slot + 1) & mask
    number = table[2 * slot]
    if number < 0:
        number = count
        table[2 * slot] = count
        table[2 * slot + 1] = whole
        known_kinds[count] = kind
        known_values[count] = value
        count += 1
    return number, count


@compiled
def place_by_key(start, end, rows, codes, masks, keys, known, count, stamps, first_number, first_identity, places):
    """Finds the instances of some rows by their keys, as `find_one` does, and lays the rows out as places.

    Returns how many instances there are then, and the largest key that had to be looked up, which is slower than to
    find it in the list of small numbers.
    """
    kinds, values, slots, near = known
    known_kinds, known_values = pointer(kinds.ctypes.data), pointer(values.ctypes.data)
    begins, instants = stamps
    mask = slots.shape[0] - 1
    kind = vm.INTEGER
    seed = mix(0, kind)
    table, given = pointer(slots.ctypes.data), pointer(places.ctypes.data)
    numbers, ends = pointer(keys.ctypes.data), pointer(instants.ctypes.data)
    reach = np.uint64(near.shape[0])
    largest = -1
    for first in range(start, end, AHEAD):
        last = min(end, first + AHEAD)
        missed = False
        for at in range(first, last):
            value = keys[rows[at]]
            number = np.int64(near[value]) if np.uint64(value) < reach else -1
            given[at * m.PLACE_WIDTH + m.INSTANCE] = number
            if number < 0:
                missed = True
                whole = mix(seed, value)
                given[at * m.PLACE_WIDTH + m.IDENTITY] = whole
                prefetch(table, 2 * (whole & mask))
            further = rows[min(at + 2 * AHEAD, end - 1)]
            prefetch(numbers, further)
            prefetch(ends, further)
        if missed:
            for at in range(first, last):
                if given[at * m.PLACE_WIDTH + m.INSTANCE] < 0:
                    value, whole = keys[rows[at]], given[at * m.PLACE_WIDTH + m.IDENTITY]
                    largest = max(largest, value)
                    number, count = find_hashed(whole, kind, value, mask, table, known_kinds, known_values, count)
                    given[at * m.PLACE_WIDTH + m.INSTANCE] = number
                    if np.uint64(value) < reach:
                        near[value] = number
        for at in range(first, last):
            row, place = rows[at], at * m.PLACE_WIDTH
            given[place + m.PLACE] = at
            given[place + m.INSTANT] = instants[row]
            given[place + m.BEGINS] = begins[row]
            given[place + m.PLACE_SYMBOL] = first_number + at
            given[place + m.SETS] = masks[codes[row]]
            given[place + m.SIDE] = -1
            given[place + m.IDENTITY] = first_identity + at
    return count, largest


@compiled
def find_one(kind, values, known_kinds, known_values, count, slots, found):
    """The same for one parameter whose values are all of one kind, none of them null.

    The hash of one value is one-to-one, so that equal hashes are equal values.
    """
    mask = slots.shape[0] - 1
    seed = mix(0, kind)
    table = pointer(slots.ctypes.data)
    all_kinds, all_values = pointer(known_kinds.ctypes.data), pointer(known_values.ctypes.data)
    for start in range(0, len(values), AHEAD):
        end = min(len(values), start + AHEAD)
        for row in range(start, end):
            found[row] = mix(seed, values[row])
            prefetch(table, (found[row] & mask) * 2)
        for row in range(start, end):
            found[row], count = find_hashed(found[row], kind, values[row], mask, table, all_kinds, all_values, count)
    return count
