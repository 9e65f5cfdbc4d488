"""What becomes of a run that moves: limits, composites, timers, and a run for each alternative of what follows."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled, inlined
from penstock.engine.lists import (
    instant_after,
    link,
    of_clock,
    of_node,
    of_run,
    release,
    same_nodes,
    set_clock,
    set_run,
    take_row,
)
from penstock.engine.pointers import memory_of, pointer
from penstock.engine.vm import evaluate, mix


@compiled
def holds(code, number, symbol, head, instance, L, M, X):
    """Whether a condition is true for a symbol, a run and an instance."""
    out = np.empty(2, np.int64)
    start, end = L[m.HEAD][L[m.HEAD][code] + 2 * number], L[m.HEAD][L[m.HEAD][code] + 2 * number + 1]
    return evaluate(start, end, symbol, head, instance, L, M, X, out) == 1


@inlined
def deadline(timer, hi, L, X):
    """When a timer fires that is set by something that ends at ``hi``."""
    kind = L[m.HEAD][L[m.HEAD][m.TIMER_KIND] + timer]
    value = L[m.HEAD][L[m.HEAD][m.TIMER_VALUE] + timer]
    if kind == 0:
        return instant_after(hi, value)
    if kind == 2:
        return max(hi, value)
    instants = pointer(X[m.CLOCK_INSTANTS])
    low, high = pointer(X[m.CLOCK_FIRST])[timer], pointer(X[m.CLOCK_FIRST])[timer + 1]
    while low < high:
        middle = (low + high) // 2
        if instants[middle] > hi:
            high = middle
        else:
            low = middle + 1
    return instants[low]


@compiled
def is_known(run, L, M):
    """Whether an equal run was met at this place before; else this one is remembered."""
    whole = mix(of_run(run, m.STATE, M), of_run(run, m.LO, M))
    whole = mix(whole, of_node(of_run(run, m.HEAD_NODE, M), m.HASH, M))
    whole = mix(mix(whole, of_run(run, m.REMAINING, M)), of_run(run, m.BASE, M))
    for clock in range(L[m.HEAD][m.CLOCKED]):
        whole = mix(whole, of_clock(run, clock, L, M))
    mask = M[m.COUNTS][m.TABLE_MASK]
    slot = whole & mask
    epoch = M[m.COUNTS][m.EPOCH]
    while M[m.TABLE][slot * m.TABLE_WIDTH + m.TABLE_EPOCH] == epoch:
        row = slot * m.TABLE_WIDTH
        if M[m.TABLE][row + m.TABLE_HASH] == whole and same_runs(run, M[m.TABLE][row + m.TABLE_RUN], L, M):
            return True
        slot = (slot + 1) & mask
    M[m.TABLE][slot * m.TABLE_WIDTH + m.TABLE_EPOCH] = epoch
    M[m.TABLE][slot * m.TABLE_WIDTH + m.TABLE_RUN] = run
    M[m.TABLE][slot * m.TABLE_WIDTH + m.TABLE_HASH] = whole
    return False


@compiled
def same_runs(a, b, L, M):
    """Whether two runs agree in everything."""
    for column in (m.STATE, m.PREVIOUS, m.LO, m.REMAINING, m.BASE):
        if of_run(a, column, M) != of_run(b, column, M):
            return False
    for clock in range(L[m.HEAD][m.CLOCKED]):
        if of_clock(a, clock, L, M) != of_clock(b, clock, L, M):
            return False
    return same_nodes(of_run(a, m.HEAD_NODE, M), of_run(b, m.HEAD_NODE, M), M)


@inlined
def make(instance, lo, hi, head, place, L, M, X):
    """A composite, unless an equal one was made at this instant; where those of a place are united, at this place."""
    made = M[m.COUNTS][m.MADE_COUNT]
    row = made * m.MADE_WIDTH
    M[m.MADE][row + m.MADE_INSTANCE] = instance
    M[m.MADE][row + m.MADE_LO] = lo
    M[m.MADE][row + m.MADE_HI] = hi
    M[m.MADE][row + m.MADE_NODE] = head
    M[m.MADE][row + m.MADE_START] = M[m.MADE][row + m.MADE_TOP] = head
    M[m.MADE][row + m.MADE_PLACE] = place
    if not L[m.HEAD][m.DISTINCT_RUNS]:
        unites = L[m.HEAD][m.CONTEXT] == m.CUMULATIVE
        since = M[m.COUNTS][m.SINCE]
        if is_made(made, max(since, M[m.COUNTS][m.TAKEN]) if unites else since, unites, M):
            return
        link_made(made, M)
    if L[m.HEAD][m.SELECTS] > 0:
        select(made, head, instance, L, M, X)
    M[m.COUNTS][m.MADE_COUNT] = made + 1


@compiled
def is_made(made, since, at_its_place, M):
    """Whether a composite is equal to one of those since; those that may be are behind each other in a chain."""
    row = made * m.MADE_WIDTH
    whole = hash_made(made, M)
    other = M[m.MADE][(whole & (M[m.COUNTS][m.MADE_ROOM] - 1)) * m.MADE_WIDTH + m.MADE_BUCKET] - 1
    while since <= other < made:
        there = other * m.MADE_WIDTH
        if (
            M[m.MADE][there + m.MADE_HASH] == whole
            and (not at_its_place or M[m.MADE][there + m.MADE_PLACE] == M[m.MADE][row + m.MADE_PLACE])
            and M[m.MADE][there + m.MADE_INSTANCE] == M[m.MADE][row + m.MADE_INSTANCE]
            and M[m.MADE][there + m.MADE_LO] == M[m.MADE][row + m.MADE_LO]
            and M[m.MADE][there + m.MADE_HI] == M[m.MADE][row + m.MADE_HI]
            and same_nodes(M[m.MADE][there + m.MADE_NODE], M[m.MADE][row + m.MADE_NODE], M)
        ):
            return True
        other = M[m.MADE][there + m.MADE_CHAIN]
    return False


@compiled
def hash_made(made, M):
    """The hash of a composite; it is in its row then."""
    row = made * m.MADE_WIDTH
    whole = mix(mix(M[m.MADE][row + m.MADE_INSTANCE], M[m.MADE][row + m.MADE_LO]), M[m.MADE][row + m.MADE_HI])
    whole = mix(whole, of_node(M[m.MADE][row + m.MADE_NODE], m.HASH, M))
    M[m.MADE][row + m.MADE_HASH] = whole
    return whole


@compiled
def link_made(made, M):
    """Puts a composite in front of the chain of its bucket. A bucket may name a row of former times: none before it."""
    row = made * m.MADE_WIDTH
    bucket = (M[m.MADE][row + m.MADE_HASH] & (M[m.COUNTS][m.MADE_ROOM] - 1)) * m.MADE_WIDTH + m.MADE_BUCKET
    before = M[m.MADE][bucket] - 1
    M[m.MADE][row + m.MADE_CHAIN] = before if before < made else -1
    M[m.MADE][bucket] = made + 1


@compiled
def link_all_made(memory):
    """Puts the composites of this instant into chains, where they stand now."""
    M = memory_of(memory)
    for made in range(M[m.COUNTS][m.SINCE], M[m.COUNTS][m.MADE_COUNT]):
        hash_made(made, M)
        link_made(made, M)


@compiled
def select(made, head, instance, L, M, X):
    """The selected values of a composite."""
    out = np.empty(2, np.int64)
    selects = L[m.HEAD][m.SELECTS]
    for number in range(selects):
        code = L[m.HEAD][m.SELECT_CODE] + 2 * number
        evaluate(L[m.HEAD][code], L[m.HEAD][code + 1], 0, head, instance, L, M, X, out)
        M[m.SELECTED][2 * (made * selects + number)] = out[0]
        M[m.SELECTED][2 * (made * selects + number) + 1] = out[1]


@compiled
def move(run, option, lo, hi, head, remaining, instance, place, L, M, X):
    """A run goes on through an option: limits, composite, and a new run for each alternative of what follows."""
    position = L[m.OPTIONS][option * m.OPTION_WIDTH + m.OPTION_POSITION]
    row = position * m.POSITION_WIDTH
    timers = L[m.HEAD][m.TIMERS]
    started = of_run(run, m.PREVIOUS, M) != m.NONE
    for limit in range(L[m.HEAD][m.LIMITS]):
        since = m.NONE
        if (L[m.POSITIONS][row + m.POSITION_LIMITS] >> limit) & 1:
            before = of_clock(run, timers + limit, L, M) if started else m.NONE
            enters = (L[m.OPTIONS][option * m.OPTION_WIDTH + m.OPTION_ENTERS] >> limit) & 1
            since = lo if before == m.NONE or enters else min(before, lo)
            if hi - since > L[m.HEAD][L[m.HEAD][m.LIMIT_LENGTH] + limit]:
                return
        M[m.SCRATCH][limit] = since
    M[m.COUNTS][m.ALLOWED] += 1
    span = min(lo, of_run(run, m.LO, M)) if started else lo
    began = of_run(run, m.BEGAN, M) & ~1 if started else 2 * hi
    if remaining:
        waits = L[m.STATES][of_run(run, m.STATE, M) * m.STATE_WIDTH + m.STATE_WAITING]
        base = of_run(run, m.BASE, M) if waits else of_run(run, m.PREVIOUS, M)
        if not waits and not L[m.OPTIONS][option * m.OPTION_WIDTH + m.OPTION_STRONG]:
            base = m.NONE
        waiting = L[m.POSITIONS][row + m.POSITION_WAITING]
        arrive(run, row, waiting, hi, span, began, head, remaining, base, instance, started, L, M, X)
        return
    truths = 0
    first_guard = L[m.POSITIONS][row + m.POSITION_FIRST_GUARD]
    for guard in range(L[m.POSITIONS][row + m.POSITION_GUARDS]):
        if holds(m.GUARD_CODE, first_guard + guard, 0, head, instance, L, M, X):
            truths |= 1 << guard
    for one in range(L[m.POSITIONS][row + m.POSITION_FIRST], L[m.POSITIONS][row + m.POSITION_LAST]):
        end = L[m.ALTERNATIVES][one * m.ALTERNATIVE_WIDTH + m.ALTERNATIVE_END]
        if end >= 0 and end & truths == end:
            began |= 1
            M[m.COUNTS][m.GONE_ON] += 1
            make(instance, span, hi, head, place, L, M, X)
            break
    for one in range(L[m.POSITIONS][row + m.POSITION_FIRST], L[m.POSITIONS][row + m.POSITION_LAST]):
        way = one * m.ALTERNATIVE_WIDTH
        guards = L[m.ALTERNATIVES][way + m.ALTERNATIVE_GUARDS]
        index = 0
        bit = 0
        guard = 0
        while guards >> guard:
            if (guards >> guard) & 1:
                index |= ((truths >> guard) & 1) << bit
                bit += 1
            guard += 1
        target = L[m.HEAD][L[m.HEAD][m.STATE_TABLE] + L[m.ALTERNATIVES][way + m.ALTERNATIVE_STATES] + index]
        if target >= 0:
            arrive(run, row, target, hi, span, began, head, 0, m.NONE, instance, started, L, M, X)


@inlined
def arrive(run, position, target, hi, span, began, head, remaining, base, instance, started, L, M, X):
    """The new run that waits in ``target``, with the timers and limits that it has there."""
    M[m.COUNTS][m.GONE_ON] += 1
    fresh = take_row(M)
    set_run(fresh, m.STATE, target, M)
    set_run(fresh, m.PREVIOUS, hi, M)
    set_run(fresh, m.LO, span, M)
    set_run(fresh, m.HEAD_NODE, head, M)
    set_run(fresh, m.REMAINING, remaining, M)
    set_run(fresh, m.BASE, base, M)
    set_run(fresh, m.BEGAN, began, M)
    timers = L[m.HEAD][m.TIMERS]
    if timers > 0:
        hears = L[m.STATES][target * m.STATE_WIDTH + m.STATE_HEARS]
        sets = L[m.POSITIONS][position + m.POSITION_SETS]
        for timer in range(timers):
            at = m.NONE
            if (hears >> timer) & 1:
                if (sets >> timer) & 1:
                    at = deadline(timer, hi, L, X)
                    wait_for(timer, at, instance, M)
                elif started:
                    at = of_clock(run, timer, L, M)
            set_clock(fresh, timer, at, L, M)
    for limit in range(L[m.HEAD][m.LIMITS]):
        set_clock(fresh, timers + limit, M[m.SCRATCH][limit], L, M)
    if not L[m.HEAD][m.DISTINCT_RUNS] and is_known(fresh, L, M):
        release(fresh, M)
        return
    link(fresh, instance, M)
    M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.LIVE_RUNS] += 1
    M[m.COUNTS][m.LIVE] += 1


@inlined
def wait_for(timer, at, instance, M):
    """A deadline of an instance joins the timer's queue, unless it is there already.

    Mostly it comes after all others. Where events come behind later ones, it goes before those that are later.
    """
    room = M[m.COUNTS][m.QUEUE_ROOM]
    first = (timer * room + M[m.QUEUE_ENDS][2 * timer]) * m.QUEUE_WIDTH
    last = (timer * room + M[m.QUEUE_ENDS][2 * timer + 1]) * m.QUEUE_WIDTH
    row = last
    while row > first and M[m.QUEUES][row - m.QUEUE_WIDTH + m.DEADLINE] > at:
        row -= m.QUEUE_WIDTH
    if row > first:
        before = row - m.QUEUE_WIDTH
        if M[m.QUEUES][before + m.DEADLINE] == at and M[m.QUEUES][before + m.OWNER] == instance:
            return
    for later in range(last, row, -m.QUEUE_WIDTH):
        M[m.QUEUES][later + m.DEADLINE] = M[m.QUEUES][later - m.QUEUE_WIDTH + m.DEADLINE]
        M[m.QUEUES][later + m.OWNER] = M[m.QUEUES][later - m.QUEUE_WIDTH + m.OWNER]
    M[m.QUEUES][row + m.DEADLINE] = at
    M[m.QUEUES][row + m.OWNER] = instance
    M[m.QUEUE_ENDS][2 * timer + 1] += 1
