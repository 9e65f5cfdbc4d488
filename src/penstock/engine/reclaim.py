"""Storage that no live run needs is reclaimed, and what was made is taken out of the kernel's memory."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled
from penstock.engine.kernel import let_go
from penstock.engine.lists import end, of_node, of_run, set_run
from penstock.engine.pointers import layout_of, memory_of, pointer
from penstock.engine.together import behind, is_loose, last_of

BACKWARDS, FORWARDS = 1, 2


@compiled
def sweep(now, layout, memory):
    """Ends all runs that can only come to nothing."""
    L, M = layout_of(layout), memory_of(memory)
    for instance in range(M[m.COUNTS][m.KNOWN]):
        if M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN] >= 0:
            let_go(instance, now, L, M)


@compiled
def report_open(now, layout, memory):
    """Reports the runs that still wait when the input is over."""
    L, M = layout_of(layout), memory_of(memory)
    if L[m.HEAD][m.TOGETHER]:
        M[m.COUNTS][m.OPEN] += M[m.COUNTS][m.LIVE]
        return
    for instance in range(M[m.COUNTS][m.KNOWN]):
        run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run >= 0:
            end(run, m.OPEN, now, instance, L, M)
            run = of_run(run, m.NEXT, M)


@compiled
def hold(node, held, M):
    """Marks a list of matched symbols."""
    while node >= 0 and not held[node] & BACKWARDS:
        held[node] |= BACKWARDS
        node = of_node(node, m.PARENT, M)


@compiled
def hold_forwards(node, last, held, M):
    """Marks what a group has matched after a symbol, up to its last; where one is marked, all behind it are."""
    while node != last:
        node = of_node(node, m.AFTER, M)
        if held[node] & FORWARDS:
            return
        held[node] |= FORWARDS


@compiled
def hold_run(run, together, held, M):
    """Marks all that a run has matched, and those of its group if it leads one."""
    last = last_of(run, M) if together else run
    is_tied = together and not is_loose(run, M)
    one = run
    while True:
        hold(of_run(one, m.HEAD_NODE, M), held, M)
        if is_tied:
            hold_forwards(of_run(one, m.HEAD_NODE, M), of_run(run, m.TOP, M), held, M)
        if one == last:
            return
        one = behind(one, run, last, M)


@compiled
def put_run(run, together, held, M):
    """Lets a run, and those of its group if it leads one, know where its matched symbols are now."""
    last = last_of(run, M) if together else run
    if together and not is_loose(run, M):
        set_run(run, m.TOP, held[of_run(run, m.TOP, M)] - 1, M)
    one = run
    while True:
        set_run(one, m.HEAD_NODE, held[of_run(one, m.HEAD_NODE, M)] - 1, M)
        if one == last:
            return
        one = behind(one, run, last, M)


@compiled
def reclaim_nodes(together, memory):
    """Drops all matched symbols that no run, composite or report holds.

    Of what a group has matched, it holds more than composites of its runs do, and later ones more than earlier ones.
    """
    M = memory_of(memory)
    counts = M[m.COUNTS]
    marks = np.zeros(counts[m.NODE_COUNT] + 1, np.int64)
    held = pointer(marks.ctypes.data)
    for instance in range(counts[m.KNOWN]):
        run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run >= 0:
            hold_run(run, together, held, M)
            run = of_run(run, m.NEXT, M)
    for one in range(counts[m.MADE_COUNT] - 1, -1, -1):
        node = M[m.MADE][one * m.MADE_WIDTH + m.MADE_NODE]
        first = M[m.MADE][one * m.MADE_WIDTH + m.MADE_START] if together else node
        hold(first, held, M)
        hold_forwards(first, node, held, M)
    for one in range(counts[m.ENDED_COUNT]):
        hold(M[m.ENDED][one * m.ENDED_WIDTH + m.ENDED_NODE], held, M)
    kept, before = 0, counts[m.NODE_COUNT]
    for node in range(before):
        if held[node]:
            parent = of_node(node, m.PARENT, M)
            M[m.NODES][kept * m.NODE_WIDTH + m.PARENT] = held[parent] - 1 if parent >= 0 else -1
            for column in (m.SYMBOL, m.LABELS, m.HASH):
                M[m.NODES][kept * m.NODE_WIDTH + column] = of_node(node, column, M)
            kept += 1
            held[node] = kept
    counts[m.NODE_COUNT] = kept
    if together:
        for node in range(kept):
            after = of_node(node, m.AFTER, M)
            M[m.NODES][node * m.NODE_WIDTH + m.AFTER] = held[after] - 1 if 0 <= after < before else -1
    for instance in range(counts[m.KNOWN]):
        run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run >= 0:
            put_run(run, together, held, M)
            run = of_run(run, m.NEXT, M)
    for one in range(counts[m.MADE_COUNT]):
        row = one * m.MADE_WIDTH
        M[m.MADE][row + m.MADE_NODE] = held[M[m.MADE][row + m.MADE_NODE]] - 1
        if together:
            M[m.MADE][row + m.MADE_START] = held[M[m.MADE][row + m.MADE_START]] - 1
    for one in range(counts[m.ENDED_COUNT]):
        M[m.ENDED][one * m.ENDED_WIDTH + m.ENDED_NODE] = held[M[m.ENDED][one * m.ENDED_WIDTH + m.ENDED_NODE]] - 1
    marks[0] = 0  # the array must live until here


@compiled
def columns_of(made):
    """Composites by column: instance, times, place, the last matched symbol and where it is reached from."""
    columns = np.empty((6, made.shape[0]), np.int64)
    for row in range(made.shape[0]):
        columns[0, row] = made[row, m.MADE_INSTANCE]
        columns[1, row] = made[row, m.MADE_LO]
        columns[2, row] = made[row, m.MADE_HI]
        place = made[row, m.MADE_PLACE]
        columns[3, row] = place if place >= 0 else -1 - (-1 - place) % m.FIRINGS
        columns[4, row] = made[row, m.MADE_NODE]
        columns[5, row] = made[row, m.MADE_START]
    return columns


@compiled
def follow(node, last, at, symbols, labels, nodes):
    """Writes down what a group has matched after a symbol."""
    while node != last:
        node = nodes[node * m.NODE_WIDTH + m.AFTER]
        symbols[at] = nodes[node * m.NODE_WIDTH + m.SYMBOL]
        labels[at] = nodes[node * m.NODE_WIDTH + m.LABELS]
        at += 1


@compiled
def list_parts(starts, heads, nodes):
    """The matched symbols of lists, in the order of matching: offsets, symbols, labels.

    What is before a list's start can be read backwards, and what is behind it, up to its head, forwards.
    """
    count = len(heads)
    offsets = np.zeros(count + 1, np.int64)
    for one in range(count):
        length = 0
        node = starts[one]
        while node != heads[one]:
            length += 1
            node = nodes[node * m.NODE_WIDTH + m.AFTER]
        node = starts[one]
        while node >= 0:
            length += 1
            node = nodes[node * m.NODE_WIDTH + m.PARENT]
        offsets[one + 1] = offsets[one] + length
    symbols = np.empty(offsets[count], np.int64)
    labels = np.empty(offsets[count], np.int64)
    for one in range(count):
        at = offsets[one + 1]
        node = starts[one]
        if node != heads[one]:
            at = offsets[one]
            while node >= 0:
                at += 1
                node = nodes[node * m.NODE_WIDTH + m.PARENT]
            follow(starts[one], heads[one], at, symbols, labels, nodes)
            node = starts[one]
        while node >= 0:
            at -= 1
            symbols[at] = nodes[node * m.NODE_WIDTH + m.SYMBOL]
            labels[at] = nodes[node * m.NODE_WIDTH + m.LABELS]
            node = nodes[node * m.NODE_WIDTH + m.PARENT]
    return offsets, symbols, labels


@compiled
def renumber(numbers, memory):
    """Gives the matched symbols the numbers that they have from now on."""
    M = memory_of(memory)
    for node in range(M[m.COUNTS][m.NODE_COUNT]):
        row = node * m.NODE_WIDTH + m.SYMBOL
        M[m.NODES][row] = numbers[M[m.NODES][row]]
