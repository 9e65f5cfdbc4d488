"""Runs one program: holds its state, makes room for it, and hands batches of places to the kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.algebra.expressions import After, AtClock, AtInstant
from penstock.automaton.program import Program
from penstock.engine import kernel, lists
from penstock.engine import memory as m
from penstock.engine.memory import NONE
from penstock.errors import DataError
from penstock.events.times import DAY, EARLIEST, next_clock_time, zone_of

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Made:
    """Composites of one batch: ``place`` is that of the batch which completed each, or -1 − timer.

    The parts of a composite are rows ``offsets[i]`` to ``offsets[i + 1]`` of ``symbols`` and ``labels``.
    """

    instance: Ints
    lo: Ints
    hi: Ints
    place: Ints
    offsets: Ints
    symbols: Ints
    labels: Ints
    kinds: Ints
    values: Ints

    def __len__(self) -> int:
        return len(self.lo)


def _clock_times(clock: int, after: int, end: int, zone: str) -> list[int]:
    """The instants after ``after`` at which it is that time of day, up to the first one past ``end``."""
    minutes, seconds = divmod(clock, 60_000_000)
    found: list[int] = []
    at = max(after, EARLIEST)
    while at <= end:
        try:
            at = next_clock_time(at, minutes // 60, minutes % 60, seconds, zone_of(zone))
        except DataError:  # the calendar ends
            break
        found.append(at)
    return found


def joined_made(some: list[Made]) -> Made:
    """Composites of several stretches of a batch as one."""
    if len(some) == 1:
        return some[0]
    ends = np.cumsum([0, *(len(one.symbols) for one in some)])
    offsets = [one.offsets[:-1] + start for one, start in zip(some, ends, strict=False)]
    arrays = {
        name: np.concatenate([getattr(one, name) for one in some])
        for name in ("instance", "lo", "hi", "place", "symbols", "labels", "kinds", "values")
    }
    return Made(offsets=np.concatenate([*offsets, ends[-1:]]), **arrays)


class Runner:
    """The runs of one program."""

    def __init__(self, program: Program, counts: dict[int, int], tables: dict[int, Any], zone: str) -> None:
        self.program = program
        self.zone = zone
        self.counts = counts
        self.tables = tables
        self.layout: Ints = np.zeros(0, np.int64)
        self.rooms = _Rooms(64, 64, 64, 64, 1)
        self.shapes: dict[int, tuple[int, int]] = {}
        self.past: list[Ints] = [np.zeros(0, np.int64) for _ in m.PLACE_COLUMNS]
        self.looked_back_at = 0
        self.replays = 0
        self.until = int(NONE)
        self.memory = self._memory(self.rooms, None)
        largest = max((int(count) for count in tables[m.ALTERNATIVE_COUNT]), default=1)
        widest = max((int(count) for count in tables[m.STATE_COUNT]), default=1)
        self.widest = max(1, largest) * max(1, widest)

    def lay_out(self, code: Ints) -> None:
        """Completes the layout with the code of the definition."""
        self.layout = m.pack(self.counts, self.tables | {m.CODE: code})

    def advance(self, places: Ints, parts: Ints, values: dict[int, Any], instances: int, until: int) -> Made:
        """Consumes places and fires the timers before ``until``; returns what was made."""
        known = m.pack(*self._known(values, places, until))
        self._know(instances, known)
        return self._run(until, 0, instances, places, parts, known)

    def _run(self, until: int, first: int, instances: int, places: Ints, parts: Ints, known: Ints) -> Made:
        """Lets the kernel go on, with more room whenever it needs it, until all places are consumed."""
        self.memory[m.CURSOR], self.memory[m.RESUME] = 0, -1
        made: list[Made] = []
        while True:
            outcome = kernel.advance(
                until, first, instances, self.widest, self.layout, self.memory, places, parts, known
            )
            if outcome == kernel.GROW:
                if self.memory[m.COMPOSITES] and self.counts[m.DISTINCT_RUNS]:
                    made.append(self._taken())
                if not self._reclaim():
                    self._grow(int(self.memory[m.NEED_RUNS]), int(self.memory[m.NEED_NODES]))
            else:
                made.append(self._taken())
                return joined_made(made)

    def _reclaim(self) -> bool:
        """Frees what no live run needs; says whether that made room enough to go on without more memory."""
        lists.reclaim(self.layout, self.memory)
        self._set_queues(self._queues())
        needed, nodes = int(self.memory[m.NEED_RUNS]), int(self.memory[m.NEED_NODES])
        timers = self.counts[m.TIMERS]
        queued = int(m.table(self.memory, m.QUEUE_LAST, timers).max()) if timers else 0
        rooms = self.rooms
        return bool(
            2 * (int(self.memory[m.NODES]) + nodes) < rooms.nodes
            and 2 * (rooms.runs - int(self.memory[m.FREE_RUNS]) + needed) < rooms.runs
            and 2 * needed < rooms.made
            and 2 * (queued + needed) < rooms.queue
        )

    def _taken(self) -> Made:
        memory, made, selects = self.memory, int(self.memory[m.COMPOSITES]), self.counts[m.SELECTS]
        offsets, symbols, labels = lists.list_parts(memory)
        cells = (m.MADE_INSTANCE, m.MADE_LO, m.MADE_HI, m.MADE_PLACE)
        kinds, values = (m.table(memory, cell, made * selects) for cell in (m.MADE_KINDS, m.MADE_VALUES))
        instance, lo, hi, place = (m.table(memory, cell, made).copy() for cell in cells)
        result = Made(
            instance,
            lo,
            hi,
            place,
            offsets,
            symbols,
            labels,
            kinds.reshape(made, selects).copy(),
            values.reshape(made, selects).copy(),
        )
        memory[m.COMPOSITES] = 0
        memory[m.SINCE] = 0
        return result

    def _known(self, values: dict[int, Any], places: Ints, until: int) -> tuple[dict[int, int], dict[int, Any]]:
        """What conditions read, and for timers at a time of day the instants at which it is that time."""
        first: list[int] = [0]
        instants: list[int] = []
        for timer in self.program.timers:
            if isinstance(timer.spec, AtClock):
                last = int(NONE)
                for start, end in self._times_of_setting(places, until):
                    times = _clock_times(timer.spec.microseconds, max(start, last), end, self.zone)
                    last = times[-1] if times else last
                    instants += times
                instants.append(int(m.FAR))
            first.append(len(instants))
        clock = {m.CLOCK_FIRST: first, m.CLOCK_INSTANTS: instants}
        counts = {cell: value for cell, value in values.items() if isinstance(value, int)}
        return counts, {cell: value for cell, value in values.items() if cell not in counts} | clock

    def _times_of_setting(self, places: Ints, until: int) -> list[tuple[int, int]]:
        """Stretches of time, in order, in which a timer may be set: by a place or a timer, or by what follows."""
        count = int(places[m.P_COUNT])
        times = m.table(places, m.P_INSTANT, count)
        ends = [(int(times[0]), int(times[-1]))] if count else []
        ends += [(int(waiting.min()), int(waiting.max())) for waiting, _ in self._queues() if len(waiting)]
        specs = [timer.spec for timer in self.program.timers]
        ends += [(spec.microseconds, spec.microseconds) for spec in specs if isinstance(spec, AtInstant)]
        further = sum(spec.microseconds if isinstance(spec, After) else 2 * DAY for spec in specs)
        return sorted((start - 1, min(end + further, max(until, end))) for start, end in ends if start <= until)

    def remember(self, places: Ints, until: int) -> None:
        """Symbols of a batch that instances yet to come must know, and how far timers have fired."""
        self.until = until
        wanted = self.replays or (0 if self.counts[m.RESTART] else self.looked_back_at)
        if wanted:
            count = int(places[m.P_COUNT])
            chosen = m.table(places, m.P_INSTANCE, count) < 0
            chosen &= (m.table(places, m.P_SETS, count) & wanted) != 0
            rows = [m.table(places, cell, count)[chosen] for cell in m.PLACE_COLUMNS]
            rows[0] += self.past[0][-1] + 1 if len(self.past[0]) else 0
            self.past = [np.concatenate(pair) for pair in zip(self.past, rows, strict=True)]

    def _look_back(self, first: int, instances: int, known: Ints) -> None:
        """Brings new instances to where they would stand had they been there from the beginning."""
        places = m.pack({m.P_COUNT: len(self.past[0])}, dict(zip(m.PLACE_COLUMNS, self.past, strict=True)))
        parts = m.blank({m.SIDE_FIRST: 0, m.SIDE_LAST: 0, m.PART_SYMBOL: 0, m.PART_LABELS: 0})
        if not self.replays:
            kernel.look_back(first, instances, self.layout, self.memory, places, parts, known)
            return
        waiting = self._queues()
        self._set_queues([(deadlines[:0], owners[:0]) for deadlines, owners in waiting])
        self._run(self.until, first, instances, places, parts, known)
        joined = [
            tuple(map(np.concatenate, zip(*pair, strict=True))) for pair in zip(waiting, self._queues(), strict=True)
        ]
        orders = [np.argsort(deadlines, kind="stable") for deadlines, _ in joined]
        self._set_queues([(d[order], o[order]) for (d, o), order in zip(joined, orders, strict=True)])

    def _queues(self) -> list[tuple[Ints, Ints]]:
        """The deadlines that wait for each timer, and whose they are."""
        timers, room = self.counts[m.TIMERS], self.rooms.queue
        first, last = (m.table(self.memory, cell, timers) for cell in (m.QUEUE_FIRST, m.QUEUE_LAST))
        deadline, owner = (
            m.table(self.memory, cell, timers * room).reshape(timers, room)
            for cell in (m.QUEUE_DEADLINE, m.QUEUE_INSTANCE)
        )
        spans = [slice(first[timer], last[timer]) for timer in range(timers)]
        return [(deadline[n, span].copy(), owner[n, span].copy()) for n, span in enumerate(spans)]

    def _set_queues(self, queues: list[tuple[Ints, Ints]]) -> None:
        """Lets these deadlines wait."""
        longest = max((len(deadlines) for deadlines, _ in queues), default=0)
        if longest > self.rooms.queue:
            self.memory = self._memory(replace(self.rooms, queue=2 * longest), self.memory)
        timers, room = self.counts[m.TIMERS], self.rooms.queue
        for timer, queue in enumerate(queues):
            for cell, column in zip((m.QUEUE_DEADLINE, m.QUEUE_INSTANCE), queue, strict=True):
                m.table(self.memory, cell, timers * room)[timer * room : timer * room + len(column)] = column
            m.table(self.memory, m.QUEUE_FIRST, timers)[timer] = 0
            m.table(self.memory, m.QUEUE_LAST, timers)[timer] = len(queue[0])

    def _know(self, instances: int, known_values: Ints) -> None:
        """Room for so many instances; a new one starts as those never seen stand."""
        known = int(self.memory[m.KNOWN])
        if instances > self.rooms.instances:
            self.memory = self._memory(replace(self.rooms, instances=2 * instances), self.memory)
        dead = m.table(self.memory, m.INSTANCE_DEAD, instances)
        dead[known:] = dead[0]
        self.memory[m.KNOWN] = max(known, instances)
        if len(self.past[0]) and instances > max(1, known):
            self._look_back(max(1, known), instances, known_values)

    def _grow(self, runs: int, nodes: int) -> None:
        """Room for at least so many more runs, composites, timers and matched symbols."""
        rooms = self.rooms
        self.memory = self._memory(
            _Rooms(
                runs=rooms.runs + max(runs, rooms.runs),
                nodes=rooms.nodes + max(nodes, rooms.nodes),
                made=rooms.made + max(runs, rooms.made),
                queue=rooms.queue + max(runs, rooms.queue),
                instances=rooms.instances,
            ),
            self.memory,
        )

    def _memory(self, rooms: _Rooms, before: Ints | None) -> Ints:
        """Memory with so much room, holding what was there before."""
        timers, selects = self.counts[m.TIMERS], self.counts[m.SELECTS]
        width = m.FIXED + timers + self.counts[m.LIMITS]
        table = 1 << (2 * rooms.runs).bit_length()
        shapes = {
            m.RUNS: (rooms.runs, width),
            m.FREE: (rooms.runs, 1),
            **dict.fromkeys((m.INSTANCE_FIRST, m.INSTANCE_RUNS, m.INSTANCE_DEAD), (rooms.instances, 1)),
            **dict.fromkeys(range(m.NODE_SYMBOL, m.NODE_HASH + 1), (rooms.nodes, 1)),
            **dict.fromkeys((m.QUEUE_DEADLINE, m.QUEUE_INSTANCE), (timers, rooms.queue)),
            **dict.fromkeys((m.QUEUE_FIRST, m.QUEUE_LAST), (timers, 1)),
            **dict.fromkeys(range(m.MADE_INSTANCE, m.MADE_HASH + 1), (rooms.made, 1)),
            **dict.fromkeys((m.MADE_KINDS, m.MADE_VALUES), (rooms.made, selects)),
            m.TABLE: (table, 1),
            m.TABLE_EPOCH: (table, 1),
            m.SCRATCH: (max(1, self.counts[m.LIMITS]), 1),
        }
        memory = m.blank({cell: rows * columns for cell, (rows, columns) in shapes.items()})
        m.table(memory, m.TABLE_EPOCH, table)[:] = -1
        free = 1
        if before is None:
            memory[m.NOW] = NONE
            m.table(memory, m.INSTANCE_FIRST, rooms.instances)[:] = -1
            counted = 0
        else:
            memory[: m.MEMORY_COUNTS] = before[: m.MEMORY_COUNTS]
            for cell, (rows, columns) in shapes.items():
                if cell not in (m.TABLE, m.TABLE_EPOCH, m.SCRATCH):
                    old_rows, old_columns = self.shapes[cell]
                    old = m.table(before, cell, old_rows * old_columns).reshape(old_rows, old_columns)
                    new = m.table(memory, cell, rows * columns).reshape(rows, columns)
                    new[:old_rows, :old_columns] = old
            m.table(memory, m.INSTANCE_FIRST, rooms.instances)[self.rooms.instances :] = -1
            free, counted = self.rooms.runs, int(before[m.FREE_RUNS])
        fresh = np.arange(free, rooms.runs)
        m.table(memory, m.FREE, rooms.runs)[counted : counted + len(fresh)] = fresh
        memory[m.FREE_RUNS] = counted + len(fresh)
        memory[m.WIDTH], memory[m.TABLE_MASK] = width, table - 1
        memory[m.RUN_ROOM], memory[m.NODE_ROOM] = rooms.runs, rooms.nodes
        memory[m.MADE_ROOM], memory[m.QUEUE_ROOM] = rooms.made, rooms.queue
        self.rooms, self.shapes = rooms, shapes
        return memory


@dataclass(frozen=True)
class _Rooms:
    """For how much there is room."""

    runs: int
    nodes: int
    made: int
    queue: int
    instances: int
