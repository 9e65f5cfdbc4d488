"""What becomes of a run that moves: limits, composites, timers, and a run for each alternative of what follows."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled
from penstock.engine.lists import of_run, same_nodes, set_run
from penstock.engine.vm import evaluate, mix


@compiled
def holds(start, end, symbol, head, instance, L, M, X):
    """Whether a condition is true for a symbol, a run and an instance."""
    out = np.empty(2, np.int64)
    return evaluate(start, end, symbol, head, instance, L, M, X, out) == 1


@compiled
def deadline(timer, hi, L, X):
    """When a timer fires that is set by something that ends at ``hi``."""
    if L[L[m.TIMER_KIND] + timer] == 0:
        return hi + L[L[m.TIMER_VALUE] + timer]
    if L[L[m.TIMER_KIND] + timer] == 2:
        return max(hi, L[L[m.TIMER_VALUE] + timer])
    low, high = X[m.CLOCK_INSTANTS] + X[X[m.CLOCK_FIRST] + timer], X[m.CLOCK_INSTANTS] + X[X[m.CLOCK_FIRST] + timer + 1]
    while low < high:
        middle = (low + high) // 2
        if X[middle] > hi:
            high = middle
        else:
            low = middle + 1
    return X[low]


@compiled
def keep(run, instance, L, M):
    """Puts a run into its instance's list, unless an equal one is there."""
    if not L[m.DISTINCT_RUNS] and of_run(run, m.PREVIOUS, M) == M[m.NOW]:
        whole = mix(of_run(run, m.STATE, M), of_run(run, m.LO, M))
        whole = mix(whole, M[M[m.NODE_HASH] + of_run(run, m.HEAD, M)])
        for column in range(m.REMAINING, M[m.WIDTH]):
            if column != m.HASH:
                whole = mix(whole, of_run(run, column, M))
        set_run(run, m.HASH, whole, M)
        mask = M[m.TABLE_MASK]
        slot = whole & mask
        while M[M[m.TABLE_EPOCH] + slot] == M[m.EPOCH]:
            other = M[M[m.TABLE] + slot]
            if of_run(other, m.HASH, M) == whole and same_runs(run, other, M):
                M[M[m.FREE] + M[m.FREE_RUNS]] = run
                M[m.FREE_RUNS] += 1
                return
            slot = (slot + 1) & mask
        M[M[m.TABLE] + slot] = run
        M[M[m.TABLE_EPOCH] + slot] = M[m.EPOCH]
    set_run(run, m.NEXT, M[M[m.INSTANCE_FIRST] + instance], M)
    M[M[m.INSTANCE_FIRST] + instance] = run
    M[M[m.INSTANCE_RUNS] + instance] += 1
    M[m.LIVE] += 1


@compiled
def same_runs(a, b, M):
    """Whether two runs agree in everything."""
    for column in range(1, M[m.WIDTH]):
        if column != m.HEAD and of_run(a, column, M) != of_run(b, column, M):
            return False
    return same_nodes(of_run(a, m.HEAD, M), of_run(b, m.HEAD, M), M)


@compiled
def make(instance, lo, hi, head, place, L, M, X):
    """A composite, unless an equal one was made at this instant."""
    whole = mix(mix(instance, lo), M[M[m.NODE_HASH] + head])
    made = M[m.COMPOSITES]
    if not L[m.DISTINCT_RUNS]:
        for other in range(M[m.SINCE], made):
            if (
                M[M[m.MADE_HASH] + other] == whole
                and M[M[m.MADE_HI] + other] == hi
                and M[M[m.MADE_INSTANCE] + other] == instance
                and M[M[m.MADE_LO] + other] == lo
                and same_nodes(M[M[m.MADE_NODE] + other], head, M)
            ):
                return
    M[M[m.MADE_INSTANCE] + made] = instance
    M[M[m.MADE_LO] + made] = lo
    M[M[m.MADE_HI] + made] = hi
    M[M[m.MADE_NODE] + made] = head
    M[M[m.MADE_PLACE] + made] = place
    M[M[m.MADE_HASH] + made] = whole
    if L[m.SELECTS] > 0:
        out = np.empty(2, np.int64)
        for number in range(L[m.SELECTS]):
            evaluate(
                L[L[m.SELECT_START] + number], L[L[m.SELECT_END] + number], 0, head, instance, L, M, X, out
            )  # fmt: skip
            M[M[m.MADE_KINDS] + made * L[m.SELECTS] + number] = out[0]
            M[M[m.MADE_VALUES] + made * L[m.SELECTS] + number] = out[1]
    M[m.COMPOSITES] = made + 1


