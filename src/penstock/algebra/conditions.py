"""Conditions over events: SQL-92's, kept apart from any one way to evaluate them.

A condition has three values. A backend (Arrow columns, a run's labels, Spark, a broker's selector)
gives each node its meaning; none of them is known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.algebra.node import Node

Constant = bool | int | float | str
FIELDS = ("source", "id", "lo", "hi")
"""An event's own fields that a filter can read; they win over attributes of the same name."""
AGGREGATES = ("count", "min", "max", "sum", "avg", "first", "last", "distinct")
CLOCK_FUNCTIONS = ("hour", "minute", "weekday")


class Condition(Node):
    """Anything that can stand in a filter, a ``where`` or a ``select``."""


class Value(Condition):
    """A condition that is a value: where a truth is wanted, only the boolean true is one."""


@dataclass(frozen=True, eq=False)
class Literal(Value):
    """A number, a text, true or false."""

    value: Constant

    def _said(self) -> tuple[bool, Constant]:
        return isinstance(self.value, bool), self.value

    def __eq__(self, other: object) -> bool:
        """Whether they say the same; true is not 1, as it is in Python."""
        return isinstance(other, Literal) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash(self._said())


@dataclass(frozen=True)
class Attribute(Value):
    """An attribute or a field of the event that is being filtered."""

    name: str


@dataclass(frozen=True)
class Parameter(Value):
    """A free parameter, ``$name``."""

    name: str


@dataclass(frozen=True)
class LabelRead(Value):
    """An attribute or a field of the one event with this label, ``x.attr``."""

    label: str
    attribute: str


@dataclass(frozen=True)
class Aggregate(Value):
    """What a list label's events amount to so far, such as ``max(x.v)``; ``count(x)`` has no attribute."""

    function: str
    label: str
    attribute: str | None


@dataclass(frozen=True)
class ClockFunction(Value):
    """``hour()``, ``minute()`` or ``weekday()`` (Monday is 0) of the event's ``hi`` in the pattern's zone."""

    function: str


@dataclass(frozen=True)
class Arithmetic(Value):
    """``left + right`` and so on; what divides by zero is null."""

    operator: OneOf["+", "-", "*", "/"]
    left: Value
    right: Value


@dataclass(frozen=True)
class Negative(Value):
    """``-operand``."""

    operand: Value


@dataclass(frozen=True)
class Comparison(Condition):
    """``left < right`` and so on; unknown if a side is null or their kinds differ."""

    operator: OneOf["=", "<>", "<", "<=", ">", ">="]
    left: Value
    right: Value


@dataclass(frozen=True)
class And(Condition):
    """All of ``parts``."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or(Condition):
    """Any of ``parts``."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not(Condition):
    """The opposite; of unknown, unknown."""

    operand: Condition


@dataclass(frozen=True)
class Between(Condition):
    """``value BETWEEN low AND high``, both ends included."""

    value: Value
    low: Value
    high: Value
    negated: bool = False


@dataclass(frozen=True)
class In(Condition):
    """``value IN (choices)``: equal to one of them."""

    value: Value
    choices: tuple[Value, ...]
    negated: bool = False


@dataclass(frozen=True)
class Like(Condition):
    """``value LIKE 'pattern'``: ``%`` stands for any text, ``_`` for one character."""

    value: Value
    pattern: str
    escape: str | None = None
    negated: bool = False


@dataclass(frozen=True)
class IsNull(Condition):
    """``value IS NULL``; never unknown."""

    value: Value
    negated: bool = False


def conjuncts(condition: Condition | None) -> tuple[Condition, ...]:
    """The conditions that must all hold for ``condition`` to hold."""
    if condition is None:
        return ()
    if isinstance(condition, And):
        return tuple(part for whole in condition.parts for part in conjuncts(whole))
    return (condition,)


def bindings(condition: Condition | None) -> dict[str, str]:
    """Which attribute each parameter is equated with: ``{parameter: attribute}``."""
    found: dict[str, str] = {}
    for part in conjuncts(condition):
        match part:
            case Comparison(operator="=", left=Attribute(name=attribute), right=Parameter(name=parameter)):
                found.setdefault(parameter, attribute)
            case Comparison(operator="=", left=Parameter(name=parameter), right=Attribute(name=attribute)):
                found.setdefault(parameter, attribute)
    return found
