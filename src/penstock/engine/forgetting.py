"""Instances that hold nothing are forgotten, and where a program holds little its memory becomes small again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.engine import memory as m
from penstock.engine.groups import group, listed
from penstock.engine.heap import RUNS, Memory
from penstock.engine.memory import Ints
from penstock.engine.moves import link_all_made
from penstock.engine.runner import Runner
from penstock.engine.together import LOOSE

Bools = NDArray[np.bool_]
ROOMY = 8
"""Where less than one in so many rows is used, there is too much room."""


def is_living(runners: Sequence[Runner], count: int) -> Bools:
    """Which instances differ from those never seen, in one of these programs."""
    living = np.zeros(count, bool)
    for runner in runners:
        rows = runner.memory.rows(m.INSTANCES, m.INSTANCE_WIDTH, runner.memory.live(m.KNOWN))
        living[: len(rows)] |= (rows[:, m.FIRST_RUN] > 0) | (rows[:, m.DEAD] != rows[0, m.DEAD])
    return living


def is_named(runners: Sequence[Runner], count: int) -> Bools:
    """Which instances made something that could be made again at the present instant, or something yet to be told."""
    named = np.zeros(count, bool)
    for runner in runners:
        for owners in _owners(runner.memory):
            named[owners] = True
    return named


def keep_instances(memory: Memory, kept: Ints) -> None:
    """Forgets all instances of a program but these, which get the numbers of their places; the first is 0.

    Those who wait for a timer are found anew: many a deadline is of a run that has gone on since.
    """
    known = memory.live(m.KNOWN)
    numbers = np.zeros(max(known, int(kept[-1]) + 1), np.int64)
    numbers[kept] = np.arange(len(kept))
    for owners in _owners(memory):
        owners[:] = numbers[owners]
    link_all_made(memory.arrays)
    memory.put_instances(memory.rows(m.INSTANCES, m.INSTANCE_WIDTH, known)[kept[kept < known]])
    if memory.timers:
        runs = listed(memory, np.arange(memory.live(m.KNOWN)), together=False)
        memory.wait(runs.clocks, runs.owners)


def shrink(runner: Runner) -> None:
    """Gives half of the room back where there is far more of it than runs and matched symbols need.

    As many may come again, so that not all of it is given back at once.
    """
    memory = runner.memory
    used, room = memory.live(m.NODE_COUNT) + 2 * RUNS, memory.live(m.NODE_ROOM)
    if room > ROOMY * used:
        memory.set_node_room(max(2 * used, room // 2))
    used, room = memory.live(m.LIVE) + RUNS, memory.live(m.RUN_ROOM)
    if room > ROOMY * used:
        runs = listed(memory, np.arange(memory.live(m.KNOWN)), runner.is_together)
        memory.lay_runs(runs.rows, runs.clocks, runs.owners, max(2 * used, room // 2))
        if runner.is_together:
            laid = memory.rows(m.RUNS, m.RUN_WIDTH, len(runs) + 1)
            group(laid, np.append(0, runs.owners), np.append(LOOSE, runs.tops))


def _owners(memory: Memory) -> tuple[Ints, Ints]:
    """The instances of what was made, and of runs whose end is to be told."""
    made = memory.rows(m.MADE, m.MADE_WIDTH, memory.live(m.MADE_COUNT))
    ended = memory.rows(m.ENDED, m.ENDED_WIDTH, memory.live(m.ENDED_COUNT))
    return made[:, m.MADE_INSTANCE], ended[:, m.ENDED_INSTANCE]
