"""What all detections of a definition have in common, made once: choices, layouts, filters and ways to share out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.algebra.conditions import Parameter, bindings
from penstock.algebra.node import walk
from penstock.automaton.program import Program
from penstock.checks.sizes import labels_of
from penstock.engine import memory as m
from penstock.engine.code import Code
from penstock.engine.layout import Layout, Tables
from penstock.engine.symbols import Delivery, Membership


@dataclass(frozen=True)
class Choice:
    """How a pattern is detected, beyond what it says: zone, context, limits, and whether ended runs are reported."""

    zone: str = "UTC"
    restart: bool = False
    context: str = "continuous"
    runs_per_instance: int | None = None
    age: int | None = None
    runs: int | None = None
    incomplete: bool = False

    def counts(self, is_side: bool) -> dict[int, int]:
        """As the kernel takes it; only a definition's own runs are reported."""
        return {
            m.CONTEXT: m.CONTEXTS.index(self.context),
            m.MOST_RUNS: m.FAR if self.runs_per_instance is None else self.runs_per_instance,
            m.AGE: -1 if self.age is None else self.age,
            m.MOST_LIVE: m.FAR if self.runs is None else self.runs,
            m.REPORTS: int(self.incomplete and not is_side),
        }


class Shape:
    """One program of a definition, with the sides of each ``||`` in it.

    One that ``replays`` can start without a value for each parameter. What is in ``remembered`` sets must be known to
    instances yet to come.
    """

    def __init__(self, program: Program, parameters: tuple[str, ...], code: Code, restart: bool) -> None:
        self.program = program
        self.parameters = parameters
        self.sides = [
            [Shape(side, parameters if _reads_parameters(side) else (), code, restart) for side in sides]
            for sides in program.sides
        ]
        self.delivery = Delivery(program, parameters)
        self.layout: Layout = Tables(program, parameters, code, restart).build()
        self.replays = bool(parameters) and not _binds_at_start(program, parameters)
        self.remembered = 0
        if self.replays:
            for one in self.all():
                if one is self or not one.parameters:
                    one.remembered = one.delivery.common
        elif not restart:
            self.remembered = _looked_back_at(program, self.delivery)

    def all(self) -> list[Shape]:
        """This and all sides inside."""
        return [self, *(one for sides in self.sides for side in sides for one in side.all())]


class Prepared:
    """A definition with what was chosen for its detection; nothing of it changes while it is detected.

    ``arrays`` are the layouts of its programs as the kernel takes them, ``members`` decide for each of these which sets
    events are in.
    """

    def __init__(self, program: Program, defined: frozenset[str], choice: Choice) -> None:
        self.program = program
        self.choice = choice
        self.code = Code(labels_of(program), list(program.parameters))
        self.shape = Shape(program, program.parameters, self.code, choice.restart)
        shapes, table = self.shape.all(), self.code.table()
        self.members = [Membership(one.program.sets, defined, choice.zone) for one in shapes]
        self.arrays = [one.layout.arrays(table, choice.counts(is_side=one is not self.shape)) for one in shapes]


def prepared(programs: Sequence[Program], choice: Choice) -> tuple[Prepared, ...]:
    """The definitions of a pattern, which was compiled to these programs."""
    defined = frozenset(program.name for program in programs)
    return tuple(Prepared(program, defined, choice) for program in programs)


def _binds_at_start(program: Program, parameters: tuple[str, ...]) -> bool:
    """Whether every set that can start a match binds all parameters."""
    for alternative in program.start:
        for option in alternative.options:
            position = program.positions[option.position]
            if position.sides is not None:
                if not all(_binds_at_start(side, parameters) for side in program.sides[position.sides]):
                    return False
                continue
            for one in position.written if position.negated else position.label:
                if not set(parameters) <= set(bindings(program.sets[one].filter)):
                    return False
    return True


def _reads_parameters(program: Program) -> bool:
    return bool(program.parameters) or any(_reads_parameters(side) for sides in program.sides for side in sides)


def _looked_back_at(program: Program, delivery: Delivery) -> int:
    """Sets for all instances that can end a start depending on a parameter: instances yet to come must know them."""
    found = 0
    for alternative in program.start:
        for option in alternative.options:
            for one in program.positions[option.position].written:
                condition = program.sets[one].filter
                if condition is not None and any(isinstance(node, Parameter) for node in walk(condition)):
                    found |= (1 << one) & delivery.common
    return found if delivery.parameters else 0
