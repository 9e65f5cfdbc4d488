"""Instances by number: each combination of parameter values that occurs gets the next one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.engine.compiled import compiled, inlined
from penstock.engine.memory import Ints
from penstock.engine.pointers import pointer, prefetch
from penstock.engine.slots import free_slot, mark_of, move_slots, no_slots, number_in, slot_word
from penstock.engine.spare import SPARE
from penstock.engine.vm import mix

STRETCH = 1 << 12
ROOM, SLOTS = 1 << 10, 1 << 11
"""For how many instances there is room at first, and how long the table is in which they are found."""
AHEAD = 32
"""So many slots are fetched together."""
NEAR, FARTHEST = 1 << 12, 1 << 17
"""For how many small numbers their instances stand in a list, at first and at most."""
FASTEST = 16
"""The table of instances becomes at most so many times as long at once, whatever is likely: a long one is slow."""
SPREAD = 8
"""That list is at most so many times as long as there are instances."""
SMALL = np.uint64((1 << 32) - 1)
LARGE = -1 << 32
"""The largest value that is said by its mark, and what the marks of others have."""


class Instances:
    """The instances of a definition. Number 0 stands for all whose values have not been seen.

    ``floats`` are the parameters some of whose values come from a column of floats.
    """

    def __init__(self, parameters: int) -> None:
        self.kinds: Ints = np.zeros((ROOM, parameters), np.int64)
        self.values: Ints = np.zeros((ROOM, parameters), np.int64)
        self.count = 1
        self.floats: set[int] = set()
        self._slots = no_slots(SLOTS)
        self._near = _nowhere(NEAR)
        self._only_kind: int | None = 0

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

    @property
    def room(self) -> int:
        """For how many instances there is room in all."""
        return min(len(self.kinds), len(self._slots) // 2)

    @property
    def tables(self) -> tuple[Ints, Ints, Ints, NDArray[np.int32]]:
        """Kinds and values of instances, where to look for them by hashes, and those of small numbers."""
        return self.kinds, self.values, self._slots, self._near

    def take_one(self, kind: int) -> None:
        """All values are of this kind."""
        self._only_kind = kind

    def reach(self, largest: int) -> None:
        """Makes the list of small numbers longer, if a number that had to be looked up is worth it."""
        if len(self._near) <= largest < min(FARTHEST, SPREAD * self.count):
            self._near = np.concatenate([self._near, _nowhere((1 << largest.bit_length()) - len(self._near))])

    @property
    def only_kind(self) -> int | None:
        """The kind of all values, if there is one parameter and all its values are of the same kind."""
        return self._only_kind or None

    def make_room(self, more: int, likely: int = 0) -> None:
        """Room for so many more instances, and if there is too little for as many as are likely to come."""
        if self.count + more > self.room:
            wanted = min(2 * (self.count + likely), FASTEST * len(self._slots))
            before, self._slots = self._slots, no_slots(max(4 * (self.count + more), wanted))
            move_slots(before, self._slots)
            room, known = len(self._slots) // 2, slice(self.count)
            self.kinds, self.values = (_with_room(some[known], room) for some in (self.kinds, self.values))

    def keep(self, kept: Ints) -> None:
        """Forgets all instances but these, which get the numbers of their places; the first is 0.

        Half of the room is kept for others.
        """
        self.count = len(kept)
        room = max(ROOM, 2 * len(kept), len(self.kinds) // 2)
        self.kinds, self.values = (_with_room(some[kept], room) for some in (self.kinds, self.values))
        self.rehash()

    def rehash(self) -> None:
        """Enters all instances anew, after their numbers or values have changed."""
        self._near = _nowhere(NEAR)
        self._slots = no_slots(max(SLOTS, 2 * self.count, len(self._slots) // 2))
        rehash(self.kinds, self.values, self.count, self._slots)


def _with_room(rows: Ints, room: int) -> Ints:
    """These rows in an array of this length."""
    longer = SPARE.unwritten(room * rows.shape[1]).reshape(room, rows.shape[1])
    longer[: len(rows)] = rows
    return longer


def _nowhere(count: int) -> NDArray[np.int32]:
    """A list for small numbers of whose instances nothing is known."""
    return np.full(count, -1, np.int32)


@inlined
def mark_of_value(kind, value):
    """The mark of a value. Those of small ones of a kind are all different, and those of others are negative."""
    if np.uint64(value) <= SMALL:
        return np.int64(spread(np.uint64(value)))
    return (mix(mix(0, kind), value) >> 32) | LARGE


@inlined
def spread(value):
    """A number below 2 ** 32 for each such number, all over the place for those that are near each other."""
    value ^= value >> np.uint64(16)
    value = (value * np.uint64(0x85EBCA6B)) & SMALL
    value ^= value >> np.uint64(13)
    value = (value * np.uint64(0xC2B2AE35)) & SMALL
    return value ^ (value >> np.uint64(16))


@compiled
def mark_of_row(kinds, values, row):
    """The mark of a row of values."""
    if kinds.shape[1] == 1:
        return mark_of_value(kinds[row, 0], values[row, 0])
    whole = 0
    for column in range(kinds.shape[1]):
        whole = mix(mix(whole, kinds[row, column]), values[row, column])
    return mark_of(whole)


@compiled
def rehash(kinds, values, count, slots):
    """Enters all known instances into an empty table."""
    mask = np.int64(slots.shape[0] - 1)
    for number in range(1, count):
        mark = mark_of_row(kinds, values, number)
        slots[free_slot(mark, mask, slots)] = slot_word(mark, number)


@compiled
def find(kinds, values, known_kinds, known_values, count, slots, found):
    """The number of each row's instance, new ones included; returns how many there are then."""
    mask = np.int64(slots.shape[0] - 1)
    width = kinds.shape[1]
    for row in range(kinds.shape[0]):
        found[row] = -1
        null = False
        for column in range(width):
            null = null or kinds[row, column] == 0
        if null:
            continue
        mark = mark_of_row(kinds, values, row)
        slot = mark & mask
        while found[row] < 0:
            word = slots[slot]
            number = number_in(word)
            if word == 0:
                slots[slot] = slot_word(mark, count)
                for column in range(width):
                    known_kinds[count, column] = kinds[row, column]
                    known_values[count, column] = values[row, column]
                found[row] = count
                count += 1
            elif mark_of(word) == mark:
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
def find_slot(mark, value, mask, table, known_values):
    """Where the instance of a value stands, or would stand; all values are of one kind."""
    slot = mark & mask
    while table[slot] != 0 and not is_meant(table[slot], mark, value, known_values):
        slot = (slot + 1) & mask
    return slot


