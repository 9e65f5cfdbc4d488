"""The cumulative context: all composites of one place and instance become one, with the parts of all."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled
from penstock.engine.lists import add_node, of_node
from penstock.engine.moves import is_made, link_made, select
from penstock.engine.pointers import layout_of, memory_of, pointer


@compiled
def unite(layout, memory, values):
    """Unites what was made at one place for one instance; each symbol is listed once, in the order of the input."""
    L, M = layout_of(layout), memory_of(memory)
    X = pointer(values.ctypes.data)
    counts = M[m.COUNTS]
    width = 2 * L[m.HEAD][m.SELECTS]
    for row in range(counts[m.TAKEN], counts[m.MADE_COUNT]):
        bucket = M[m.MADE][row * m.MADE_WIDTH + m.MADE_HASH] & (counts[m.MADE_ROOM] - 1)
        M[m.MADE][bucket * m.MADE_WIDTH + m.MADE_BUCKET] = 0
    for row in range(counts[m.TAKEN]):
        link_made(row, M)
    first = kept = counts[m.TAKEN]
    since, instant = counts[m.SINCE], 0
    while first < counts[m.MADE_COUNT]:
        last = first + 1
        while last < counts[m.MADE_COUNT] and is_together(first, last, M):
            last += 1
        if M[m.MADE][first * m.MADE_WIDTH + m.MADE_HI] != hi_before(kept, M):
            instant = kept
        if first == since:
            counts[m.SINCE] = kept
        for column in range(m.MADE_CHAIN):
            M[m.MADE][kept * m.MADE_WIDTH + column] = M[m.MADE][first * m.MADE_WIDTH + column]
        for column in range(width):
            M[m.SELECTED][kept * width + column] = M[m.SELECTED][first * width + column]
        if last > first + 1:
            unite_rows(kept, first, last, L, M, X)
        if not is_made(kept, instant, False, M):
            link_made(kept, M)
            kept += 1
        first = last
    if since >= counts[m.MADE_COUNT]:
        counts[m.SINCE] = kept
    counts[m.MADE_COUNT] = kept


@compiled
def hi_before(row, M):
    """The end of the composite before this one."""
    return m.NONE if row == 0 else M[m.MADE][(row - 1) * m.MADE_WIDTH + m.MADE_HI]


@compiled
def is_together(a, b, M):
    """Whether two composites were completed at one place of one instance."""
    for column in (m.MADE_INSTANCE, m.MADE_PLACE, m.MADE_HI):
        if M[m.MADE][a * m.MADE_WIDTH + column] != M[m.MADE][b * m.MADE_WIDTH + column]:
            return False
    return True


@compiled
def unite_rows(target, first, last, L, M, X):
    """One composite from several rows."""
    count = 0
    lo = m.FAR
    for row in range(first, last):
        lo = min(lo, M[m.MADE][row * m.MADE_WIDTH + m.MADE_LO])
        node = M[m.MADE][row * m.MADE_WIDTH + m.MADE_NODE]
        while node >= 0:
            count += 1
            node = of_node(node, m.PARENT, M)
    nodes = np.empty(count, np.int64)
    identities = np.empty(count, np.int64)
    count = 0
    for row in range(first, last):
        node = M[m.MADE][row * m.MADE_WIDTH + m.MADE_NODE]
        while node >= 0:
            nodes[count] = node
            identities[count] = pointer(X[m.IDENTITIES])[of_node(node, m.SYMBOL, M)]
            count += 1
            node = of_node(node, m.PARENT, M)
    order = np.argsort(identities)
    head = -1
    at = 0
    while at < count:
        labels = 0
        node = nodes[order[at]]
        identity = identities[order[at]]
        while at < count and identities[order[at]] == identity:
            labels |= of_node(nodes[order[at]], m.LABELS, M)
            at += 1
        head = add_node(of_node(node, m.SYMBOL, M), identity, labels, head, M)
    instance = M[m.MADE][target * m.MADE_WIDTH + m.MADE_INSTANCE]
    M[m.MADE][target * m.MADE_WIDTH + m.MADE_LO] = lo
    M[m.MADE][target * m.MADE_WIDTH + m.MADE_NODE] = head
    if L[m.HEAD][m.SELECTS] > 0:
        select(target, head, instance, L, M, X)
