"""Rows that a column of whole numbers or texts shares out among instances: laid out as places, stretch by stretch.

Plain programs are stepped over a stretch as soon as it is laid out, while it is in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.engine import memory as m
from penstock.engine.compiled import compiled, inlined
from penstock.engine.kernel import DONE, consume_plain
from penstock.engine.keys import FARTHEST, SPREAD, Instances, find_slot, make_known, mark_of_value
from penstock.engine.memory import Ints
from penstock.engine.pointers import code_at, half_word_at, layout_of, memory_of, pointer, prefetch, put_half_word
from penstock.engine.slots import number_in

MORE = 3
"""What the kernel says, beside what `kernel.advance` may say, where there is no room for more instances."""
STRETCH = 1 << 9
AHEAD = 32
"""So many rows are laid out while the slot of one is fetched."""

# K: where the columns are, what is known of instances, and how far rows are laid out.
(
    ROWS, CODES, MASKS, KEYS, BEGINS, INSTANTS, FIRST_NUMBER, FIRST_IDENTITY, TOTAL, NEXT_ROW, LAID,
    KINDS, VALUES, SLOTS, SLOT_MASK, NEAR, REACH, LARGEST, ROOM, COUNT, CODE_WIDTH, KIND, STARTS, STATE,
) = range(24)  # fmt: skip
EVERY = -1
"""All sets, as a mask: unless it is said which of them starts hear, any may concern one."""


class Keyed:
    """The rows of a batch that matter, and what says which places they are.

    ``codes`` and ``masks`` are the types of all rows by number and the sets of each type, ``keys`` the kind of what
    shares rows out, and its bits for each of them, ``stamps`` their beginnings and ends, and ``first`` the number and
    the identity of the first symbol.
    """

    def __init__(
        self,
        rows: Ints,
        codes: NDArray[np.int8] | NDArray[np.int32],
        masks: Ints,
        keys: tuple[int, Ints],
        stamps: tuple[Ints, Ints],
        first: tuple[int, int],
    ) -> None:
        kind, bits = keys
        self._known = 0
        self._held: Sequence[NDArray[Any]] = [rows, codes, masks, bits, *stamps]
        self.cells: Ints = np.zeros(m.HEADER, np.int64)
        for cell, array in zip((ROWS, CODES, MASKS, KEYS, BEGINS, INSTANTS), self._held, strict=True):
            self.cells[cell] = array.ctypes.data
        self.cells[FIRST_NUMBER], self.cells[FIRST_IDENTITY] = first
        self.cells[TOTAL], self.cells[LARGEST] = len(rows), -1
        self.cells[CODE_WIDTH], self.cells[KIND], self.cells[STARTS] = codes.itemsize, kind, EVERY

    def __len__(self) -> int:
        return int(self.cells[TOTAL])

    @property
    def left(self) -> int:
        """How many rows are not laid out."""
        return int(self.cells[TOTAL] - self.cells[NEXT_ROW])

    def tell(self, instances: Instances) -> None:
        """Lets the instances be known that were found."""
        if self.cells[COUNT]:
            instances.count = int(self.cells[COUNT])
            instances.reach(int(self.cells[LARGEST]))
        else:
            self._known = instances.count

    def make_room(self, instances: Instances) -> None:
        """Has room for more instances."""
        instances.make_room(STRETCH, self._likely(instances.count))

    def meet(self, instances: Instances, state: Ints | None = None) -> None:
        """Is told which instances are known.

        Where what they hold is ``state``, there is room for so many, and the rows of those that are found are written.
        """
        cells = self.cells
        kinds, values, slots, near = instances.tables
        cells[KINDS], cells[VALUES], cells[SLOTS] = kinds.ctypes.data, values.ctypes.data, slots.ctypes.data
        cells[NEAR] = near.ctypes.data
        cells[SLOT_MASK], cells[REACH], cells[LARGEST] = len(slots) - 1, len(near), -1
        room = m.FAR if state is None else len(state) // m.INSTANCE_WIDTH
        cells[COUNT], cells[ROOM] = instances.count, min(instances.room, room)
        cells[STATE] = 0 if state is None else state.ctypes.data

    def _likely(self, count: int) -> int:
        """How many instances are yet to be found, if rows bring as many as those before did."""
        laid_out = int(self.cells[NEXT_ROW])
        return self.left * (count - self._known) // laid_out if laid_out else 0

    def places(self, instances: Instances) -> Ints:
        """All rows as places."""
        places: Ints = np.empty((len(self), m.PLACE_WIDTH), np.int64)
        self.tell(instances)
        while self.left:
            self.make_room(instances)
            self.meet(instances)
            lay_out_some(self.cells, places)
            self.tell(instances)
        return places


@compiled
def advance_by_key(until, widest, layout, memory, places, parts, values, cells):
    """Consumes rows that are laid out here, as `kernel.advance` consumes places; says how that ended."""
    L, M = layout_of(layout), memory_of(memory)
    P = pointer(places.ctypes.data)
    F = pointer(parts.ctypes.data)
    X = pointer(values.ctypes.data)
    K = pointer(cells.ctypes.data)
    K[STARTS] = L[m.HEAD][m.START_INTEREST]
    while True:
        is_last = K[NEXT_ROW] == K[TOTAL]
        outcome = consume_plain(until if is_last else m.NONE, 0, K[COUNT], widest, K[LAID], L, M, P, F, X)
        if outcome != DONE or is_last:
            return outcome
        if K[COUNT] + STRETCH > K[ROOM] or is_out_of_reach(K):
            return MORE
        K[LAID] = lay_out(K, P)
        M[m.COUNTS][m.CURSOR] = 0


@compiled
def lay_out_some(cells, places):
    """Lays out all rows, one stretch behind the other, while there is room for more instances."""
    K = pointer(cells.ctypes.data)
    start = places.ctypes.data
    while K[NEXT_ROW] < K[TOTAL] and K[COUNT] + STRETCH <= K[ROOM] and not is_out_of_reach(K):
        lay_out(K, pointer(start + K[NEXT_ROW] * m.PLACE_WIDTH * 8))


@inlined
def is_out_of_reach(K):
    """Whether a key had to be looked up that would stand in a longer list of small numbers."""
    return K[REACH] <= K[LARGEST] < min(FARTHEST, SPREAD * K[COUNT])


@compiled
def lay_out(K, P):
    """Lays out the next stretch, and finds the instances of its rows by their keys; returns how many places there are.

    What concerns no start concerns nobody if its key was not seen before, and becomes no place.
    """
    rows, masks, keys = pointer(K[ROWS]), pointer(K[MASKS]), pointer(K[KEYS])
    begins, instants = pointer(K[BEGINS]), pointer(K[INSTANTS])
    codes, width, starts = K[CODES], K[CODE_WIDTH], K[STARTS]
    start, end = K[NEXT_ROW], min(K[NEXT_ROW] + STRETCH, K[TOTAL])
    table, mask, kinds, values = pointer(K[SLOTS]), K[SLOT_MASK], pointer(K[KINDS]), pointer(K[VALUES])
    near, reach, count, largest = K[NEAR], np.uint64(K[REACH]), K[COUNT], K[LARGEST]
    kind, state = K[KIND], pointer(K[STATE])
    writes = K[STATE] != 0
    laid = 0
    for asked in range(start, end + AHEAD):
        if asked < end:
            value = keys[rows[asked]]
            place = (asked - start) * m.PLACE_WIDTH
            number = np.int64(half_word_at(near + 4 * value)) if np.uint64(value) < reach else -1
            P[place + m.INSTANCE] = number
            if number < 0:
                mark = mark_of_value(kind, value)
                P[place + m.IDENTITY] = mark
                prefetch(table, mark & mask)
            further = rows[min(asked + 2 * AHEAD, K[TOTAL] - 1)]
            prefetch(keys, further)
            prefetch(instants, further)
        at = asked - AHEAD
        if at < start:
            continue
        row, place = rows[at], (at - start) * m.PLACE_WIDTH
        number, sets = P[place + m.INSTANCE], masks[code_at(codes, row, width)]
        if number < 0:
            value, mark = keys[row], P[place + m.IDENTITY]
            slot = find_slot(mark, value, mask, table, values)
            number = number_in(table[slot])
            if number == 0:
                if not sets & starts:
                    continue
                number = count
                make_known(slot, mark, number, kind, value, table, kinds, values)
                if writes:
                    for column in range(m.INSTANCE_WIDTH):
                        state[number * m.INSTANCE_WIDTH + column] = 0
                count += 1
            largest = max(largest, value)
            if np.uint64(value) < reach:
                put_half_word(near + 4 * value, np.int32(number))
        place = laid * m.PLACE_WIDTH
        P[place + m.INSTANCE] = number
        P[place + m.PLACE] = at
        P[place + m.INSTANT] = instants[row]
        P[place + m.BEGINS] = begins[row]
        P[place + m.PLACE_SYMBOL] = K[FIRST_NUMBER] + at
        P[place + m.SETS] = sets
        P[place + m.SIDE] = -1
        P[place + m.IDENTITY] = K[FIRST_IDENTITY] + at
        laid += 1
    K[NEXT_ROW], K[COUNT], K[LARGEST] = end, count, largest
    return laid
