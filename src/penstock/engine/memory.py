"""Everything that the kernel works on, as flat arrays of 64-bit integers.

An array begins with a header of counts and of the places at which its tables begin, so that functions of the
kernel pass on five arrays and nothing else. The names of header cells and columns are the constants here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
NONE = np.iinfo(np.int64).min
"""No stamp, no deadline."""
FAR = np.iinfo(np.int64).max
HEADER = 64

# L, the layout: what the program says.
(
    PLAIN_SETS, DISTINCT_RUNS, RESTART, STARTS, POSITIONS, TIMERS, LIMITS, SELECTS,
    SET_START, SET_END,
    POSITION_LABEL, POSITION_WRITTEN, POSITION_SCOPE, POSITION_NEGATED, POSITION_SIDE, POSITION_SIDES,
    POSITION_TICKS, POSITION_SETS, POSITION_LABELS, POSITION_LIMITS, POSITION_WAITING,
    STATE_FIRST, STATE_COUNT, STATE_HEARS, STATE_INTEREST, STATE_START_INTEREST, STATE_STRONG, STATE_WAITING,
    OPTION_POSITION, OPTION_STRONG, OPTION_ENTERS, START_STATES,
    ALTERNATIVE_FIRST, ALTERNATIVE_COUNT, ALTERNATIVE_END, ALTERNATIVE_GUARDS, ALTERNATIVE_STATES, STATE_TABLE,
    GUARD_START, GUARD_END, TIMER_KIND, TIMER_VALUE, TIMER_ORDER, LIMIT_LENGTH, SELECT_START, SELECT_END,
    CODE, SIMPLE,
) = range(48)  # fmt: skip

# M, the memory: what changes. Counts first, then tables.
(
    FREE_RUNS, NODES, COMPOSITES, CURSOR, RESUME, NEED_RUNS, NEED_NODES, KNOWN, EPOCH, SINCE, LIVE, NOW,
    WIDTH, RUN_ROOM, NODE_ROOM, MADE_ROOM, QUEUE_ROOM, TABLE_MASK,
    RUNS, FREE, INSTANCE_FIRST, INSTANCE_RUNS, INSTANCE_DEAD,
    NODE_SYMBOL, NODE_PARENT, NODE_LABELS, NODE_HASH,
    QUEUE_DEADLINE, QUEUE_INSTANCE, QUEUE_FIRST, QUEUE_LAST,
    MADE_INSTANCE, MADE_LO, MADE_HI, MADE_NODE, MADE_PLACE, MADE_HASH, MADE_KINDS, MADE_VALUES,
    TABLE, TABLE_EPOCH, SCRATCH,
) = range(42)  # fmt: skip
MEMORY_COUNTS = 18

# Columns of a run; after them come one deadline for each timer and one beginning for each limit.
NEXT, STATE, PREVIOUS, LO, HEAD, REMAINING, BASE, HASH = range(8)
FIXED = 8

# P, the places: a batch of symbols in order.
P_COUNT, P_PLACE, P_INSTANT, P_LO, P_INSTANCE, P_SYMBOL, P_SETS, P_SIDE = range(8)
PLACE_COLUMNS = (P_PLACE, P_INSTANT, P_LO, P_INSTANCE, P_SYMBOL, P_SETS, P_SIDE)

# F, the parts of sides' composites among those symbols.
SIDE_FIRST, SIDE_LAST, PART_SYMBOL, PART_LABELS = range(4)

# X, what conditions and clocks read.
(
    SYMBOL_BASE, COLUMNS, PARAMETERS, SYMBOL_KINDS, SYMBOL_VALUES, INSTANCE_KINDS, INSTANCE_VALUES,
    CONSTANT_KINDS, CONSTANTS, POOL_OFFSETS, POOL_BYTES, CLOCK_FIRST, CLOCK_INSTANTS,
) = range(13)  # fmt: skip


def pack(counts: Mapping[int, int], tables: Mapping[int, Sequence[int] | Ints]) -> Ints:
    """One array with a header: counts in their cells, and in each table's cell where the table begins."""
    arrays = {cell: np.asarray(table).ravel() for cell, table in tables.items()}
    flat = blank({cell: len(array) for cell, array in arrays.items()})
    for cell, count in counts.items():
        flat[cell] = count
    for cell, array in arrays.items():
        table(flat, cell, len(array))[:] = array
    return flat


def blank(lengths: Mapping[int, int]) -> Ints:
    """One array with a header, and zeros for tables of these lengths."""
    flat = np.zeros(HEADER + sum(lengths.values()), np.int64)
    place = HEADER
    for cell, length in lengths.items():
        flat[cell] = place
        place += length
    return flat


def table(flat: Ints, cell: int, length: int) -> Ints:
    """A table of a packed array, as a view."""
    start = int(flat[cell])
    return flat[start : start + length]
