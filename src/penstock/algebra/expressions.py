"""The operators of the core language as immutable expressions."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra.conditions import Condition, Value
from penstock.algebra.node import Node

RESERVED = frozenset(
    {"in", "not", "let", "within", "where", "select", "at"}
    | {"and", "or", "between", "like", "is", "null", "true", "false"}
)
"""Words that are never names, in any case."""


@dataclass(frozen=True)
class DescribableSet(Node):
    """Events of one type (``None``: of any) for which a filter holds."""

    type: str | None
    filter: Condition | None = None


class Expression(Node):
    """A part of a pattern that matches events."""


@dataclass(frozen=True)
class Atom(Expression):
    """One event in ``label``; what is in ``domain`` beside fails. Negated: one of ``domain`` not in ``label``."""

    label: tuple[DescribableSet, ...]
    domain: tuple[DescribableSet, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class Concatenation(Expression):
    """The parts one after the other, each following weakly."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Sequence(Expression):
    """The parts one after the other, each following strongly."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Alternation(Expression):
    """Any of the choices, in runs that don't disturb each other."""

    choices: tuple[Expression, ...]


@dataclass(frozen=True)
class Parallel(Expression):
    """All sides, in any order."""

    sides: tuple[Expression, ...]


@dataclass(frozen=True)
class Repetition(Expression):
    """``body`` from ``low`` to ``high`` times (``None``: any number more)."""

    body: Expression
    low: int
    high: int | None


@dataclass(frozen=True)
class Scope(Expression):
    """``body``, with ``domain`` added to the domain of each of its atoms."""

    body: Expression
    domain: tuple[DescribableSet, ...]


class TimeSpec(Node):
    """When a timer fires."""

    microseconds: int


@dataclass(frozen=True)
class After(TimeSpec):
    """So many microseconds after the event that set it."""

    microseconds: int


@dataclass(frozen=True)
class AtClock(TimeSpec):
    """At the next such time of day, in microseconds since midnight."""

    microseconds: int


@dataclass(frozen=True)
class AtInstant(TimeSpec):
    """At this instant, in microseconds since the epoch."""

    microseconds: int


@dataclass(frozen=True)
class Timing(Expression):
    """``first``, then weakly ``second``, in which ``timer`` names the time event that ``first`` has set."""

    first: Expression
    second: Expression
    timer: str
    spec: TimeSpec


@dataclass(frozen=True)
class Labelled(Expression):
    """``body``; what it matches can be read by this label."""

    label: str
    body: Expression


@dataclass(frozen=True)
class Within(Expression):
    """``body``, whose match may span so many microseconds."""

    body: Expression
    microseconds: int


@dataclass(frozen=True)
class Where(Expression):
    """``body``, which may end only where the condition holds."""

    body: Expression
    condition: Condition


@dataclass(frozen=True)
class Selected(Node):
    """One attribute that ``select`` gives the composite."""

    name: str
    value: Value


@dataclass(frozen=True)
class Select(Expression):
    """``body``; the composite gets these attributes."""

    body: Expression
    values: tuple[Selected, ...]
