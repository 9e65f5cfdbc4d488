"""A program as tables of numbers, the only form in which the kernel knows a pattern."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.algebra.conditions import And, Attribute, Comparison, Parameter
from penstock.algebra.expressions import After, AtClock, AtInstant
from penstock.automaton.program import Alternative, Option, Position, Program
from penstock.engine.code import Code
from penstock.errors import PatternError
from penstock.filters.split import split

Ints = NDArray[np.int64]
NONE = np.iinfo(np.int64).min
"""No stamp, no deadline."""
MAX_BITS = 62
RELATIVE, CLOCK, INSTANT = range(3)


class Layout(NamedTuple):
    """The tables. Sets, timers, limits and labels are bits of masks; positions and states are rows.

    A *state* is a set of options that a run can wait at: ``state_first`` and ``state_count`` say which rows of the
    ``option_…`` tables. ``alternative_…`` tables say, for each position, what may follow it: the state for each
    combination of truths of the alternative's guards, and the guards under which the pattern ends.
    """

    set_code: Ints
    plain_sets: int
    side_sets: int
    position_label: Ints
    position_written: Ints
    position_scope: Ints
    position_negated: Ints
    position_side: Ints
    position_sides: Ints
    position_ticks: Ints
    position_sets: Ints
    position_labels: Ints
    position_limits: Ints
    position_waiting: Ints
    state_first: Ints
    state_count: Ints
    state_hears: Ints
    state_interest: Ints
    state_start_interest: Ints
    state_strong: Ints
    state_waiting: Ints
    option_position: Ints
    option_strong: Ints
    option_enters: Ints
    start_states: Ints
    alternative_first: Ints
    alternative_count: Ints
    alternative_end: Ints
    alternative_guards: Ints
    alternative_states: Ints
    state_table: Ints
    guard_code: Ints
    timer_kind: Ints
    timer_value: Ints
    timer_order: Ints
    limit_length: Ints
    select_code: Ints
    code: Ints
    distinct_runs: bool
    restart: bool


class Tables:
    """Builds the layout of one program; ``code`` is shared by all programs of a definition."""

    def __init__(self, program: Program, code: Code, restart: bool) -> None:
        self.program = program
        self.code = code
        self.restart = restart
        self.states: dict[tuple[tuple[Option, ...], bool], int] = {}
        self.side_bits: list[int] = []
        bits = len(program.sets)
        for sides in program.sides:
            self.side_bits.append(bits)
            bits += len(sides)
        sizes = {"event sets": bits, "timings": len(program.timers), "limits": len(program.limits)}
        for what, size in (sizes | {"labels": len(code.labels)}).items():
            if size > MAX_BITS:
                raise PatternError(f"one definition has {size} {what}; at most {MAX_BITS} can be detected together")

    def state(self, options: tuple[Option, ...], waiting: bool = False) -> int:
        """The number of the state with these options; -1 for none."""
        if not options:
            return -1
        return self.states.setdefault((options, waiting), len(self.states))

    def build(self) -> Layout:
        """The layout."""
        program, code = self.program, self.code
        positions = program.positions
        waiting = [
            self.state((Option(number),), waiting=True) if position.sides is not None else -1
            for number, position in enumerate(positions)
        ]
        starts = [self.state(one.options) for one in program.start]
        follow = [self.alternatives(alternatives) for alternatives in program.follow]
        flat = [one for alternatives in follow for one in alternatives]
        table: list[int] = []
        table_first = []
        for *_, states in flat:
            table_first.append(len(table))
            table += states
        set_code = [code.compile(r) if (r := self.residual(one.filter)) else (-1, -1) for one in program.sets]
        side_count = sum(len(sides) for sides in program.sides)
        set_code += [(-1, -1)] * side_count
        guard_code = [code.compile(condition) for condition in program.conditions]
        select_code = [code.compile(one.value) for one in program.selected]
        states = list(self.states)
        options = [option for some, _ in states for option in some]
        counts = [len(some) for some, _ in states]
        return Layout(
            set_code=_pairs(set_code),
            plain_sets=_mask(number for number, (start, _) in enumerate(set_code) if start < 0),
            side_sets=_mask(range(len(program.sets), len(program.sets) + side_count)),
            position_label=_ints(self.label_mask(one) for one in positions),
            position_written=_ints(_mask(one.written) for one in positions),
            position_scope=_ints(_mask(one.scope) for one in positions),
            position_negated=_ints(one.negated for one in positions),
            position_side=_ints(-1 if one.sides is None else self.side_bits[one.sides] for one in positions),
            position_sides=_ints(0 if one.sides is None else len(program.sides[one.sides]) for one in positions),
            position_ticks=_ints(_mask(one.ticks) for one in positions),
            position_sets=_ints(_mask(one.sets_timers) for one in positions),
            position_labels=_ints(_mask(code.labels.index(program.labels[n]) for n in one.labels) for one in positions),
            position_limits=_ints(_mask(one.limits) for one in positions),
            position_waiting=_ints(waiting),
            state_first=_ints(np.cumsum([0, *counts])[:-1]),
            state_count=_ints(counts),
            state_hears=_ints(_union(_mask(positions[o.position].hears) for o in some) for some, _ in states),
            state_interest=_ints(_union(self.interest(positions[o.position], True) for o in some) for some, _ in states),
            state_start_interest=_ints(
                _union(self.interest(positions[o.position], False) for o in some) for some, _ in states
            ),
            state_strong=_ints(all(o.strong for o in some) and not waits for some, waits in states),
            state_waiting=_ints(waits for _, waits in states),
            option_position=_ints(o.position for o in options),
            option_strong=_ints(o.strong for o in options),
            option_enters=_ints(_mask(o.enters) for o in options),
            start_states=_ints(starts),
            alternative_first=_ints(np.cumsum([0, *(len(one) for one in follow)])[:-1]),
            alternative_count=_ints(len(one) for one in follow),
            alternative_end=_ints(end for end, _, _ in flat),
            alternative_guards=_ints(guards for _, guards, _ in flat),
            alternative_states=_ints(table_first),
            state_table=_ints(table),
            guard_code=_pairs(guard_code),
            timer_kind=_ints(KINDS[type(timer.spec)] for timer in program.timers),
            timer_value=_ints(timer.spec.microseconds for timer in program.timers),  # type: ignore[attr-defined]
            timer_order=_ints(timer.order for timer in program.timers),
            limit_length=_ints(limit.microseconds for limit in program.limits),
            select_code=_pairs(select_code),
            code=np.empty((0, 3), np.int64),
            distinct_runs=self.distinct_runs(states),
            restart=self.restart,
        )

    def residual(self, condition: Any) -> Any:
        """What of a set's filter must be asked of each run: all but the plain part and the key's equalities."""
        parts = split(condition)
        if set(self.program.parameters) <= {parameter for _, parameter in parts.bindings}:
            return parts.residual
        return _and(parts.residual, parts.bindings)

    def label_mask(self, position: Position) -> int:
        """The sets of a position's label; of a ``||``, its sides."""
        if position.sides is None:
            return _mask(position.label)
        first = self.side_bits[position.sides]
        return _mask(range(first, first + len(self.program.sides[position.sides])))

    def interest(self, position: Position, started: bool) -> int:
        """All that a position listens to."""
        return self.label_mask(position) | _mask(position.written) | (_mask(position.scope) if started else 0)

    def alternatives(self, alternatives: tuple[Alternative, ...]) -> list[tuple[int, int, list[int]]]:
        """End (a mask of guards, -1 for none), guards and the states for each combination of their truths."""
        found = []
        for one in alternatives:
            guards = sorted({guard for option in one.options for guard in option.guards})
            if len(guards) > 10:
                raise PatternError("too many `where` conditions end at one atom")
            states = []
            for truths in product((False, True), repeat=len(guards)):
                true = {guard for guard, truth in zip(reversed(guards), truths, strict=True) if truth}
                states.append(self.state(_remaining(one.options, true)))
            found.append((-1 if one.end is None else _mask(one.end), _mask(guards), states))
        return found

    def distinct_runs(self, states: list[tuple[tuple[Option, ...], bool]]) -> bool:
        """Whether no two runs can ever become equal: one start, one way on, one option for each event."""
        program = self.program
        one_way = all(sum(bool(a.options) for a in some) <= 1 for some in program.follow) and len(program.start) == 1
        single = all(len(options) == 1 or self.disjoint(options) for options, _ in states)
        return one_way and single and not program.sides

    def disjoint(self, options: tuple[Option, ...]) -> bool:
        """Whether no event, of any type or of a timer, can be in the labels of two of the options."""
        positions = [self.program.positions[option.position] for option in options]
        if any(position.negated for position in positions):
            return False
        types = [self.program.sets[one].type for position in positions for one in position.label]
        ticks = [timer for position in positions for timer in position.ticks]
        return None not in types and len(types) == len(set(types)) and len(ticks) == len(set(ticks))


