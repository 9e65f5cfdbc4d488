"""Walks over the lists in the kernel's memory, for those who save them."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled


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
def reach(heads, count, nodes):
    """The matched symbols of lists, each once, in the order in which they were matched."""
    held = np.zeros(count, np.bool_)
    for at in range(len(heads)):
        node = heads[at]
        while node >= 0 and not held[node]:
            held[node] = True
            node = nodes[node * m.NODE_WIDTH + m.PARENT]
    return np.flatnonzero(held)
