"""The kernel's memory: arrays that grow between its calls, never during one."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.memory import NONE, Ints
from penstock.engine.spare import SPARE

RUNS = 1 << 10
"""For how many runs and composites there is room at first."""
ROOMY = 2
"""Where more room for runs is needed, memory for so many times as many is taken."""


class Memory:
    """The arrays of one program; ``arrays`` is what the kernel takes."""

    def __init__(self, timers: int, limits: int, selects: int, reports: bool, compares: bool = True) -> None:
        self.timers = timers
        self.clocked = timers + limits
        self.selects = selects
        self.reports = reports
        self.compares = compares
        counts = np.zeros(m.HEADER, np.int64)
        counts[m.NOW], counts[m.RESUME], counts[m.FREE], counts[m.KNOWN] = NONE, -1, -1, 1
        empty = np.zeros(0, np.int64)
        self.arrays: tuple[Ints, ...] = (counts, *[empty] * 11)
        self._replace(m.QUEUE_ENDS, np.zeros(max(1, 2 * timers), np.int64))
        self._replace(m.SCRATCH, np.zeros(max(1, limits), np.int64))
        self.grow_runs(RUNS)
        self.set_node_room(2 * RUNS)
        self.grow_made(RUNS)
        self.grow_instances(1)
        if timers:
            self.grow_queues(RUNS)
        if reports:
            self.grow_ended(RUNS)

    @property
    def counts(self) -> Ints:
        """Counts, and how much room there is."""
        return self.arrays[m.COUNTS]

    def rows(self, which: int, width: int, count: int) -> Ints:
        """The first rows of an array, as a view."""
        return self.arrays[which][: count * width].reshape(count, width)

    def live(self, which: int) -> int:
        """A count."""
        return int(self.counts[which])

    def _replace(self, which: int, array: Ints) -> None:
        self.arrays = (*self.arrays[:which], array, *self.arrays[which + 1 :])

    def _grown(self, which: int, length: int, used: int | None = None) -> None:
        """Another length for an array; so much of it is used. Only what is read before it is written must be zero."""
        before = self.arrays[which][:used]
        is_blank = which == m.CLOCKS or not len(self.arrays[which])
        after = (SPARE.blank if is_blank else SPARE.unwritten)(max(length, 1))
        after[: len(before)] = before
        self._replace(which, after)

    def grow_runs(self, room: int) -> None:
        """Room for so many runs; memory that is not written yet costs nothing, so that more of it is taken at once."""
        before = self.live(m.RUN_ROOM)
        if room * m.RUN_WIDTH > len(self.arrays[m.RUNS]):
            whole = ROOMY * room if before else room
            self._grown(m.RUNS, whole * m.RUN_WIDTH, before * m.RUN_WIDTH)
            self._grown(m.CLOCKS, whole * self.clocked, before * self.clocked)
        runs = self.rows(m.RUNS, m.RUN_WIDTH, room)
        first = max(before, 1)  # row 0 is the run that has matched nothing
        runs[first:, m.NEXT] = np.arange(first + 1, room + 1)
        runs[-1, m.NEXT] = self.counts[m.FREE]
        self.counts[m.FREE] = first
        self.counts[m.FREE_RUNS] += room - first
        self.counts[m.RUN_ROOM] = room
        if self.compares:
            slots = 1 << (2 * room).bit_length()
            self.counts[m.TABLE_MASK] = slots - 1
            self._replace(m.TABLE, np.full(slots * m.TABLE_WIDTH, -1, np.int64))

    def fit(self, runs: int, nodes: int, instances: int, made: int) -> None:
        """Room for what is put in from outside."""
        self.grow_runs(max(runs, self.live(m.RUN_ROOM)))
        self.set_node_room(max(nodes, self.live(m.NODE_ROOM)))
        self.grow_instances(max(instances, len(self.arrays[m.INSTANCES]) // m.INSTANCE_WIDTH))
        self.grow_made(max(made + RUNS, self.live(m.MADE_ROOM)))

    def set_used(self, runs: int, nodes: int, instances: int) -> None:
        """The first rows are in use, the others free."""
        room = self.live(m.RUN_ROOM)
        rows = self.rows(m.RUNS, m.RUN_WIDTH, room)
        rows[runs + 1 :, m.NEXT] = np.arange(runs + 2, room + 1)
        rows[-1, m.NEXT] = -1
        counts = self.counts
        counts[m.FREE], counts[m.FREE_RUNS] = runs + 1, room - runs - 1
        counts[m.NODE_COUNT], counts[m.KNOWN], counts[m.LIVE] = nodes, instances, runs

    def lay_runs(self, rows: Ints, clocks: Ints, owners: Ints, room: int) -> None:
        """Lays all runs one behind the other in a room of this size; ``owners`` are their instances."""
        for which in (m.RUNS, m.CLOCKS):
            self._replace(which, np.zeros(0, np.int64))
        self.counts[m.RUN_ROOM] = 0
        self.grow_runs(room)
        laid = self.rows(m.RUNS, m.RUN_WIDTH, len(rows) + 1)
        laid[1:] = rows
        self.rows(m.CLOCKS, self.clocked, len(rows) + 1)[1:] = clocks
        known = self.live(m.KNOWN)
        link_runs(laid, self.rows(m.INSTANCES, m.INSTANCE_WIDTH, known), np.append(0, owners))
        self.set_used(len(rows), self.live(m.NODE_COUNT), known)

    def put_instances(self, rows: Ints) -> None:
        """These are the instances now; half of the room is kept for others."""
        room = len(self.arrays[m.INSTANCES]) // m.INSTANCE_WIDTH // 2
        self.counts[m.KNOWN] = 0
        self.grow_instances(max(2 * len(rows), room))
        self.rows(m.INSTANCES, m.INSTANCE_WIDTH, len(rows))[:] = rows
        self.counts[m.KNOWN] = len(rows)

    def wait(self, clocks: Ints, owners: Ints) -> None:
        """The deadlines that runs of these instances have wait, and no others."""
        queues = []
        for timer in range(self.timers):
            waiting = np.unique(np.stack([clocks[:, timer], owners], axis=1), axis=0)
            queues.append(waiting[waiting[:, 0] != NONE])
        self.set_queues(queues, max([2 * len(queue) for queue in queues] + [RUNS]))

    def set_node_room(self, room: int) -> None:
        """Room for so many matched symbols, no fewer than there are."""
        self._grown(m.NODES, room * m.NODE_WIDTH, self.live(m.NODE_COUNT) * m.NODE_WIDTH)
        self.counts[m.NODE_ROOM] = room

    def grow_made(self, room: int) -> None:
        """Room for so many composites, or a few more: their chains need a power of two."""
        room = 1 << (room - 1).bit_length()
        made = self.live(m.MADE_COUNT)
        self._grown(m.MADE, room * m.MADE_WIDTH, made * m.MADE_WIDTH)
        self._grown(m.SELECTED, room * 2 * self.selects, made * 2 * self.selects)
        self.counts[m.MADE_ROOM] = room

    def grow_ended(self, room: int) -> None:
        """Room for reports of so many runs that ended."""
        self._grown(m.ENDED, room * m.ENDED_WIDTH)
        self.counts[m.ENDED_ROOM] = room

    def grow_instances(self, room: int) -> None:
        """Room for so many instances; their rows are written when they are known."""
        self._grown(m.INSTANCES, room * m.INSTANCE_WIDTH, self.live(m.KNOWN) * m.INSTANCE_WIDTH)

    def grow_queues(self, room: int) -> None:
        """Room for so many deadlines of each timer."""
        self.set_queues(self.queues(), room)

    def queues(self) -> list[Ints]:
        """The deadlines that wait for each timer, and whose they are."""
        if not self.live(m.QUEUE_ROOM):
            return [np.zeros((0, m.QUEUE_WIDTH), np.int64) for _ in range(self.timers)]
        rows = self.arrays[m.QUEUES].reshape(self.timers, self.live(m.QUEUE_ROOM), m.QUEUE_WIDTH)
        ends = self.arrays[m.QUEUE_ENDS].reshape(-1, 2)
        return [rows[timer, ends[timer, 0] : ends[timer, 1]].copy() for timer in range(self.timers)]

    def set_queues(self, queues: list[Ints], room: int) -> None:
        """Lets these deadlines wait, and leaves room for more."""
        if not self.timers:
            return
        rows = np.empty((self.timers, room, m.QUEUE_WIDTH), np.int64)
        for timer, queue in enumerate(queues):
            rows[timer, : len(queue)] = queue
            self.arrays[m.QUEUE_ENDS][2 * timer : 2 * timer + 2] = (0, len(queue))
        self._replace(m.QUEUES, rows.ravel())
        self.counts[m.QUEUE_ROOM] = room


def link_runs(rows: Ints, state: Ints, owners: Ints) -> None:
    """Makes lists of runs that stand in their order, one instance after the other; row 0 is none of them."""
    runs = np.arange(1, len(rows))
    is_last = np.append(owners[2:] != owners[1:-1], True) if len(runs) else np.zeros(0, bool)
    is_first = np.append(True, owners[2:] != owners[1:-1]) if len(runs) else np.zeros(0, bool)
    rows[1:, m.NEXT] = np.where(is_last, -1, runs + 1)
    state[owners[1:][is_first], m.FIRST_RUN] = runs[is_first]
    state[:, m.LIVE_RUNS] = np.bincount(owners[1:], minlength=len(state))
