"""Walks over the lists in the kernel's memory, for those who save them."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled
from penstock.engine.lists import has_no_bound, of_run, over_since
from penstock.engine.pointers import layout_of, memory_of


@compiled
def list_runs(instances, instance_rows, runs):
    """The runs of instances in the order of their lists, and whose each is."""
    count = 0
    for at in range(len(instances)):
        run = instance_rows[instances[at] * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run >= 0:
            count += 1
            run = runs[run * m.RUN_WIDTH + m.NEXT]
    found = np.empty(count, np.int64)
    owners = np.empty(count, np.int64)
    count = 0
    for at in range(len(instances)):
        run = instance_rows[instances[at] * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while run >= 0:
            found[count] = run
            owners[count] = instances[at]
            count += 1
            run = runs[run * m.RUN_WIDTH + m.NEXT]
    return found, owners


@compiled
def reach(heads, marks, mark, nodes):
    """The matched symbols of lists, each once; those that are found get the mark, which nobody had before."""
    count = 0
    for at in range(len(heads)):
        node = heads[at]
        while node >= 0 and marks[node] != mark:
            marks[node] = mark
            count += 1
            node = nodes[node * m.NODE_WIDTH + m.PARENT]
    found = np.empty(count, np.int64)
    count = 0
    for at in range(len(heads)):
        node = heads[at]
        while node >= 0 and marks[node] == mark:
            marks[node] = -mark
            found[count] = node
            count += 1
            node = nodes[node * m.NODE_WIDTH + m.PARENT]
    return found


@compiled
def over_at(runs, layout, memory):
    """The last instant at which each run can still come to something."""
    L, M = layout_of(layout), memory_of(memory)
    found = np.empty(len(runs), np.int64)
    age = L[m.HEAD][m.AGE]
    for at in range(len(runs)):
        found[at] = over_since(runs[at], L, M) if L[m.HEAD][m.LIMITS] > 0 else m.FAR
        if age >= 0 and has_no_bound(runs[at], L, M):
            found[at] = min(found[at], (of_run(runs[at], m.BEGAN, M) >> 1) + age)
    return found
