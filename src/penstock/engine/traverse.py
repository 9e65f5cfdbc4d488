"""Walks over the lists in the kernel's memory, for those who save them."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled
from penstock.engine.lists import has_no_bound, instant_after, of_run, over_since
from penstock.engine.pointers import layout_of, memory_of


@compiled
def list_runs(instances, instance_rows, runs, together):
    """The runs of instances in the order of their lists, whose each is, and who leads it."""
    count = 0
    for at in range(len(instances)):
        count += instance_rows[instances[at] * m.INSTANCE_WIDTH + m.LIVE_RUNS]
    found = np.empty(count, np.int64)
    owners = np.empty(count, np.int64)
    leaders = np.empty(count, np.int64)
    count = 0
    for at in range(len(instances)):
        leader = instance_rows[instances[at] * m.INSTANCE_WIDTH + m.FIRST_RUN]
        while leader > 0:
            run, last = leader, leader
            if together and runs[leader * m.RUN_WIDTH + m.LAST_OF_GROUP] != m.NONE:
                last = runs[leader * m.RUN_WIDTH + m.LAST_OF_GROUP]
            while True:
                found[count] = run
                owners[count] = instances[at]
                leaders[count] = leader
                count += 1
                if run == last:
                    break
                run = runs[(last if run == leader else run) * m.RUN_WIDTH + m.NEXT]
            leader = runs[leader * m.RUN_WIDTH + m.NEXT]
    return found, owners, leaders


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
def reach_forwards(heads, tops, marks, mark, nodes):
    """What groups have matched after symbols, up to their last ones, if there are any; each once."""
    count = 0
    for at in range(len(heads)):
        node = heads[at]
        while tops[at] >= 0 and node != tops[at]:
            node = nodes[node * m.NODE_WIDTH + m.AFTER]
            if marks[node] == mark:
                break
            marks[node] = mark
            count += 1
    found = np.empty(count, np.int64)
    count = 0
    for at in range(len(heads)):
        node = heads[at]
        while tops[at] >= 0 and node != tops[at]:
            node = nodes[node * m.NODE_WIDTH + m.AFTER]
            if marks[node] != mark:
                break
            marks[node] = -mark
            found[count] = node
            count += 1
    return found


@compiled
def over_at(runs, layout, memory):
    """The last instant at which each run can still come to something."""
    L, M = layout_of(layout), memory_of(memory)
    if L[m.HEAD][m.TOGETHER]:
        found = np.full(len(runs), m.FAR)
        if L[m.HEAD][m.LIMITS] > 0:
            for at in range(len(runs)):
                found[at] = instant_after(of_run(runs[at], m.LO, M), L[m.HEAD][L[m.HEAD][m.LIMIT_LENGTH]])
        return found
    found = np.empty(len(runs), np.int64)
    age = L[m.HEAD][m.AGE]
    for at in range(len(runs)):
        found[at] = over_since(runs[at], L, M) if L[m.HEAD][m.LIMITS] > 0 else m.FAR
        if age >= 0 and has_no_bound(runs[at], L, M):
            found[at] = min(found[at], (of_run(runs[at], m.BEGAN, M) >> 1) + age)
    return found
