"""Tables in which numbers are found by the hashes of what they stand for: a word a slot, empty ones are 0.

A word has a number, which is not 0, in its lower 31 bits, and the upper 33 bits of the hash in its own. These are its
*mark*: it says in which slot to begin, and that most others are not meant. Whoever finds the mark must still compare,
unless what has this mark is known to be one thing only.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.compiled import compiled, inlined
from penstock.engine.memory import Ints
from penstock.engine.spare import SPARE

BITS = 31
LOWER = (1 << BITS) - 1


def no_slots(least: int) -> Ints:
    """An empty table, at least so long."""
    return SPARE.blank(1 << (least - 1).bit_length())


@inlined
def mark_of(whole):
    """What a table keeps of a hash."""
    return whole >> BITS


@inlined
def slot_word(mark, number):
    """What stands in the slot of a number."""
    return (mark << BITS) | number


@inlined
def number_in(word):
    """The number of a slot's word."""
    return word & LOWER


@inlined
def free_slot(mark, mask, table):
    """The first empty slot for a mark."""
    slot = mark & mask
    while table[slot] != 0:
        slot = (slot + 1) & mask
    return slot


@compiled
def move_slots(before, after):
    """Enters what one table has into an empty one, which is longer.

    In the order of the one, places in the other are near each other.
    """
    mask = np.int64(after.shape[0] - 1)
    words = np.empty(before.shape[0] + 1, np.int64)
    count = np.int64(0)
    for place in range(before.shape[0]):  # whether a slot is empty cannot be foreseen, so nothing depends on it
        words[count] = before[place]
        count += before[place] != 0
    for number in range(count):
        after[free_slot(mark_of(words[number]), mask, after)] = words[number]