@compiled
def move(run, option, lo, hi, head, remaining, instance, place, L, M, X):
    """A run goes on through an option: limits, composite, and a new run for each alternative of what follows."""
    position = L[L[m.OPTION_POSITION] + option]
    timers = L[m.TIMERS]
    limits = m.FIXED + timers
    within = L[L[m.POSITION_LIMITS] + position]
    for limit in range(L[m.LIMITS]):
        since = m.NONE
        if (within >> limit) & 1:
            before = of_run(run, limits + limit, M)
            since = lo if before == m.NONE or (L[L[m.OPTION_ENTERS] + option] >> limit) & 1 else min(before, lo)
            if hi - since > L[L[m.LIMIT_LENGTH] + limit]:
                return
        M[M[m.SCRATCH] + limit] = since
    span = lo if of_run(run, m.PREVIOUS, M) == m.NONE else min(lo, of_run(run, m.LO, M))
    if remaining:
        base = of_run(run, m.BASE, M) if L[L[m.STATE_WAITING] + of_run(run, m.STATE, M)] else of_run(run, m.PREVIOUS, M)
        if not L[L[m.STATE_WAITING] + of_run(run, m.STATE, M)] and not L[L[m.OPTION_STRONG] + option]:
            base = m.NONE
        waiting = L[L[m.POSITION_WAITING] + position]
        arrive(run, position, waiting, hi, span, head, remaining, base, instance, L, M, X)
        return
    truths = 0
    first = L[L[m.ALTERNATIVE_FIRST] + position]
    last = first + L[L[m.ALTERNATIVE_COUNT] + position]
    asked = 0
    for one in range(first, last):
        asked |= L[L[m.ALTERNATIVE_GUARDS] + one]
        if L[L[m.ALTERNATIVE_END] + one] > 0:
            asked |= L[L[m.ALTERNATIVE_END] + one]
    guard = 0
    while asked >> guard:
        if (asked >> guard) & 1:
            start, end = L[L[m.GUARD_START] + guard], L[L[m.GUARD_END] + guard]
            if holds(start, end, 0, head, instance, L, M, X):
                truths |= 1 << guard
        guard += 1
    ended = False
    for one in range(first, last):
        end = L[L[m.ALTERNATIVE_END] + one]
        if end >= 0 and end & truths == end and not ended:
            ended = True
            make(instance, span, hi, head, place, L, M, X)
        guards = L[L[m.ALTERNATIVE_GUARDS] + one]
        index = 0
        bit = 0
        guard = 0
        while guards >> guard:
            if (guards >> guard) & 1:
                index |= ((truths >> guard) & 1) << bit
                bit += 1
            guard += 1
        target = L[L[m.STATE_TABLE] + L[L[m.ALTERNATIVE_STATES] + one] + index]
        if target >= 0:
            arrive(run, position, target, hi, span, head, 0, m.NONE, instance, L, M, X)


@compiled
def arrive(run, position, target, hi, span, head, remaining, base, instance, L, M, X):
    """The new run that waits in ``target``, with the timers and limits that it has there."""
    timers = L[m.TIMERS]
    M[m.FREE_RUNS] -= 1
    fresh = M[M[m.FREE] + M[m.FREE_RUNS]]
    set_run(fresh, m.STATE, target, M)
    set_run(fresh, m.PREVIOUS, hi, M)
    set_run(fresh, m.LO, span, M)
    set_run(fresh, m.HEAD, head, M)
    set_run(fresh, m.REMAINING, remaining, M)
    set_run(fresh, m.BASE, base, M)
    set_run(fresh, m.HASH, 0, M)
    hears = L[L[m.STATE_HEARS] + target]
    for timer in range(timers):
        at = m.NONE
        if (hears >> timer) & 1:
            at = of_run(run, m.FIXED + timer, M)
            if (L[L[m.POSITION_SETS] + position] >> timer) & 1:
                at = deadline(timer, hi, L, X)
                last = M[M[m.QUEUE_LAST] + timer]
                if (
                    last == M[M[m.QUEUE_FIRST] + timer]
                    or M[M[m.QUEUE_DEADLINE] + timer * M[m.QUEUE_ROOM] + last - 1] != at
                    or M[M[m.QUEUE_INSTANCE] + timer * M[m.QUEUE_ROOM] + last - 1] != instance
                ):
                    M[M[m.QUEUE_DEADLINE] + timer * M[m.QUEUE_ROOM] + last] = at
                    M[M[m.QUEUE_INSTANCE] + timer * M[m.QUEUE_ROOM] + last] = instance
                    M[M[m.QUEUE_LAST] + timer] = last + 1
        set_run(fresh, m.FIXED + timer, at, M)
    for limit in range(L[m.LIMITS]):
        set_run(fresh, m.FIXED + timers + limit, M[M[m.SCRATCH] + limit], M)
    keep(fresh, instance, L, M)
