"""What a run does at a place with symbols: it ignores them, moves, or fails."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled, inlined
from penstock.engine.lists import add_node, of_run
from penstock.engine.moves import holds, move

IGNORES, MOVES, FAILS = range(3)


@inlined
def in_sets(mask, at, L, M, P, X, head, instance):
    """Whether a symbol is in one of the sets of a mask."""
    found = P[at * m.PLACE_WIDTH + m.SETS] & mask
    if found == 0:
        return False
    return found & L[m.HEAD][m.PLAIN_SETS] != 0 or passes(found, at, L, M, P, X, head, instance)


@compiled
def passes(sets, at, L, M, P, X, head, instance):
    """Whether a symbol passes the condition of one of these sets."""
    number = 0
    while sets:
        if sets & 1 and holds(m.SET_CODE, number, P[at * m.PLACE_WIDTH + m.PLACE_SYMBOL], head, instance, L, M, X):
            return True
        sets >>= 1
        number += 1
    return False


@inlined
def in_label(position, at, L, M, P, X, head, instance):
    """Whether a position matches a symbol."""
    row = position * m.POSITION_WIDTH
    label = L[m.POSITIONS][row + m.POSITION_LABEL]
    if L[m.POSITIONS][row + m.POSITION_NEGATED]:
        written = L[m.POSITIONS][row + m.POSITION_WRITTEN]
        return in_sets(written, at, L, M, P, X, head, instance) and not in_sets(label, at, L, M, P, X, head, instance)
    return in_sets(label, at, L, M, P, X, head, instance)


@compiled
def first_choices(first, last, bit, sides, remaining, base, choice, P):
    """The first composite that may be taken from each remaining side; says whether there is any."""
    some = False
    for side in range(sides):
        choice[side] = -1
        if (remaining >> side) & 1:
            choice[side] = next_choice(first, last, bit + side, base, P)
            some = some or choice[side] >= 0
    return some


@compiled
def move_together(run, option, first, last, bit, choice, remaining, base, instance, place, L, M, P, F, X):
    """A run at a ``||`` goes on once for each choice of one acceptable composite from each side that has one."""
    position = L[m.OPTIONS][option * m.OPTION_WIDTH + m.OPTION_POSITION]
    labels = L[m.POSITIONS][position * m.POSITION_WIDTH + m.POSITION_LABELS]
    sides = len(choice)
    side = 0
    while side >= 0:
        head = of_run(run, m.HEAD_NODE, M)
        left = remaining
        lo = m.FAR
        hi = m.NONE
        for side in range(sides):
            at = choice[side]
            if at >= 0:
                left &= ~(1 << side)
                lo = min(lo, P[at * m.PLACE_WIDTH + m.BEGINS])
                hi = P[at * m.PLACE_WIDTH + m.INSTANT]
                number = P[at * m.PLACE_WIDTH + m.SIDE]
                for part in range(F[F[m.SIDE_FIRST] + number], F[F[m.SIDE_LAST] + number]):
                    symbol, identity = F[F[m.PART_SYMBOL] + part], F[F[m.PART_IDENTITY] + part]
                    head = add_node(symbol, identity, F[F[m.PART_LABELS] + part] | labels, head, M)
        move(run, option, lo, hi, head, left, instance, place, L, M, X)
        side = sides - 1
        while side >= 0:
            if choice[side] >= 0:
                following = next_choice(choice[side] + 1, last, bit + side, base, P)
                if following >= 0:
                    choice[side] = following
                    break
                choice[side] = next_choice(first, last, bit + side, base, P)
            side -= 1


@compiled
def next_choice(first, last, bit, base, P):
    """The next composite of a side that may be taken; -1 if there is none."""
    for at in range(first, last):
        row = at * m.PLACE_WIDTH
        if (P[row + m.SETS] >> bit) & 1 and (base == m.NONE or base < P[row + m.BEGINS]):
            return at
    return -1


@compiled
def meet(run, first, last, started, may_move, instance, place, L, M, P, F, X):
    """What a run does at a place: it ignores it, moves, or fails. One that may not move stays where it would."""
    here = of_run(run, m.STATE, M) * m.STATE_WIDTH
    first_option, last_option = L[m.STATES][here + m.STATE_FIRST], L[m.STATES][here + m.STATE_LAST]
    previous = of_run(run, m.PREVIOUS, M)
    head = of_run(run, m.HEAD_NODE, M)
    moved = False
    too_early = False
    for option in range(first_option, last_option):
        position = L[m.OPTIONS][option * m.OPTION_WIDTH + m.OPTION_POSITION]
        row = position * m.POSITION_WIDTH
        strong = L[m.OPTIONS][option * m.OPTION_WIDTH + m.OPTION_STRONG] and started
        bit = L[m.POSITIONS][row + m.POSITION_SIDE]
        if bit >= 0:
            sides = L[m.POSITIONS][row + m.POSITION_SIDES]
            waiting = L[m.STATES][here + m.STATE_WAITING]
            remaining = of_run(run, m.REMAINING, M) if waiting else (1 << sides) - 1
            base = of_run(run, m.BASE, M) if waiting else (previous if strong else m.NONE)
            choice = np.empty(sides, np.int64)
            if first_choices(first, last, bit, sides, remaining, base, choice, P):
                if not may_move:
                    return IGNORES
                moved = True
                move_together(run, option, first, last, bit, choice, remaining, base, instance, place, L, M, P, F, X)
            for at in range(first, last):
                wanted = P[at * m.PLACE_WIDTH + m.SETS] & (remaining << bit)
                if wanted and base != m.NONE and not base < P[at * m.PLACE_WIDTH + m.BEGINS]:
                    too_early = True
            continue
        for at in range(first, last):
            if in_label(position, at, L, M, P, X, head, instance):
                symbol = at * m.PLACE_WIDTH
                if strong and not previous < P[symbol + m.BEGINS]:
                    too_early = True
                    continue
                if not may_move:
                    return IGNORES
                moved = True
                labels = L[m.POSITIONS][row + m.POSITION_LABELS]
                more = add_node(P[symbol + m.PLACE_SYMBOL], P[symbol + m.IDENTITY], labels, head, M)
                lo, hi = P[symbol + m.BEGINS], P[symbol + m.INSTANT]
                move(run, option, lo, hi, more, 0, instance, place, L, M, X)
    if moved:
        return MOVES
    if too_early:
        return IGNORES
    weak = not started or not L[m.STATES][here + m.STATE_STRONG]
    for at in range(first, last):
        if weak or previous < P[at * m.PLACE_WIDTH + m.BEGINS]:
            for option in range(first_option, last_option):
                row = L[m.OPTIONS][option * m.OPTION_WIDTH + m.OPTION_POSITION] * m.POSITION_WIDTH
                heard = L[m.POSITIONS][row + m.POSITION_WRITTEN]
                if started:
                    heard |= L[m.POSITIONS][row + m.POSITION_SCOPE]
                if in_sets(heard, at, L, M, P, X, head, instance):
                    return FAILS
    return IGNORES
