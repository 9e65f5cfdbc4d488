"""What a place may need before it is stepped: how much room, which timers come before it, and who hears it."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled, inlined


@inlined
def next_timer(L, M):
    """The timer whose first deadline comes first, by its order among those of one instant; -1 if none is set."""
    best = -1
    earliest = m.FAR
    room = M[m.COUNTS][m.QUEUE_ROOM]
    for timer in range(L[m.HEAD][m.TIMERS]):
        first = M[m.QUEUE_ENDS][2 * timer]
        if first < M[m.QUEUE_ENDS][2 * timer + 1]:
            at = M[m.QUEUES][(timer * room + first) * m.QUEUE_WIDTH + m.DEADLINE]
            order = L[m.HEAD][m.TIMER_ORDER]
            tied = at == earliest and best >= 0 and L[m.HEAD][order + timer] < L[m.HEAD][order + best]
            if at < earliest or tied:
                best = timer
                earliest = at
    return best


@inlined
def is_due(now, L, M):
    """Whether a timer fires before an instant."""
    for timer in range(L[m.HEAD][m.TIMERS]):
        first = M[m.QUEUE_ENDS][2 * timer]
        row = (timer * M[m.COUNTS][m.QUEUE_ROOM] + first) * m.QUEUE_WIDTH
        if first < M[m.QUEUE_ENDS][2 * timer + 1] and M[m.QUEUES][row + m.DEADLINE] < now:
            return True
    return False


@inlined
def room(wanted_runs, wanted_nodes, L, M):
    """Whether a step that may need so much fits; else says how much is needed."""
    counts = M[m.COUNTS]
    fits = (
        counts[m.FREE_RUNS] > wanted_runs
        and counts[m.NODE_COUNT] + wanted_nodes < counts[m.NODE_ROOM]
        and counts[m.MADE_COUNT] + wanted_runs < counts[m.MADE_ROOM]
        and (not L[m.HEAD][m.REPORTS] or counts[m.ENDED_COUNT] + 2 * wanted_runs < counts[m.ENDED_ROOM])
    )
    for timer in range(L[m.HEAD][m.TIMERS]):
        fits = fits and M[m.QUEUE_ENDS][2 * timer + 1] + wanted_runs < counts[m.QUEUE_ROOM]
    if not fits:
        counts[m.NEED_RUNS] = wanted_runs
        counts[m.NEED_NODES] = wanted_nodes
    return fits


@inlined
def room_left(timers, M):
    """How many runs, symbols, composites and deadlines there is surely room for."""
    counts = M[m.COUNTS]
    left = min(counts[m.FREE_RUNS], counts[m.NODE_ROOM] - counts[m.NODE_COUNT])
    left = min(left, counts[m.MADE_ROOM] - counts[m.MADE_COUNT])
    for timer in range(timers):
        left = min(left, counts[m.QUEUE_ROOM] - M[m.QUEUE_ENDS][2 * timer + 1])
    return left - 1


@inlined
def fan_out(first, last, L, P, F):
    """How many moves one run can make at a place, and how many symbols one move can add."""
    moves = last - first
    parts = 1
    if not L[m.HEAD][m.HAS_SIDES]:
        return moves, parts
    for position in range(L[m.HEAD][m.POSITION_COUNT]):
        row = position * m.POSITION_WIDTH
        bit = L[m.POSITIONS][row + m.POSITION_SIDE]
        if bit >= 0:
            choices, added = 1, 0
            for side in range(L[m.POSITIONS][row + m.POSITION_SIDES]):
                count, longest = 1, 0
                for at in range(first, last):
                    if (P[at * m.PLACE_WIDTH + m.SETS] >> (bit + side)) & 1:
                        count += 1
                        longest = max(longest, parts_of_side(P[at * m.PLACE_WIDTH + m.SIDE], F))
                choices *= count
                added += longest
            moves += choices
            parts = max(parts, added)
    return moves, parts


@inlined
def parts_of_side(number, F):
    """How many parts a side's composite has; one for what is none."""
    return F[F[m.SIDE_LAST] + number] - F[F[m.SIDE_FIRST] + number] if number >= 0 else 1


@inlined
def heard_by_starts(first, last, L, P):
    """Whether a run that has matched nothing listens to any of these symbols."""
    sets = 0
    for at in range(first, last):
        sets |= P[at * m.PLACE_WIDTH + m.SETS]
    return sets & L[m.HEAD][m.START_INTEREST] != 0


@compiled
def gather(P, first, common, own, own_end):
    """The symbols of a place that one instance sees: its own, and the common ones that are not its own too.

    Both stand in the order of the input, and so they do together; composites of sides, which have no symbol, come
    as soon as they can.
    """
    seen = np.zeros((common - first + own_end - own) * m.PLACE_WIDTH, np.int64)
    count = 0
    at, other = first, own
    while at < common or other < own_end:
        shared = P[at * m.PLACE_WIDTH + m.PLACE_SYMBOL] if at < common else m.FAR
        mine = P[other * m.PLACE_WIDTH + m.PLACE_SYMBOL] if other < own_end else m.FAR
        if shared < mine or shared == -1:
            chosen = at
            at += 1
        else:
            chosen = other
            other += 1
            at += shared == mine
        for column in range(m.PLACE_WIDTH):
            seen[count * m.PLACE_WIDTH + column] = P[chosen * m.PLACE_WIDTH + column]
        count += 1
    return seen, count
