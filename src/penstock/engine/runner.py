"""Runs one program: holds its state, makes room for it, and hands batches of places to the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from penstock.algebra.expressions import After, AtClock, AtInstant
from penstock.automaton.program import Program
from penstock.engine import kernel, reclaim
from penstock.engine import memory as m
from penstock.engine.by_key import MORE, STRETCH, Keyed, advance_by_key
from penstock.engine.heap import Memory
from penstock.engine.keys import Instances
from penstock.engine.layout import Layout
from penstock.engine.made import Ended, Made, joined, nothing_made
from penstock.engine.memory import NONE, Ints
from penstock.engine.moves import link_all_made
from penstock.engine.past import Past
from penstock.engine.symbols import Keys
from penstock.engine.unite import unite
from penstock.errors import DataError, StateError
from penstock.events.times import DAY, EARLIEST, next_clock_time, zone_of

TIDY = 1 << 15
"""For so many matched symbols and runs it is not asked which are still needed."""
MADE = 1 << 17
"""Up to so many places there is room for a symbol of each, and for a composite of every fourth."""
AT_ONCE = 1 << 24
"""One event may lead to so many runs, or to some for each that waits."""


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


def _known(values: Mapping[int, int], clocks: tuple[Ints, Ints] | None = None) -> Ints:
    """What conditions read, and clocks if there are any, as the kernel takes it; good while those arrays are there."""
    known = np.zeros(m.HEADER, np.int64)
    for cell, value in values.items():
        known[cell] = value
    if clocks is not None:
        known[m.CLOCK_FIRST], known[m.CLOCK_INSTANTS] = (array.ctypes.data for array in clocks)
    return known


def _roomy(there: int, more: int) -> int:
    """Room for what is there and for more, and mostly for much beyond that; what may need very much seldom does."""
    return 4 * (there + min(more, MADE)) + more


class Runner:
    """The runs of one program."""

    def __init__(self, program: Program, layout: Layout, zone: str, remembered: int = 0) -> None:
        self.program = program
        self.zone = zone
        self.shape = layout
        self.counts = layout.counts
        self.layout: tuple[Ints, ...] = ()
        self.memory: Memory
        self.past = Past()
        self.remembered = remembered
        self.tidied = 0
        self.until = int(NONE)
        self.elsewhere = 0

    def set_elsewhere(self, runs: int) -> None:
        """So many runs wait that are not in memory; they count for the limit."""
        head = self.layout[m.HEAD]
        if head[m.MOST_LIVE] < m.FAR:
            head[m.MOST_LIVE] += self.elsewhere - runs
        self.elsewhere = runs

    def begin(self, layout: tuple[Ints, ...]) -> None:
        """Nothing has happened yet; ``layout`` is complete, with what was chosen for this detection."""
        head, *others = layout
        self.layout = (head.copy(), *others)
        self.elsewhere = 0
        timers, limits, selects = (self.counts[cell] for cell in (m.TIMERS, m.LIMITS, m.SELECTS))
        self.memory = Memory(
            timers, limits, selects, reports=bool(head[m.REPORTS]), compares=not self.counts[m.DISTINCT_RUNS]
        )

    @property
    def known(self) -> int:
        """How many instances it knows, the one for all others among them."""
        return self.memory.live(m.KNOWN)

    def advance(self, places: Ints, parts: Ints, values: Mapping[int, int], instances: int, until: int) -> Made:
        """Consumes places and fires the timers before ``until``; returns what was made."""
        clocks = self._clock_times(places, until)
        known = _known(values, clocks)
        self._know(instances, known)
        return self._run(until, 0, instances, places, parts, known)

    def replay(self, places: Ints, parts: Ints, values: Mapping[int, int], first: int, instances: int) -> Made:
        """Lets instances from ``first`` on meet these places of the past; returns what they would have made.

        What others made at the present instant is still what was made there.
        """
        memory = self.memory
        self._admit(instances)
        if not len(places):
            return self.nothing()
        memory.rows(m.INSTANCES, m.INSTANCE_WIDTH, instances)[first:, m.DEAD] = 0
        waiting, present = memory.queues(), memory.live(m.NOW)
        memory.set_queues([queue[:0] for queue in waiting], memory.live(m.QUEUE_ROOM))
        clocks = self._clock_times(places, self.until)
        made = self._run(self.until, first, instances, places, parts, _known(values, clocks), present)
        joined = [np.concatenate(pair) for pair in zip(waiting, memory.queues(), strict=True)]
        longest = max((len(queue) for queue in joined), default=0)
        ordered = [queue[np.argsort(queue[:, m.DEADLINE], kind="stable")] for queue in joined]
        memory.set_queues(ordered, max(memory.live(m.QUEUE_ROOM), 2 * longest))
        return made

    def rehearse(self, places: Ints, parts: Ints, values: Mapping[int, int]) -> Made:
        """What was made over these places from the beginning; nothing is changed by it."""
        own, tidied = self.memory, self.tidied
        self.memory = Memory(own.timers, own.clocked - own.timers, own.selects, own.reports, own.compares)
        made = self.replay(places, parts, values, 0, 1)
        self.memory, self.tidied = own, tidied
        return made

    def is_due(self, until: int) -> bool:
        """Whether a timer fires before ``until``."""
        memory = self.memory
        ends, room = memory.arrays[m.QUEUE_ENDS], memory.live(m.QUEUE_ROOM)
        for timer in range(memory.timers):
            first, last = ends.item(2 * timer), ends.item(2 * timer + 1)
            row = (timer * room + first) * m.QUEUE_WIDTH
            if first < last and memory.arrays[m.QUEUES].item(row + m.DEADLINE) < until:
                return True
        return False

    def skip(self, until: int) -> Made:
        """Time goes on, and nothing happens."""
        self.until = until
        return self.nothing()

    def nothing(self) -> Made:
        """No composites."""
        return nothing_made(self.counts[m.SELECTS])

    def _run(
        self,
        until: int,
        first: int,
        instances: int,
        places: Ints,
        parts: Ints,
        known: Ints,
        present: int | None = None,
    ) -> Made:
        """Lets the kernel go on until all places are consumed.

        Where these are of the past, ``present`` is where the kernel is with others.
        """
        given, count = places.ravel(), len(places)

        def go_on() -> int:
            arrays, widest = self.memory.arrays, self.shape.widest
            return int(kernel.advance(until, first, instances, widest, count, self.layout, arrays, given, parts, known))

        return self._made(go_on, lambda: count - self.memory.live(m.CURSOR), known, present)

    @property
    def takes_keyed(self) -> bool:
        """Whether rows that a column shares out may be laid out by the kernel: nothing is said to all instances."""
        is_plain = self.layout[m.HEAD][m.PLAIN] and not any(isinstance(t.spec, AtClock) for t in self.program.timers)
        return bool(is_plain and not len(self.past) and not self.memory.arrays[m.INSTANCES][m.DEAD])

    def advance_by_key(
        self, keyed: Keyed, parts: Ints, instances: Instances, values: Mapping[int, int], until: int
    ) -> Made:
        """The same as `advance` for rows that a column shares out."""
        known, memory = _known(values), self.memory
        places = np.empty((STRETCH, m.PLACE_WIDTH), np.int64)
        self._admit(instances.count)
        keyed.tell(instances)

        def go_on() -> int:
            outcome = MORE
            while outcome == MORE:
                self._meet(keyed, instances)
                outcome = advance_by_key(
                    until, self.shape.widest, self.layout, memory.arrays, places, parts, known, keyed.cells
                )
                keyed.tell(instances)
                memory.counts[m.KNOWN] = max(memory.live(m.KNOWN), instances.count)
            return int(outcome)

        made = self._made(go_on, lambda: keyed.left + STRETCH, known)
        self.until = until
        return made

    def _meet(self, keyed: Keyed, instances: Instances) -> None:
        """Has room for more instances."""
        memory = self.memory
        keyed.make_room(instances)
        if instances.room * m.INSTANCE_WIDTH > len(memory.arrays[m.INSTANCES]):
            memory.grow_instances(instances.room)
        keyed.meet(instances, memory.arrays[m.INSTANCES])

    def _made(self, go_on: Callable[[], int], left: Callable[[], int], known: Ints, present: int | None = None) -> Made:
        """What is made while the kernel goes on, with more room whenever it needs it."""
        self.memory.counts[m.CURSOR], self.memory.counts[m.RESUME] = 0, -1
        made: list[Made] = []
        while True:
            outcome = go_on()
            if outcome == kernel.GROW:
                if self.counts[m.DISTINCT_RUNS]:
                    made.append(self._taken(known, present))
                try:
                    self._make_room(left())
                except MemoryError:
                    raise self._too_large() from None
            elif outcome == kernel.FULL:
                self._let_late_go()
            else:
                made.append(self._taken(known, present))
                return joined(made)

    def _let_late_go(self) -> None:
        """Ends runs whose time is up, which count as long as nothing asks for them; too many others are an error."""
        self.tidy(self.memory.live(m.NOW))
        most = int(self.layout[m.HEAD][m.MOST_LIVE])
        if self.memory.live(m.LIVE) > most:
            raise StateError(
                f"more than {most + self.elsewhere:,} runs of `{self.program.name}` wait at once",
                hint="give the pattern a time bound with `within`, or raise the limit",
            )

    def _too_large(self) -> StateError:
        return StateError(
            f"there is no memory for {self.memory.live(m.NEED_RUNS):,} runs of `{self.program.name}`, which one event "
            "may lead to",
            hint="fewer runs wait where a part has a time bound with `within`, and where `||` has few composites",
        )

    def _make_room(self, places: int) -> None:
        """Frees what no live run needs, and makes more room where that is not enough for so many places.

        Where little has come since it was last asked what is needed, little would be freed.
        """
        memory = self.memory
        runs, nodes = memory.live(m.NEED_RUNS), memory.live(m.NEED_NODES)
        if runs > max(AT_ONCE, AT_ONCE // MADE * memory.live(m.LIVE)):
            raise self._too_large()
        short = self._is_short(runs, nodes)
        enough = 2 * self.tidied + TIDY + memory.live(m.KNOWN) // 2  # all instances are looked at, too
        if short and memory.live(m.NODE_COUNT) + memory.live(m.LIVE) > enough:
            self.tidy(memory.live(m.NOW))
        live = memory.live(m.RUN_ROOM) - memory.live(m.FREE_RUNS)
        if short and 2 * (live + runs) >= memory.live(m.RUN_ROOM):
            memory.grow_runs(_roomy(live, runs))
        held, more = memory.live(m.NODE_COUNT), max(nodes, min(places, MADE))
        if short and 2 * (held + more) >= memory.live(m.NODE_ROOM):
            memory.set_node_room(_roomy(held, more))
        made, more = memory.live(m.MADE_COUNT), max(runs, min(places, MADE) // 4)
        if 2 * (made + more) >= memory.live(m.MADE_ROOM):
            memory.grow_made(_roomy(made, more))
            link_all_made(memory.arrays)
        if memory.reports and 2 * (memory.live(m.ENDED_COUNT) + 2 * runs) >= memory.live(m.ENDED_ROOM):
            memory.grow_ended(4 * (memory.live(m.ENDED_COUNT) + 2 * runs))
        if memory.timers and max(memory.arrays[m.QUEUE_ENDS][1::2]) + runs >= memory.live(m.QUEUE_ROOM):
            waiting = memory.queues()
            wanted = max(len(queue) for queue in waiting) + runs + min(places, TIDY)
            room = memory.live(m.QUEUE_ROOM) if 2 * wanted < memory.live(m.QUEUE_ROOM) else 4 * wanted
            memory.set_queues(waiting, room)

    def _is_short(self, runs: int, nodes: int) -> bool:
        """Whether so many runs and matched symbols are too many for the room that there is."""
        memory = self.memory
        return memory.live(m.FREE_RUNS) <= runs or memory.live(m.NODE_COUNT) + nodes >= memory.live(m.NODE_ROOM)

    def tidy(self, now: int) -> None:
        """Ends the runs that can only come to nothing at ``now``, and drops the matched symbols that nobody holds."""
        memory = self.memory
        if memory.reports:
            memory.grow_ended(max(memory.live(m.ENDED_ROOM), memory.live(m.ENDED_COUNT) + memory.live(m.LIVE) + 1))
        reclaim.sweep(now, self.layout, memory.arrays)
        self.drop_nodes()

    @property
    def is_together(self) -> bool:
        """Whether runs that no event can tell apart move as one."""
        return bool(self.layout[m.HEAD][m.TOGETHER])

    def drop_nodes(self) -> None:
        """Drops the matched symbols that nobody holds."""
        reclaim.reclaim_nodes(self.is_together, self.memory.arrays)
        self.tidied = self.memory.live(m.NODE_COUNT) + self.memory.live(m.LIVE)

    def _taken(self, known: Ints, present: int | None) -> Made:
        """What was made, taken out; what was made at the present instant is remembered where it could be made again."""
        cumulative = self.layout[m.HEAD][m.CONTEXT] == m.CUMULATIVE
        if cumulative:
            self._unite(known)
        memory, selects = self.memory, self.counts[m.SELECTS]
        counts = memory.counts
        if not counts[m.MADE_COUNT] and present is None:
            counts[m.SINCE] = 0
            return self.nothing()
        first, last, since = (int(counts[cell]) for cell in (m.TAKEN, m.MADE_COUNT, m.SINCE))
        rows = memory.rows(m.MADE, m.MADE_WIDTH, last)
        taken = rows[first:]
        selected = memory.rows(m.SELECTED, 2 * selects, last)[first:].reshape(last - first, selects, 2)
        columns, offsets, symbols, labels = reclaim.take_out(taken, self.is_together, memory.arrays[m.NODES])
        instance, lo, hi, place = columns
        made = Made(
            instance, lo, hi, place, offsets, symbols, labels, selected[:, :, 0].copy(), selected[:, :, 1].copy()
        )
        again = rows[last if self.counts[m.DISTINCT_RUNS] and not cumulative else since :].copy()
        if present is not None and counts[m.NOW] != present:
            again, counts[m.NOW] = rows[:first].copy(), present
        elif present is not None and since > first:
            again = np.concatenate([rows[:first], again])
        counts[m.TAKEN] = counts[m.MADE_COUNT] = len(again)
        counts[m.SINCE] = 0
        if len(again):
            rows[: len(again)] = again
            link_all_made(memory.arrays)
        return made

    def _unite(self, known: Ints) -> None:
        """Makes the composites of one place and instance one."""
        memory = self.memory
        counts = memory.counts
        heads = memory.rows(m.MADE, m.MADE_WIDTH, memory.live(m.MADE_COUNT))[:, m.MADE_NODE].copy()
        parts = len(reclaim.list_parts(heads, memory.arrays[m.NODES])[1])
        if counts[m.NODE_COUNT] + parts >= counts[m.NODE_ROOM]:
            memory.set_node_room(2 * (int(counts[m.NODE_COUNT]) + parts))
        self._bring_together()
        unite(self.layout, memory.arrays, known)

    def _bring_together(self) -> None:
        """Puts side by side what timers of one order made at one instant: in rounds of a loop they are one timer."""
        orders = [timer.order for timer in self.program.timers]
        if len(set(orders)) == len(orders):
            return
        memory, selects = self.memory, 2 * self.counts[m.SELECTS]
        first, last = memory.live(m.TAKEN), memory.live(m.MADE_COUNT)
        made = memory.rows(m.MADE, m.MADE_WIDTH, last)[first:, : m.MADE_CHAIN]
        selected = memory.rows(m.SELECTED, selects, last)[first:]
        one = np.array([orders.index(order) for order in orders], np.int64)
        places = made[:, m.MADE_PLACE]
        fired, timers = np.divmod(np.where(places < 0, -1 - places, 0), m.FIRINGS)
        made[:, m.MADE_PLACE] = np.where(places < 0, -1 - one[timers] - m.FIRINGS * fired, places)
        keys = made[:, [m.MADE_HI, m.MADE_PLACE, m.MADE_INSTANCE]]
        _, began, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(began[group.ravel()], kind="stable")
        made[:], selected[:] = made[order], selected[order]

    def held(self) -> Ints:
        """The symbols that are still needed."""
        nodes = self.memory.rows(m.NODES, m.NODE_WIDTH, self.memory.live(m.NODE_COUNT))
        return np.concatenate([nodes[:, m.SYMBOL], self.past.symbols])

    def renumber(self, numbers: Ints) -> None:
        """Gives symbols the numbers that they have from now on."""
        reclaim.renumber(numbers, self.memory.arrays)
        self.past.symbols[:] = numbers[self.past.symbols]

    def ended(self) -> Ended:
        """The runs that ended without coming to anything since this was last asked."""
        memory = self.memory
        rows = memory.rows(m.ENDED, m.ENDED_WIDTH, memory.live(m.ENDED_COUNT))
        heads = rows[:, m.ENDED_NODE].copy()
        offsets, symbols, labels = reclaim.list_parts(heads, memory.arrays[m.NODES])
        columns = (m.ENDED_INSTANCE, m.ENDED_LO, m.ENDED_HI, m.ENDED_AT, m.ENDED_REASON)
        memory.counts[m.ENDED_COUNT] = 0
        instance, lo, hi, at, reason = (rows[:, column].copy() for column in columns)
        return Ended(instance, lo, hi, at, reason, offsets, symbols, labels)

    def finish(self, now: int) -> None:
        """The input is over: runs that came to nothing are told apart from those that still wait."""
        self.tidy(now)
        reclaim.report_open(now, self.layout, self.memory.arrays)

    def _clock_times(self, places: Ints, until: int) -> tuple[Ints, Ints]:
        """For timers at a time of day the instants at which it is that time, and where each timer's begin."""
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
        return np.array(first, np.int64), np.array([*instants, 0], np.int64)

    def _times_of_setting(self, places: Ints, until: int) -> list[tuple[int, int]]:
        """Stretches of time, in order, in which a timer may be set: by a place or a timer, or by what follows."""
        times = places[:, m.INSTANT]
        ends = [(int(times[0]), int(times[-1]))] if len(times) else []
        waiting = [queue[:, m.DEADLINE] for queue in self.memory.queues()]
        ends += [(int(queue.min()), int(queue.max())) for queue in waiting if len(queue)]
        specs = [timer.spec for timer in self.program.timers]
        ends += [(spec.microseconds, spec.microseconds) for spec in specs if isinstance(spec, AtInstant)]
        further = sum(spec.microseconds if isinstance(spec, After) else 2 * DAY for spec in specs)
        return sorted((start - 1, min(end + further, max(until, end))) for start, end in ends if start <= until)

    def remember(self, places: Ints, keys: Callable[[], Keys], until: int) -> None:
        """Symbols of a batch that instances yet to come must know, and how far timers have fired."""
        self.until = until
        if self.remembered:
            is_for_all = places[:, m.INSTANCE] <= 0
            rows = np.flatnonzero(is_for_all & ((places[:, m.SETS] & self.remembered) != 0))
            if len(rows):
                self.past.add(places[rows], keys().take(rows))

    def _admit(self, instances: int) -> None:
        """Room for so many instances; a new one starts as those never seen stand."""
        memory = self.memory
        known = memory.live(m.KNOWN)
        if instances * m.INSTANCE_WIDTH > len(memory.arrays[m.INSTANCES]):
            memory.grow_instances(2 * instances)
        rows = memory.rows(m.INSTANCES, m.INSTANCE_WIDTH, instances)
        rows[known:] = 0
        rows[known:, m.DEAD] = rows[0, m.DEAD]
        memory.counts[m.KNOWN] = max(known, instances)

    def _know(self, instances: int, known_values: Ints) -> None:
        """Takes new instances in. Their starts may be over: symbols before their first may have failed them."""
        known = max(1, self.known)
        self._admit(instances)
        past = self.past.places
        if len(past) and instances > known:
            arrays, nothing = self.memory.arrays, m.blank(dict.fromkeys(range(m.PART_IDENTITY + 1), 0))
            kernel.look_back(known, instances, len(past), self.layout, arrays, past.ravel(), nothing, known_values)
