"""Everything that the kernel works on, as flat arrays of 64-bit integers.

The layout (L) says what a program is, the memory (M) is what changes; each is a handful of arrays, whose rows have the
columns named here. The places of a batch (P) are one array. What is read more rarely is packed: an array that begins
with a header of counts and of the places at which its tables begin.
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

# L, the layout: a packed array, then rows of states, options, positions and alternatives.
HEAD, STATES, OPTIONS, POSITIONS, ALTERNATIVES = range(5)
(
    PLAIN_SETS, DISTINCT_RUNS, RESTART, STARTS, POSITION_COUNT, TIMERS, LIMITS, SELECTS, CLOCKED, CONTEXT,
    MOST_RUNS, AGE, MOST_LIVE, REPORTS, HAS_SIDES, START_INTEREST,
    SET_CODE, START_STATES, STATE_TABLE, GUARD_CODE, TIMER_KIND, TIMER_VALUE, TIMER_ORDER, LIMIT_LENGTH, SELECT_CODE,
    CODE, PLAIN, TOGETHER,
) = range(28)  # fmt: skip
# A program is PLAIN that has no conditions to ask of runs, no sides, no selected values and no equal runs, and whose
# runs neither use each other up nor are limited by age or reported. Hashes of its nodes and composites mean nothing.
# It is TOGETHER if it has no timers, and no limit but one around all of it: what its runs have matched begins where the
# limit does, and nothing else tells apart those that wait for the same.
STATE_WIDTH = 16
STATE_FIRST, STATE_LAST, STATE_HEARS, STATE_INTEREST, STATE_START_INTEREST, STATE_STRONG, STATE_WAITING, STATE_KIND, \
    STATE_UNBOUNDED = range(9)  # fmt: skip
OPTION_WIDTH = 16
# All from OPTION_LABEL on says of the position, and of the one state that may follow it, what plain programs need.
(
    OPTION_POSITION, OPTION_STRONG, OPTION_ENTERS, OPTION_LABEL, OPTION_NEGATED, OPTION_WRITTEN, OPTION_HEARD,
    OPTION_TICKS, OPTION_SETS, OPTION_LIMITS, OPTION_INSIDE, OPTION_LABELS, OPTION_ENDS, OPTION_TARGET, OPTION_HEARS,
    OPTION_WAY,
) = range(16)  # fmt: skip
# Runs that go the same WAY have the same labels there and wait for the same then.
POSITION_WIDTH = 16
(
    POSITION_LABEL, POSITION_WRITTEN, POSITION_SCOPE, POSITION_NEGATED, POSITION_SIDE, POSITION_SIDES, POSITION_TICKS,
    POSITION_SETS, POSITION_LABELS, POSITION_LIMITS, POSITION_WAITING, POSITION_FIRST, POSITION_LAST, POSITION_GUARDS,
    POSITION_FIRST_GUARD,
) = range(15)  # fmt: skip
ALTERNATIVE_WIDTH = 4
ALTERNATIVE_END, ALTERNATIVE_GUARDS, ALTERNATIVE_STATES = range(3)

# M, the memory: counts, then rows of runs, their clocks, instances, matched symbols, composites, ended runs, timers.
COUNTS, RUNS, CLOCKS, INSTANCES, NODES, MADE, SELECTED, ENDED, QUEUES, QUEUE_ENDS, TABLE, SCRATCH = range(12)
(
    FREE, FREE_RUNS, NODE_COUNT, MADE_COUNT, ENDED_COUNT, CURSOR, RESUME, NEED_RUNS, NEED_NODES, KNOWN, EPOCH, SINCE,
    TAKEN, LIVE, NOW, TAIL, RUN_ROOM, NODE_ROOM, MADE_ROOM, ENDED_ROOM, QUEUE_ROOM, TABLE_MASK,
    GONE_ON, ALLOWED, FAILED, EXPIRED, DROPPED, REPLACED, OPEN, FIRED,
) = range(30)  # fmt: skip
RUN_WIDTH = 8
NEXT, STATE, PREVIOUS, LO, HEAD_NODE, REMAINING, BASE, BEGAN = range(8)
# BEGAN is the end of the first event, twice, and one more if what the run has matched made a composite.
TOP, LAST_OF_GROUP = REMAINING, BASE
# What these are in runs that move together: the last symbol that a group has matched, and its last run.
INSTANCE_WIDTH = 4
FIRST_RUN, LIVE_RUNS, DEAD, TOUCHED = range(4)
# Row 0 of the runs is in no list. So an instance has no run where FIRST_RUN is 0, as in blank memory, or -1.
NODE_WIDTH = 4
SYMBOL, PARENT, LABELS, HASH = range(4)
AFTER = HASH
# Where runs move together, the symbol that a group has matched after this one.
MADE_WIDTH = 8
MADE_INSTANCE, MADE_LO, MADE_HI, MADE_NODE, MADE_PLACE, MADE_HASH, MADE_CHAIN, MADE_BUCKET = range(8)
# Those that may be equal are in a chain. MADE_BUCKET is one more than the first row of the chain with this number.
FIRINGS = 1 << 8
# A composite's place is -1 − timer, less so many times how often timers had fired: one can fire twice at an instant.
MADE_START, MADE_TOP = MADE_HASH, MADE_CHAIN
# Where runs move together, the symbols from which and to which parts are reached forwards; MADE_NODE is one more part,
# unless it is the same as MADE_TOP.
ENDED_WIDTH = 8
ENDED_INSTANCE, ENDED_LO, ENDED_HI, ENDED_NODE, ENDED_AT, ENDED_REASON = range(6)
QUEUE_WIDTH = 2
DEADLINE, OWNER = range(2)
TABLE_WIDTH = 4
TABLE_EPOCH, TABLE_RUN, TABLE_HASH = range(3)

# P, the places: a batch of symbols in order.
PLACE_WIDTH = 8
PLACE, INSTANT, BEGINS, INSTANCE, PLACE_SYMBOL, SETS, SIDE, IDENTITY = range(8)

# F, packed: the parts of sides' composites among those symbols.
SIDE_FIRST, SIDE_LAST, PART_SYMBOL, PART_LABELS, PART_IDENTITY = range(5)

# X: what conditions and clocks read, as counts and as addresses of arrays.
(
    COLUMNS, PARAMETERS, SYMBOL_KINDS, SYMBOL_VALUES, INSTANCE_KINDS, INSTANCE_VALUES,
    CONSTANT_KINDS, CONSTANTS, POOL_OFFSETS, POOL_BYTES, CLOCK_FIRST, CLOCK_INSTANTS, IDENTITIES,
) = range(13)  # fmt: skip

CONTINUOUS, CHRONICLE, RECENT, CUMULATIVE = range(4)
CONTEXTS = ("continuous", "chronicle", "recent", "cumulative")
REASONS = {FAILED: "failed", EXPIRED: "expired", DROPPED: "dropped", REPLACED: "replaced", OPEN: "open"}


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


def rows(width: int, columns: Mapping[int, Sequence[int] | Ints]) -> Ints:
    """Rows of this width from columns, one after the other in one array."""
    count = len(next(iter(columns.values())))
    flat = np.zeros((max(count, 1), width), np.int64)
    for column, values in columns.items():
        flat[:count, column] = values
    return flat.ravel()