@inlined
def is_meant(word, mark, value, known_values):
    """Whether a slot's word is that of a value. To ask for the values that are known takes longer than all else."""
    return mark_of(word) == mark and (mark >= 0 or known_values[number_in(word)] == value)


@inlined
def make_known(slot, mark, number, kind, value, table, known_kinds, known_values):
    """Makes an instance known."""
    table[slot] = slot_word(mark, number)
    known_kinds[number] = kind
    known_values[number] = value


@compiled
def find_one(kind, values, known_kinds, known_values, count, slots, found):
    """The same for one parameter whose values are all of one kind, none of them null."""
    mask = np.int64(slots.shape[0] - 1)
    table = pointer(slots.ctypes.data)
    all_kinds, all_values = pointer(known_kinds.ctypes.data), pointer(known_values.ctypes.data)
    for start in range(0, len(values), AHEAD):
        end = min(len(values), start + AHEAD)
        for row in range(start, end):
            found[row] = mark_of_value(kind, values[row])
            prefetch(table, found[row] & mask)
        for row in range(start, end):
            slot = find_slot(found[row], values[row], mask, table, all_values)
            number = number_in(table[slot])
            if number == 0:
                number = count
                make_known(slot, found[row], number, kind, values[row], table, all_kinds, all_values)
                count += 1
            found[row] = number
    return count
