"""Runs as they are written down: each for itself, with what it has in common with those it moves with (`together`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine import memory as m
from penstock.engine.heap import Memory
from penstock.engine.memory import Ints
from penstock.engine.together import LOOSE
from penstock.engine.traverse import list_runs

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Listed:
    """Runs, instance by instance: their rows and clocks, and whose each is.

    ``tops`` are, of those that have matched something together with others, the last symbols of that, and -1 of all
    others; `HEAD_NODE` is then what they matched by themselves.
    """

    owners: Ints
    rows: Ints
    clocks: Ints
    tops: Ints

    def __len__(self) -> int:
        return len(self.rows)


def listed(memory: Memory, instances: Ints, together: bool) -> Listed:
    """The runs of instances in the order in which they started; ``together`` says that they may be in groups."""
    found, owners, leaders = list_runs(instances, memory.arrays[m.INSTANCES], memory.arrays[m.RUNS], together)
    room = memory.live(m.RUN_ROOM)
    rows = memory.rows(m.RUNS, m.RUN_WIDTH, room)[found]
    clocks = memory.rows(m.CLOCKS, memory.clocked, room)[found]
    tops = np.full(len(found), LOOSE, np.int64)
    if together:
        led = memory.rows(m.RUNS, m.RUN_WIDTH, room)[leaders]
        is_tied = (led[:, m.LAST_OF_GROUP] != m.NONE) & (led[:, m.TOP] != LOOSE)
        tops[is_tied] = led[is_tied, m.TOP]
        common = [m.STATE, m.PREVIOUS]
        rows[np.ix_(is_tied, common)] = led[np.ix_(is_tied, common)]
        rows[is_tied, m.BEGAN] = (rows[is_tied, m.BEGAN] & ~1) | (led[is_tied, m.BEGAN] & 1)
        rows[:, m.REMAINING], rows[:, m.BASE] = 0, m.NONE
        clocks[:] = rows[:, [m.LO]]
    return Listed(owners, rows, clocks, tops)


def group(rows: Ints, owners: Ints, tops: Ints) -> None:
    """Lets runs that are linked one behind the other move together again; row 0 is none of them.

    Those that have matched nothing together are groups if they wait for the same and neither begin nor end before the
    one before.
    """
    if len(rows) <= 1:
        return
    before, after = rows[1:-1], rows[2:]
    is_same = (owners[2:] == owners[1:-1]) & (tops[2:] == tops[1:-1]) & (after[:, m.STATE] == before[:, m.STATE])
    is_later = (after[:, m.LO] >= before[:, m.LO]) & (after[:, m.PREVIOUS] >= before[:, m.PREVIOUS])
    is_inside = np.append(False, is_same & is_later)
    leaders = np.flatnonzero(~is_inside) + 1
    last = np.append(leaders[1:] - 1, len(rows) - 1)
    is_group: Bools = (last > leaders) | (tops[leaders] != LOOSE)
    leaders, last = leaders[is_group], last[is_group]
    following = rows[last, m.NEXT]
    rows[last, m.NEXT] = leaders + 1
    rows[leaders, m.NEXT] = following
    rows[leaders, m.LAST_OF_GROUP], rows[leaders, m.TOP] = last, tops[leaders]
