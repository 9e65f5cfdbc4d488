"""Storage that no live run needs is reclaimed, and what was made is taken out of the kernel's memory."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled
from penstock.engine.kernel import let_go
from penstock.engine.lists import end, of_node, of_run, set_run
from penstock.engine.pointers import layout_of, memory_of, pointer


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
    for instance in range(M[m.COUNTS][m.KNOWN]):
        run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run >= 0:
            end(run, m.OPEN, now, instance, L, M)
            run = of_run(run, m.NEXT, M)


@compiled
def hold(node, held, M):
    """Marks a list of matched symbols."""
    while node >= 0 and held[node] == 0:
        held[node] = 1
        node = of_node(node, m.PARENT, M)


@compiled
def reclaim_nodes(memory):
    """Drops all matched symbols that no run, composite or report holds."""
    M = memory_of(memory)
    counts = M[m.COUNTS]
    marks = np.zeros(counts[m.NODE_COUNT] + 1, np.int64)
    held = pointer(marks.ctypes.data)
    for instance in range(counts[m.KNOWN]):
        run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run >= 0:
            hold(of_run(run, m.HEAD_NODE, M), held, M)
            run = of_run(run, m.NEXT, M)
    for one in range(counts[m.MADE_COUNT]):
        hold(M[m.MADE][one * m.MADE_WIDTH + m.MADE_NODE], held, M)
    for one in range(counts[m.ENDED_COUNT]):
        hold(M[m.ENDED][one * m.ENDED_WIDTH + m.ENDED_NODE], held, M)
    kept = 0
    for node in range(counts[m.NODE_COUNT]):
        if held[node]:
            parent = of_node(node, m.PARENT, M)
            M[m.NODES][kept * m.NODE_WIDTH + m.PARENT] = held[parent] if parent >= 0 else -1
            for column in (m.SYMBOL, m.LABELS, m.HASH):
                M[m.NODES][kept * m.NODE_WIDTH + column] = of_node(node, column, M)
            held[node] = kept
            kept += 1
    counts[m.NODE_COUNT] = kept
    for instance in range(counts[m.KNOWN]):
        run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run >= 0:
            set_run(run, m.HEAD_NODE, held[of_run(run, m.HEAD_NODE, M)], M)
            run = of_run(run, m.NEXT, M)
    for one in range(counts[m.MADE_COUNT]):
        M[m.MADE][one * m.MADE_WIDTH + m.MADE_NODE] = held[M[m.MADE][one * m.MADE_WIDTH + m.MADE_NODE]]
    for one in range(counts[m.ENDED_COUNT]):
        M[m.ENDED][one * m.ENDED_WIDTH + m.ENDED_NODE] = held[M[m.ENDED][one * m.ENDED_WIDTH + m.ENDED_NODE]]
    marks[0] = 0  # the array must live until here


@compiled
def columns_of(made):
    """Composites by column: instance, times, place and the last matched symbol."""
    columns = np.empty((5, made.shape[0]), np.int64)
    for row in range(made.shape[0]):
        columns[0, row] = made[row, m.MADE_INSTANCE]
        columns[1, row] = made[row, m.MADE_LO]
        columns[2, row] = made[row, m.MADE_HI]
        columns[3, row] = made[row, m.MADE_PLACE]
        columns[4, row] = made[row, m.MADE_NODE]
    return columns


@compiled
def list_parts(heads, nodes):
    """The matched symbols of lists, in the order of matching: offsets, symbols, labels."""
    count = len(heads)
    offsets = np.zeros(count + 1, np.int64)
    for one in range(count):
        length = 0
        node = heads[one]
        while node >= 0:
            length += 1
            node = nodes[node * m.NODE_WIDTH + m.PARENT]
        offsets[one + 1] = offsets[one] + length
    symbols = np.empty(offsets[count], np.int64)
    labels = np.empty(offsets[count], np.int64)
    for one in range(count):
        at = offsets[one + 1]
        node = heads[one]
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
