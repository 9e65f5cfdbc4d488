"""Runs one program: holds its state, makes room for it, and hands batches of places to the kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.algebra.expressions import AtClock
from penstock.automaton.program import Program
from penstock.engine import kernel
from penstock.engine.kernel import NONE, Places, State, Values
from penstock.engine.layout import Layout
from penstock.events.times import DAY, next_clock_time, zone_of

Ints = NDArray[np.int64]
_ROWS = {"runs", "free", "table", "table_epoch"}


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


class Runner:
    """The runs of one program."""

    def __init__(self, program: Program, layout: Layout, zone: str) -> None:
        self.program = program
        self.layout = layout
        self.zone = zone
        self.state = _empty(layout)
        largest = max((int(count) for count in layout.alternative_count), default=1)
        widest = max((int(count) for count in layout.state_count), default=1)
        self.widest = max(1, largest) * max(1, widest)

    def advance(self, places: Places, values: Values, instances: int, until: int) -> Made:
        """Consumes places and fires the timers before ``until``; returns what was made."""
        scalars = self.state.scalars
        scalars[kernel.CURSOR], scalars[kernel.INSTANCE] = 0, -1
        self._know(instances)
        values = values._replace(**self._clock(places, until))
        while (
            kernel.advance(until, instances, self.widest, self.layout, self.state, places, values) == kernel.GROW
        ):
            self._grow(int(scalars[kernel.NEED_RUNS]), int(scalars[kernel.NEED_NODES]))
        return self._taken()

    def _taken(self) -> Made:
        state = self.state
        made = int(state.scalars[kernel.COMPOSITES])
        offsets, symbols, labels = kernel.list_parts(
            made, state.made_node, state.node_symbol, state.node_parent, state.node_labels
        )
        result = Made(
            state.made_instance[:made].copy(),
            state.made_lo[:made].copy(),
            state.made_hi[:made].copy(),
            state.made_place[:made].copy(),
            offsets,
            symbols,
            labels,
            state.made_kinds[:made].copy(),
            state.made_values[:made].copy(),
        )
        state.scalars[kernel.COMPOSITES] = 0
        state.scalars[kernel.SINCE] = 0
        return result

    def _clock(self, places: Places, until: int) -> dict[str, Ints]:
        """For timers at a time of day: the instants at which it is that time, as far as they may be needed."""
        first, instants = [0], []
        for timer in self.program.timers:
            if isinstance(timer.spec, AtClock) and len(places.instant):
                minutes, seconds = divmod(timer.spec.microseconds, 60_000_000)
                at, last = int(places.instant[0]) - 1, max(until, int(places.instant[-1])) + DAY
                while at <= last:
                    at = next_clock_time(at, minutes // 60, minutes % 60, seconds, zone_of(self.zone))
                    instants.append(at)
            first.append(len(instants))
        return {"clock_first": np.array(first, np.int64), "clock_instants": np.array(instants, np.int64)}

    def _know(self, instances: int) -> None:
        """Room for so many instances; a new one starts as those never seen stand."""
        state = self.state
        known = len(state.instance_first)
        if instances > known:
            more = max(instances, 2 * known) - known
            self.state = state._replace(
                instance_first=np.concatenate([state.instance_first, np.full(more, -1, np.int64)]),
                instance_runs=np.concatenate([state.instance_runs, np.zeros(more, np.int64)]),
                instance_dead=np.concatenate([state.instance_dead, np.zeros(more, np.int64)]),
            )
        fresh = slice(int(self.state.scalars[kernel.GLOBAL_DEAD]), instances)
        self.state.instance_dead[fresh] = self.state.instance_dead[0]
        self.state.scalars[kernel.GLOBAL_DEAD] = instances

    def _grow(self, runs: int, nodes: int) -> None:
        """At least so much more room for runs, composites and timers, and for matched symbols."""
        state = self.state
        self._compact_queues()
        more = max(runs, len(state.runs))
        old = len(state.runs)
        free = int(state.scalars[kernel.FREE])
        size = 1 << (2 * (old + more)).bit_length()
        names = ("node_symbol", "node_parent", "node_labels", "node_hash")
        longer = {name: _longer(getattr(state, name), max(nodes, len(state.node_symbol))) for name in names}
        made = [name for name in State._fields if name.startswith("made_")]
        longer |= {name: _longer(getattr(state, name), more) for name in made}
        wider = {name: _wider(getattr(state, name), more) for name in ("queue_deadline", "queue_instance")}
        longer_free = _longer(state.free, more)
        longer_free[free : free + more] = np.arange(old, old + more)
        state.scalars[kernel.FREE] = free + more
        self.state = state._replace(
            runs=_longer(state.runs, more),
            free=longer_free,
            table=np.zeros(size, np.int64),
            table_epoch=np.full(size, -1, np.int64),
            **longer,
            **wider,
        )

    def _compact_queues(self) -> None:
        state = self.state
        for timer in range(len(state.queue_first)):
            first, last = int(state.queue_first[timer]), int(state.queue_last[timer])
            for queue in (state.queue_deadline, state.queue_instance):
                queue[timer, : last - first] = queue[timer, first:last].copy()
            state.queue_first[timer], state.queue_last[timer] = 0, last - first


def _empty(layout: Layout) -> State:
    rows, timers, limits = 64, len(layout.timer_kind), len(layout.limit_length)
    selected = len(layout.select_code)
    scalars = np.zeros(kernel.SCALARS, np.int64)
    scalars[kernel.FREE] = rows - 1
    scalars[kernel.NOW] = NONE
    return State(
        runs=np.full((rows, kernel.FIXED + timers + limits), NONE, np.int64),
        free=np.arange(1, rows + 1, dtype=np.int64),
        instance_first=np.full(1, -1, np.int64),
        instance_runs=np.zeros(1, np.int64),
        instance_dead=np.zeros(1, np.int64),
        node_symbol=np.zeros(rows, np.int64),
        node_parent=np.zeros(rows, np.int64),
        node_labels=np.zeros(rows, np.int64),
        node_hash=np.zeros(rows, np.int64),
        queue_deadline=np.zeros((timers, rows), np.int64),
        queue_instance=np.zeros((timers, rows), np.int64),
        queue_first=np.zeros(timers, np.int64),
        queue_last=np.zeros(timers, np.int64),
        made_instance=np.zeros(rows, np.int64),
        made_lo=np.zeros(rows, np.int64),
        made_hi=np.zeros(rows, np.int64),
        made_node=np.zeros(rows, np.int64),
        made_place=np.zeros(rows, np.int64),
        made_hash=np.zeros(rows, np.int64),
        made_kinds=np.zeros((rows, selected), np.int64),
        made_values=np.zeros((rows, selected), np.int64),
        table=np.zeros(4 * rows, np.int64),
        table_epoch=np.full(4 * rows, -1, np.int64),
        scratch=np.zeros(max(1, limits), np.int64),
        scalars=scalars,
    )


def _longer(array: Ints, more: int) -> Ints:
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), np.int64)])


def _wider(array: Ints, more: int) -> Ints:
    return np.concatenate([array, np.zeros((array.shape[0], more), np.int64)], axis=1)
