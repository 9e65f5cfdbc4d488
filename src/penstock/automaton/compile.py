"""Expressions to programs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.names import evaluation_order, without_lets
from penstock.algebra.node import walk, walk_inside_first
from penstock.algebra.pattern import Definition, Pattern
from penstock.automaton.follow import Follow, TooManyAlternatives
from penstock.automaton.program import Limit, Option, Position, Program, Timer
from penstock.automaton.starting import starting
from penstock.automaton.syntax import MAX_POSITIONS, Occurrence, occurrences, too_large
from penstock.errors import PatternError


class Index:
    """Numbers things in the order in which they are first asked for."""

    def __init__(self) -> None:
        self.members: list[Any] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, thing: Any, key: Hashable = None) -> int:
        """The thing's number; things of the same key have the same."""
        known = self._numbers.setdefault(thing if key is None else key, len(self.members))
        if known == len(self.members):
            self.members.append(thing)
        return known


def compile_pattern(pattern: Pattern) -> tuple[Program, ...]:
    """The programs of a pattern's definitions, each after those whose composites it may meet.

    >>> from penstock import parse
    >>> [program.name for program in compile_pattern(parse("Met := [A] ; [B]\\n[Met] ; [C]"))]
    ['Met', 'composite']
    """
    plain = without_lets(pattern)
    if not plain.definitions:
        raise PatternError("there is no pattern here, only sets", hint="add a pattern of them, such as `[A] ; [B]`")
    return tuple(compile_definition(plain, definition) for definition in evaluation_order(plain))


def compile_definition(pattern: Pattern, definition: Definition) -> Program:
    """One definition's program; named sets must be written out."""
    try:
        return _Compiler(pattern, definition.name, definition.body, iter(range(MAX_POSITIONS))).program()
    except TooManyAlternatives:
        raise too_large(pattern, definition.body) from None


