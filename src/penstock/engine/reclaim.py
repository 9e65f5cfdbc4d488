"""Storage that no live run needs is reclaimed, and what was made is taken out of the kernel's memory."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled, inlined
from penstock.engine.leaving import let_go
from penstock.engine.lists import end, of_node, of_run, set_run
from penstock.engine.pointers import layout_of, memory_of, pointer, prefetch
from penstock.engine.together import behind, is_loose, last_of

BACKWARDS, FORWARDS = 1, 2
FEW = 2
"""So many parts for each composite are few."""
AHEAD = 16
"""So many composites or instances pass while the processor fetches a matched symbol or a run."""


@compiled
def sweep(now, layout, memory):
    """Ends all runs that can only come to nothing."""
    L, M = layout_of(layout), memory_of(memory)
    for instance in range(M[m.COUNTS][m.KNOWN]):
        ask_for_first(instance, M)
        if M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN] > 0:
            let_go(instance, now, L, M)


@inlined
def ask_for_first(instance, M):
    """Asks for the first run of an instance to come, where one after the other is looked at."""
    further = min(instance + AHEAD, M[m.COUNTS][m.KNOWN] - 1)
    prefetch(M[m.RUNS], M[m.INSTANCES][further * m.INSTANCE_WIDTH + m.FIRST_RUN] * m.RUN_WIDTH)


@compiled
def report_open(now, layout, memory):
    """Reports the runs that still wait when the input is over."""
    L, M = layout_of(layout), memory_of(memory)
    if L[m.HEAD][m.TOGETHER]:
        M[m.COUNTS][m.OPEN] += M[m.COUNTS][m.LIVE]
        return
    for instance in range(M[m.COUNTS][m.KNOWN]):
        run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run > 0:
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
        ask_for_first(instance, M)
        run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run > 0:
            hold_run(run, together, held, M)
            run = of_run(run, m.NEXT, M)
    for one in range(counts[m.MADE_COUNT] - 1, -1, -1):
        row = one * m.MADE_WIDTH
        hold(M[m.MADE][row + m.MADE_NODE], held, M)
        if together:
            hold(M[m.MADE][row + m.MADE_START], held, M)
            hold_forwards(M[m.MADE][row + m.MADE_START], M[m.MADE][row + m.MADE_TOP], held, M)
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
        ask_for_first(instance, M)
        run = M[m.INSTANCES][instance * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run > 0:
            put_run(run, together, held, M)
            run = of_run(run, m.NEXT, M)
    for one in range(counts[m.MADE_COUNT]):
        row = one * m.MADE_WIDTH
        M[m.MADE][row + m.MADE_NODE] = held[M[m.MADE][row + m.MADE_NODE]] - 1
        if together:
            for column in (m.MADE_START, m.MADE_TOP):
                M[m.MADE][row + column] = held[M[m.MADE][row + column]] - 1
    for one in range(counts[m.ENDED_COUNT]):
        M[m.ENDED][one * m.ENDED_WIDTH + m.ENDED_NODE] = held[M[m.ENDED][one * m.ENDED_WIDTH + m.ENDED_NODE]] - 1
    marks[0] = 0  # the array must live until here


@compiled
def take_out(made, together, nodes):
    """Composites by column: instance, times and place; and their parts, as `list_parts` gives them.

    Where there are few parts, they are written as soon as it is known how many there are.
    """
    count = made.shape[0]
    columns = np.empty((4, count), np.int64)
    offsets = np.zeros(count + 1, np.int64)
    rows, given = pointer(made.ctypes.data), pointer(nodes.ctypes.data)
    room = FEW * count
    symbols, labels = np.empty(room, np.int64), np.empty(room, np.int64)
    into, beside = pointer(symbols.ctypes.data), pointer(labels.ctypes.data)
    for one in range(count):
        row = one * m.MADE_WIDTH
        columns[0, one] = rows[row + m.MADE_INSTANCE]
        columns[1, one] = rows[row + m.MADE_LO]
        columns[2, one] = rows[row + m.MADE_HI]
        place = rows[row + m.MADE_PLACE]
        columns[3, one] = place if place >= 0 else -1 - (-1 - place) % m.FIRINGS
        start, top, head = path_of(row, together, rows)
        prefetch(rows, min(one + 2 * AHEAD, count - 1) * m.MADE_WIDTH)
        ask_for_parts(min(one + AHEAD, count - 1), together, rows, given)
        offsets[one + 1] = offsets[one] + length_of(start, top, head, given)
        if offsets[one + 1] <= room:
            write_parts(start, top, head, offsets[one], offsets[one + 1], into, beside, given)
    if offsets[count] <= room:
        return columns, offsets, symbols[: offsets[count]], labels[: offsets[count]]
    symbols, labels = np.empty(offsets[count], np.int64), np.empty(offsets[count], np.int64)
    into, beside = pointer(symbols.ctypes.data), pointer(labels.ctypes.data)
    for one in range(count):
        start, top, head = path_of(one * m.MADE_WIDTH, together, rows)
        ask_for_parts(min(one + AHEAD, count - 1), together, rows, given)
        write_parts(start, top, head, offsets[one], offsets[one + 1], into, beside, given)
    return columns, offsets, symbols, labels


@inlined
def ask_for_parts(one, together, rows, nodes):
    """Asks for the parts of a composite to come that are named where it is."""
    start, top, head = path_of(one * m.MADE_WIDTH, together, rows)
    prefetch(nodes, start * m.NODE_WIDTH)
    if together:
        prefetch(nodes, top * m.NODE_WIDTH)
        prefetch(nodes, head * m.NODE_WIDTH)


@compiled
def list_parts(heads, nodes):
    """The matched symbols of lists, in the order of matching: offsets, symbols, labels."""
    count = len(heads)
    offsets = np.zeros(count + 1, np.int64)
    given = pointer(nodes.ctypes.data)
    for one in range(count):
        offsets[one + 1] = offsets[one] + length_of(heads[one], heads[one], heads[one], given)
    symbols, labels = np.empty(offsets[count], np.int64), np.empty(offsets[count], np.int64)
    into, beside = pointer(symbols.ctypes.data), pointer(labels.ctypes.data)
    for one in range(count):
        write_parts(heads[one], heads[one], heads[one], offsets[one], offsets[one + 1], into, beside, given)
    return offsets, symbols, labels


@inlined
def path_of(row, together, rows):
    """Where the parts of a composite are: before a start backwards, from there up to a top forwards, then a head."""
    head = rows[row + m.MADE_NODE]
    return rows[row + m.MADE_START] if together else head, rows[row + m.MADE_TOP] if together else head, head


@inlined
def length_of(start, top, head, nodes):
    """How many parts those are."""
    length = 0 if top == head else 1
    node = start
    while node != top:
        length += 1
        node = nodes[node * m.NODE_WIDTH + m.AFTER]
    node = start
    while node >= 0:
        length += 1
        node = nodes[node * m.NODE_WIDTH + m.PARENT]
    return length


@inlined
def write_parts(start, top, head, first, last, symbols, labels, nodes):
    """Writes them down from the first place to the last."""
    at = last
    if top != head:
        at -= 1
        symbols[at], labels[at] = nodes[head * m.NODE_WIDTH + m.SYMBOL], nodes[head * m.NODE_WIDTH + m.LABELS]
    if start != top:
        at = first
        node = start
        while node >= 0:
            at += 1
            node = nodes[node * m.NODE_WIDTH + m.PARENT]
        follow(start, top, at, symbols, labels, nodes)
    node = start
    while node >= 0:
        at -= 1
        symbols[at], labels[at] = nodes[node * m.NODE_WIDTH + m.SYMBOL], nodes[node * m.NODE_WIDTH + m.LABELS]
        node = nodes[node * m.NODE_WIDTH + m.PARENT]


@compiled
def follow(node, last, at, symbols, labels, nodes):
    """Writes down what a group has matched after a symbol."""
    while node != last:
        node = nodes[node * m.NODE_WIDTH + m.AFTER]
        symbols[at], labels[at] = nodes[node * m.NODE_WIDTH + m.SYMBOL], nodes[node * m.NODE_WIDTH + m.LABELS]
        at += 1


@compiled
def renumber(numbers, memory):
    """Gives the matched symbols the numbers that they have from now on."""
    M = memory_of(memory)
    for node in range(M[m.COUNTS][m.NODE_COUNT]):
        row = node * m.NODE_WIDTH + m.SYMBOL
        M[m.NODES][row] = numbers[M[m.NODES][row]]