KINDS = {After: RELATIVE, AtClock: CLOCK, AtInstant: INSTANT}


def _remaining(options: tuple[Option, ...], true: set[int]) -> tuple[Option, ...]:
    """The options whose guards hold, without guards; of one reached strongly and weakly, the weak one."""
    kept = {Option(o.position, o.strong, o.enters) for o in options if set(o.guards) <= true}
    weak = [o for o in kept if not o.strong or Option(o.position, False, o.enters) not in kept]
    return tuple(sorted(weak, key=lambda o: (o.position, o.strong, o.enters)))


def _and(residual: Any, bindings: Any) -> Any:
    equalities = tuple(Comparison("=", Attribute(name), Parameter(parameter)) for name, parameter in bindings)
    parts = (*equalities, *((residual,) if residual is not None else ()))
    return And(parts) if len(parts) > 1 else parts[0] if parts else None


def _mask(numbers: Any) -> int:
    whole = 0
    for number in numbers:
        whole |= 1 << int(number)
    return whole


def _union(masks: Any) -> int:
    whole = 0
    for mask in masks:
        whole |= mask
    return whole


def _ints(values: Any) -> Ints:
    return np.fromiter((int(value) for value in values), np.int64)


def _pairs(pairs: list[tuple[int, int]]) -> Ints:
    return np.array(pairs, np.int64).reshape(-1, 2)