class _Compiler:
    """Compiles one body; the sides of each ``||`` in it are compiled by compilers of their own."""

    def __init__(self, pattern: Pattern, name: str, body: x.Expression, orders: Iterator[int]) -> None:
        self.pattern = pattern
        self.name = name
        self.body = body
        self.occurrences = occurrences(pattern, body)
        self.atoms = [one for one in self.occurrences if isinstance(one.expression, x.Atom | x.Parallel)]
        if len(self.atoms) > MAX_POSITIONS:
            raise too_large(pattern, body)
        self.numbers = {id(one): number for number, one in enumerate(self.atoms)}
        self.sets, self.labels, self.conditions, self.limits = Index(), Index(), Index(), Index()
        self.sides, self.bound_ones = Index(), Index()
        for one in self.atoms:
            if isinstance(one.expression, x.Parallel):
                self.sides.number(one.expression, id(one.expression))
        self.side_programs = tuple(
            tuple(_Compiler(pattern, "", side, orders).program() for side in parallel.sides)
            for parallel in self.sides.members
        )
        self.timings = [one for one in self.occurrences if isinstance(one.expression, x.Timing)]
        own = {id(timing.expression) for timing in self.timings}
        self.orders = {id(node): next(orders) for node in walk_inside_first(body) if id(node) in own}

    def program(self) -> Program:
        """The program of the body."""
        follow = Follow(
            lambda one: self.numbers[id(one)],
            lambda one: self.limits.number(one, id(one)),
            lambda where: self.conditions.number(where.condition, id(where.condition)),
        )
        first = [*follow.first(self.occurrences[0])]
        start = starting(first, self.conditions.members, self.bound)
        after = [tuple(follow.after(one)) for one in self.atoms]
        positions = [self.position(one) for one in self.atoms]
        for number, condition in self.bound_ones.members:
            positions.append(self.bound_position(positions[number], condition))
            after.append(after[number])
        selects = (node for node in walk(self.body) if isinstance(node, x.Select))
        return Program(
            name=self.name,
            parameters=parameters(self.body),
            sets=tuple(self.sets.members),
            positions=tuple(positions),
            start=start,
            follow=tuple(after),
            timers=tuple(self.timer(one.expression) for one in self.timings),
            limits=tuple(Limit(one.expression.microseconds) for one in self.limits.members),
            labels=tuple(self.labels.members),
            conditions=tuple(self.conditions.members),
            selected=tuple(value for select in selects for value in select.values),
            sides=self.side_programs,
        )

    def bound(self, option: Option, condition: c.Condition) -> Option:
        """An option of the start that is there only where a condition holds when nothing has been matched.

        It waits at a position of its own, whose events must meet the condition too.
        """
        if isinstance(self.atoms[option.position].expression, x.Parallel):
            parameter = next(node for node in walk(condition) if isinstance(node, c.Parameter))
            raise self.pattern.error(
                f"it depends on `${parameter.name}` whether a match may begin with the `||` behind this part",
                parameter,
                "where a part may match nothing, compare its counts with numbers, or write both cases with `|`",
            )
        key = (option.position, condition)
        return replace(option, position=len(self.atoms) + self.bound_ones.number(key))

    def bound_position(self, position: Position, condition: c.Condition) -> Position:
        """The same position for events that meet a condition."""
        label, written = (
            tuple(self.sets.number(_where(self.sets.members[number], condition)) for number in numbers)
            for numbers in (position.label, position.written)
        )
        return replace(position, label=label, written=written)

    def timer(self, timing: x.Expression) -> Timer:
        """A timing's timer."""
        assert isinstance(timing, x.Timing)  # noqa: S101
        return Timer(timing.timer, timing.spec, self.orders[id(timing)])

    def position(self, here: Occurrence) -> Position:
        """An atom or a ``||`` with what stands around it."""
        text = self.pattern.text[here.expression.span.start : here.expression.span.end]
        scopes = [one.expression for one in here.around() if isinstance(one.expression, x.Scope)]
        labels = [one.expression.label for one in here.around() if isinstance(one.expression, x.Labelled)]
        limits = [one for one in here.around() if isinstance(one.expression, x.Within)]
        hears = tuple(n for n, timing in enumerate(self.timings) if here.inside(timing.children[1]))
        around = {
            "text": text,
            "scope": self.numbered(one for scope in scopes for one in scope.domain),
            "hears": hears,
            "sets_timers": tuple(n for n, timing in enumerate(self.timings) if here.inside(timing.children[0])),
            "labels": tuple(self.labels.number(label) for label in labels),
            "limits": tuple(self.limits.number(one, id(one)) for one in reversed(limits)),
        }
        atom = here.expression
        if isinstance(atom, x.Parallel):
            return Position(sides=self.sides.number(atom, id(atom)), **around)  # type: ignore[arg-type]
        assert isinstance(atom, x.Atom)  # noqa: S101
        written = atom.domain if atom.negated else (*atom.label, *atom.domain)
        return Position(
            label=self.numbered(atom.label),
            written=self.numbered(written),
            negated=atom.negated,
            ticks=tuple(n for n in hears if self.ticks(atom, self.timings[n].expression)),
            **around,  # type: ignore[arg-type]
        )

    def numbered(self, sets: Iterable[x.DescribableSet]) -> tuple[int, ...]:
        """Sets by number; time events are none."""
        timers = {timing.expression.timer for timing in self.timings}  # type: ignore[attr-defined]
        return tuple(dict.fromkeys(self.sets.number(one) for one in sets if one.type not in timers))

    @staticmethod
    def ticks(atom: x.Atom, timing: x.Expression) -> bool:
        """Whether a timing's time event moves a run that waits for this atom."""
        assert isinstance(timing, x.Timing)  # noqa: S101
        in_label = any(one.type == timing.timer for one in atom.label)
        in_domain = any(one.type == timing.timer for one in atom.domain)
        return in_domain and not in_label if atom.negated else in_label


def _where(one: x.DescribableSet, condition: c.Condition) -> x.DescribableSet:
    """The events of a set that meet a condition."""
    return replace(one, filter=condition if one.filter is None else c.And((one.filter, condition)))


def parameters(body: x.Expression) -> tuple[str, ...]:
    """The free parameters of an expression, in the order of the text."""
    return tuple(dict.fromkeys(node.name for node in walk(body) if isinstance(node, c.Parameter)))
