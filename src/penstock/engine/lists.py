"""Runs and what they have matched: lists that share their beginnings, so that they are cheap to grow and to compare."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled
from penstock.engine.vm import mix


@compiled
def of_run(run, column, M):
    """A cell of a run."""
    return M[M[m.RUNS] + run * M[m.WIDTH] + column]


@compiled
def set_run(run, column, value, M):
    """Changes a cell of a run."""
    M[M[m.RUNS] + run * M[m.WIDTH] + column] = value


@compiled
def same_nodes(a, b, M):
    """Whether two lists of matched symbols are equal."""
    while a != b:
        if a < 0 or b < 0 or M[M[m.NODE_HASH] + a] != M[M[m.NODE_HASH] + b]:
            return False
        if M[M[m.NODE_SYMBOL] + a] != M[M[m.NODE_SYMBOL] + b] or M[M[m.NODE_LABELS] + a] != M[M[m.NODE_LABELS] + b]:
            return False
        a, b = M[M[m.NODE_PARENT] + a], M[M[m.NODE_PARENT] + b]
    return True


@compiled
def add_node(symbol, labels, parent, M):
    """A list with one more symbol."""
    node = M[m.NODES]
    M[m.NODES] = node + 1
    M[M[m.NODE_SYMBOL] + node] = symbol
    M[M[m.NODE_LABELS] + node] = labels
    M[M[m.NODE_PARENT] + node] = parent
    M[M[m.NODE_HASH] + node] = mix(mix(symbol, labels), M[M[m.NODE_HASH] + parent] if parent >= 0 else 0)
    return node


@compiled
def expired(run, L, M):
    """Whether every way on stands in a limit that is over."""
    here = of_run(run, m.STATE, M)
    for option in range(L[L[m.STATE_FIRST] + here], L[L[m.STATE_FIRST] + here] + L[L[m.STATE_COUNT] + here]):
        over = False
        inside = L[L[m.POSITION_LIMITS] + L[L[m.OPTION_POSITION] + option]] & ~L[L[m.OPTION_ENTERS] + option]
        for limit in range(L[m.LIMITS]):
            since = of_run(run, m.FIXED + L[m.TIMERS] + limit, M)
            if (inside >> limit) & 1 and since != m.NONE and M[m.NOW] - since > L[L[m.LIMIT_LENGTH] + limit]:
                over = True
        if not over:
            return False
    return True


@compiled
def reclaim(L, M):
    """Drops runs that can only come to nothing, and all matched symbols that no run holds."""
    held = np.zeros(M[m.NODES] + 1, np.int64)
    for instance in range(M[m.KNOWN]):
        run = M[M[m.INSTANCE_FIRST] + instance]
        M[M[m.INSTANCE_FIRST] + instance] = -1
        while run >= 0:
            following = of_run(run, m.NEXT, M)
            if expired(run, L, M):
                M[M[m.FREE] + M[m.FREE_RUNS]] = run
                M[m.FREE_RUNS] += 1
                M[M[m.INSTANCE_RUNS] + instance] -= 1
                M[m.LIVE] -= 1
            else:
                set_run(run, m.NEXT, M[M[m.INSTANCE_FIRST] + instance], M)
                M[M[m.INSTANCE_FIRST] + instance] = run
                node = of_run(run, m.HEAD, M)
                while node >= 0 and held[node] == 0:
                    held[node] = 1
                    node = M[M[m.NODE_PARENT] + node]
            run = following
    for one in range(M[m.COMPOSITES]):
        node = M[M[m.MADE_NODE] + one]
        while node >= 0 and held[node] == 0:
            held[node] = 1
            node = M[M[m.NODE_PARENT] + node]
    kept = 0
    for node in range(M[m.NODES]):
        if held[node]:
            parent = M[M[m.NODE_PARENT] + node]
            M[M[m.NODE_PARENT] + kept] = held[parent] if parent >= 0 else -1
            M[M[m.NODE_SYMBOL] + kept] = M[M[m.NODE_SYMBOL] + node]
            M[M[m.NODE_LABELS] + kept] = M[M[m.NODE_LABELS] + node]
            M[M[m.NODE_HASH] + kept] = M[M[m.NODE_HASH] + node]
            held[node] = kept
            kept += 1
    M[m.NODES] = kept
    for instance in range(M[m.KNOWN]):
        run = M[M[m.INSTANCE_FIRST] + instance]
        while run >= 0:
            node = of_run(run, m.HEAD, M)
            set_run(run, m.HEAD, held[node] if node >= 0 else -1, M)
            run = of_run(run, m.NEXT, M)
    for one in range(M[m.COMPOSITES]):
        M[M[m.MADE_NODE] + one] = held[M[M[m.MADE_NODE] + one]]


@compiled
def list_parts(M):
    """The matched symbols of each composite, in the order of matching: offsets, symbols, labels."""
    made = M[m.COMPOSITES]
    offsets = np.zeros(made + 1, np.int64)
    for one in range(made):
        count = 0
        node = M[M[m.MADE_NODE] + one]
        while node >= 0:
            count += 1
            node = M[M[m.NODE_PARENT] + node]
        offsets[one + 1] = offsets[one] + count
    symbols = np.empty(offsets[made], np.int64)
    labels = np.empty(offsets[made], np.int64)
    for one in range(made):
        at = offsets[one + 1]
        node = M[M[m.MADE_NODE] + one]
        while node >= 0:
            at -= 1
            symbols[at] = M[M[m.NODE_SYMBOL] + node]
            labels[at] = M[M[m.NODE_LABELS] + node]
            node = M[M[m.NODE_PARENT] + node]
    return offsets, symbols, labels
