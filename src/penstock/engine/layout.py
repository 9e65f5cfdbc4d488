"""A program as tables of numbers, the only form in which the kernel knows a pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from penstock.algebra.conditions import And, Attribute, Comparison, Parameter
from penstock.algebra.expressions import After, AtClock, AtInstant
from penstock.automaton.program import Alternative, Option, Position, Program
from penstock.checks.sizes import MAX_BITS, MAX_GUARDS, guards_of
from penstock.engine import memory as m
from penstock.engine.code import Code
from penstock.errors import PatternError
from penstock.filters.split import split

RELATIVE, CLOCK, INSTANT = range(3)


@dataclass(frozen=True)
class Layout:
    """A program for the kernel: counts and tables to be packed, and rows; ``widest`` bounds the runs of one move."""

    counts: dict[int, int]
    tables: dict[int, Any]
    states: m.Ints
    options: m.Ints
    positions: m.Ints
    alternatives: m.Ints
    widest: int

    def arrays(self, code: m.Ints, chosen: Mapping[int, int]) -> tuple[m.Ints, ...]:
        """The arrays that the kernel takes; ``chosen`` are further counts, such as the context."""
        counts = self.counts | dict(chosen)
        is_plain = self._is_plain(counts)
        counts |= {m.PLAIN: is_plain, m.TOGETHER: is_plain and self._begins_with_its_limit(counts)}
        head = m.pack(counts, self.tables | {m.CODE: code})
        return head, self.states, self.options, self.positions, self.alternatives

    def _is_plain(self, counts: Mapping[int, int]) -> int:
        """Whether the program needs but a part of what the kernel can do; see `memory`."""
        sets, guards = len(self.tables[m.SET_CODE]), len(self.tables[m.GUARD_CODE])
        asks = guards or counts[m.SELECTS] or counts[m.PLAIN_SETS] != (1 << sets) - 1
        is_distinct = counts[m.DISTINCT_RUNS] and not counts[m.HAS_SIDES]
        orders = self.tables[m.TIMER_ORDER]
        return int(
            not asks
            and counts[m.AGE] < 0
            and bool(is_distinct)
            and counts[m.CONTEXT] == m.CONTINUOUS
            and not counts[m.REPORTS]
            and len(set(orders)) == len(orders)
        )

    def _begins_with_its_limit(self, counts: Mapping[int, int]) -> int:
        """Whether there are no timers, and no limit but one around all of the program; see `memory`."""
        options = self.options.reshape(-1, m.OPTION_WIDTH)
        started = np.ones(len(options), bool)
        for state in self.tables[m.START_STATES]:
            first, last = self.states.reshape(-1, m.STATE_WIDTH)[state, [m.STATE_FIRST, m.STATE_LAST]]
            started[first:last] = False
        is_inside = (options[:, m.OPTION_LIMITS] == 1).all() and not options[started, m.OPTION_ENTERS].any()
        is_left = not np.isin(self.tables[m.START_STATES], options[:, m.OPTION_TARGET]).any()
        limits = counts[m.LIMITS]
        return int(not counts[m.TIMERS] and (limits == 0 or (limits == 1 and bool(is_inside) and is_left)))


class Tables:
    """Builds the layout of one program; ``code`` is shared by all programs of a definition.

    Sets, timers, limits and labels are bits of masks; positions and states are rows. A *state* is a set of options that
    a run can wait at, the rows from its first option to its last. A position's alternatives say what may follow it:
    the state for each combination of truths of the alternative's guards, and the guards under which the pattern ends.
    """

    def __init__(self, program: Program, parameters: tuple[str, ...], code: Code, restart: bool) -> None:
        self.program = program
        self.parameters = parameters
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
        """The layout, all but the code, which is known once all programs of the definition are laid out."""
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
        for *_, reached in flat:
            table_first.append(len(table))
            table += reached
        set_code = [code.compile(r) if (r := self.residual(one.filter)) else (-1, -1) for one in program.sets]
        side_count = sum(len(sides) for sides in program.sides)
        set_code += [(-1, -1)] * side_count
        conditions = [code.compile(condition) for condition in program.conditions]
        asked = [_asked(alternatives) for alternatives in program.follow]
        first_guards = np.cumsum([0, *map(len, asked)])
        select_code = [code.compile(one.value) for one in program.selected]
        states = list(self.states)
        options = [option for some, _ in states for option in some]
        ends = np.cumsum([0, *(len(some) for some, _ in states)])
        last = np.cumsum([0, *(len(one) for one in follow)])
        kinds: dict[Any, int] = {}
        counts = {
            m.PLAIN_SETS: int(_mask(number for number, (start, _) in enumerate(set_code) if start < 0)),
            m.DISTINCT_RUNS: int(self.distinct_runs(states)),
            m.RESTART: int(self.restart),
            m.STARTS: len(starts),
            m.POSITION_COUNT: len(positions),
            m.TIMERS: len(program.timers),
            m.LIMITS: len(program.limits),
            m.SELECTS: len(select_code),
            m.CLOCKED: len(program.timers) + len(program.limits),
            m.HAS_SIDES: int(bool(program.sides)),
            m.START_INTEREST: _union(
                self.interest(positions[option.position], False) for one in program.start for option in one.options
            ),
        }
        tables = {
            m.SET_CODE: np.array(set_code, np.int64),
            m.START_STATES: starts,
            m.STATE_TABLE: table,
            m.GUARD_CODE: np.array([conditions[guard] for some in asked for guard in some], np.int64),
            m.TIMER_KIND: [KINDS[type(timer.spec)] for timer in program.timers],
            m.TIMER_VALUE: [timer.spec.microseconds for timer in program.timers],
            m.TIMER_ORDER: [timer.order for timer in program.timers],
            m.LIMIT_LENGTH: [limit.microseconds for limit in program.limits],
            m.SELECT_CODE: np.array(select_code, np.int64),
        }
        state_rows: dict[int, Any] = {
            m.STATE_FIRST: ends[:-1],
            m.STATE_LAST: ends[1:],
            m.STATE_HEARS: [_union(_mask(positions[o.position].hears) for o in some) for some, _ in states],
            m.STATE_INTEREST: [_union(self.interest(positions[o.position], True) for o in some) for some, _ in states],
            m.STATE_START_INTEREST: [
                _union(self.interest(positions[o.position], False) for o in some) for some, _ in states
            ],
            m.STATE_STRONG: [all(o.strong for o in some) and not waits for some, waits in states],
            m.STATE_WAITING: [waits for _, waits in states],
            m.STATE_KIND: [kinds.setdefault((waits, _atoms(some)), len(kinds)) for some, waits in states],
            m.STATE_UNBOUNDED: [
                any(not set(positions[o.position].limits) - set(o.enters) for o in some) for some, _ in states
            ],
        }
        option_rows: dict[int, Any] = {
            m.OPTION_POSITION: [o.position for o in options],
            m.OPTION_STRONG: [o.strong for o in options],
            m.OPTION_ENTERS: [_mask(o.enters) for o in options],
        }
        position_rows: dict[int, Any] = {
            m.POSITION_LABEL: [self.label_mask(one) for one in positions],
            m.POSITION_WRITTEN: [_mask(one.written) for one in positions],
            m.POSITION_SCOPE: [_mask(one.scope) for one in positions],
            m.POSITION_NEGATED: [one.negated for one in positions],
            m.POSITION_SIDE: [-1 if one.sides is None else self.side_bits[one.sides] for one in positions],
            m.POSITION_SIDES: [0 if one.sides is None else len(program.sides[one.sides]) for one in positions],
            m.POSITION_TICKS: [_mask(one.ticks) for one in positions],
            m.POSITION_SETS: [_mask(one.sets_timers) for one in positions],
            m.POSITION_LABELS: [_mask(code.labels.index(program.labels[n]) for n in one.labels) for one in positions],
            m.POSITION_LIMITS: [_mask(one.limits) for one in positions],
            m.POSITION_WAITING: waiting,
            m.POSITION_FIRST: last[:-1],
            m.POSITION_LAST: last[1:],
            m.POSITION_GUARDS: [len(some) for some in asked],
            m.POSITION_FIRST_GUARD: first_guards[:-1],
        }
        option_rows |= self.plain_options(options, position_rows, follow, state_rows[m.STATE_HEARS])
        alternative_rows: dict[int, Any] = {
            m.ALTERNATIVE_END: [end for end, _, _ in flat],
            m.ALTERNATIVE_GUARDS: [guards for _, guards, _ in flat],
            m.ALTERNATIVE_STATES: table_first,
        }
        return Layout(
            counts,
            tables,
            m.rows(m.STATE_WIDTH, state_rows),
            m.rows(m.OPTION_WIDTH, option_rows),
            m.rows(m.POSITION_WIDTH, position_rows),
            m.rows(m.ALTERNATIVE_WIDTH, alternative_rows),
            widest=max((len(some) for some, _ in states), default=1) * max((len(one) for one in follow), default=1),
        )

    @staticmethod
    def plain_options(
        options: list[Option],
        positions: dict[int, Any],
        follow: list[list[tuple[int, int, list[int]]]],
        hears: list[int],
    ) -> dict[int, Any]:
        """What plain programs need of options, beside them."""
        ends = [any(end == 0 for end, _, _ in one) for one in follow]
        targets = [max((reached[0] for _, _, reached in one), default=-1) for one in follow]
        own = {
            m.OPTION_LABEL: positions[m.POSITION_LABEL],
            m.OPTION_NEGATED: positions[m.POSITION_NEGATED],
            m.OPTION_WRITTEN: positions[m.POSITION_WRITTEN],
            m.OPTION_TICKS: positions[m.POSITION_TICKS],
            m.OPTION_SETS: positions[m.POSITION_SETS],
            m.OPTION_LIMITS: positions[m.POSITION_LIMITS],
            m.OPTION_LABELS: positions[m.POSITION_LABELS],
            m.OPTION_ENDS: ends,
            m.OPTION_TARGET: targets,
            m.OPTION_HEARS: [hears[target] if target >= 0 else 0 for target in targets],
        }
        scopes, limits = positions[m.POSITION_SCOPE], positions[m.POSITION_LIMITS]
        found: dict[int, Any] = {
            column: [values[option.position] for option in options] for column, values in own.items()
        }
        heard = zip(found[m.OPTION_WRITTEN], options, strict=True)
        found[m.OPTION_HEARD] = [written | scopes[option.position] for written, option in heard]
        found[m.OPTION_INSIDE] = [limits[option.position] & ~_mask(option.enters) for option in options]
        ways: dict[Any, int] = {}
        reached = zip(found[m.OPTION_LABELS], found[m.OPTION_ENDS], found[m.OPTION_TARGET], strict=True)
        found[m.OPTION_WAY] = [ways.setdefault(one, len(ways)) for one in reached]
        return found

    def residual(self, condition: Any) -> Any:
        """What of a set's filter must be asked of each run: all but the plain part and the key's equalities."""
        parts = split(condition)
        if set(self.parameters) <= {parameter for _, parameter in parts.bindings}:
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
        """End (a mask of guards, -1 for none), guards and the states for each combination of their truths.

        A guard is a bit by its place among those that are asked where these alternatives follow.
        """
        found = []
        bits = {guard: bit for bit, guard in enumerate(_asked(alternatives))}
        if len(bits) > MAX_BITS:
            raise PatternError(f"{len(bits)} `where` conditions end at one atom; at most {MAX_BITS} can")
        for one in alternatives:
            guards = guards_of(one)
            if len(guards) > MAX_GUARDS:
                raise PatternError(
                    f"{len(guards)} `where` conditions decide what follows one atom; at most {MAX_GUARDS} can"
                )
            states = []
            for truths in product((False, True), repeat=len(guards)):
                true = {guard for guard, truth in zip(reversed(guards), truths, strict=True) if truth}
                states.append(self.state(_remaining(one.options, true)))
            end = -1 if one.end is None else _mask(bits[guard] for guard in one.end)
            found.append((end, _mask(bits[guard] for guard in guards), states))
        return found

    def distinct_runs(self, states: list[tuple[tuple[Option, ...], bool]]) -> bool:
        """Whether no two runs or composites can ever be equal: one start, one way on, one option for each event, and
        no time event, which adds no part, after a place where a composite is made."""
        program = self.program
        one_way = all(sum(bool(a.options) for a in some) <= 1 for some in program.follow) and len(program.start) == 1
        single = all(len(options) == 1 or self.disjoint(options) for options, _ in states)
        return one_way and single and not program.sides and not self.ticks_after_an_end()

    def ticks_after_an_end(self) -> bool:
        """Whether a time event can move a run that may have made a composite."""
        program = self.program
        waiting = [n for n, some in enumerate(program.follow) if any(one.end is not None for one in some)]
        reached: set[int] = set()
        while waiting:
            here = {option.position for one in program.follow[waiting.pop()] for option in one.options}
            waiting += here - reached
            reached |= here
        return any(program.positions[position].ticks for position in reached)

    def disjoint(self, options: tuple[Option, ...]) -> bool:
        """Whether no event, of any type or of a timer, can be in the labels of two of the options."""
        positions = [self.program.positions[option.position] for option in options]
        if any(position.negated for position in positions):
            return False
        types = [self.program.sets[one].type for position in positions for one in position.label]
        ticks = [timer for position in positions for timer in position.ticks]
        return None not in types and len(types) == len(set(types)) and len(ticks) == len(set(ticks))


KINDS = {After: RELATIVE, AtClock: CLOCK, AtInstant: INSTANT}


def _asked(alternatives: tuple[Alternative, ...]) -> list[int]:
    """The guards that some alternatives ask, those of their ends included."""
    return sorted({guard for one in alternatives for guard in (*guards_of(one), *(one.end or ()))})


def _remaining(options: tuple[Option, ...], true: set[int]) -> tuple[Option, ...]:
    """The options whose guards hold, without guards; of one reached strongly and weakly, the weak one."""
    kept = {Option(o.position, o.strong, o.enters) for o in options if set(o.guards) <= true}
    weak = [o for o in kept if not o.strong or Option(o.position, False, o.enters) not in kept]
    return tuple(sorted(weak, key=lambda o: (o.position, o.strong, o.enters)))


def _atoms(options: tuple[Option, ...]) -> frozenset[tuple[int, bool]]:
    """What makes options the same ones: which atoms they are, and how each must follow."""
    return frozenset((option.position, option.strong) for option in options)


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
