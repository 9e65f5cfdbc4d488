"""The algebra back to core text: what is printed parses to an equal pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import singledispatch

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.pattern import Definition, Let, Pattern
from penstock.events.durations import format_duration
from penstock.events.times import format_time

NAME = re.compile(r"[^\W\d]\w*\Z")
TYPE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")

# How tightly what is printed binds, and how tightly what stands around wants it; looser text gets brackets.
SUFFIXED, PARALLEL, ALTERNATION, SEQUENCE, CONCATENATION, LABELLED, REPEATED, PRIMARY = range(8)
OR, AND, NOT, PREDICATE, SUM, PRODUCT, FACTOR, OPERAND = range(8)


def print_pattern(pattern: Pattern) -> str:
    """The pattern's text, an item a line.

    >>> from penstock import parse
    >>> print_pattern(parse("([B], P in T1){T1=1h}"))
    '([B], ([P] in {T1})){T1 = 1 h}'
    """
    return "\n".join(_item(item) for item in pattern.items)


def _item(item: Let | Definition) -> str:
    if isinstance(item, Let):
        return f"let {item.name} = {print_sets(item.sets)}"
    text = print_expression(item.body)
    return text if item.bare else f"{item.name} := {text}"


def print_expression(expression: x.Expression, wanted: int = SUFFIXED) -> str:
    """The expression's text, in brackets if what stands around binds more tightly."""
    text, strength = _expression(expression)
    return f"({text})" if strength < wanted else text


def print_condition(condition: c.Condition, wanted: int = OR) -> str:
    """The condition's text, in brackets if what stands around binds more tightly."""
    text, strength = _condition(condition)
    return f"({text})" if strength < wanted else text


def print_sets(sets: Iterable[x.DescribableSet]) -> str:
    """Sets, separated by commas."""
    return ", ".join(print_set(one) for one in sets)


def print_set(one: x.DescribableSet) -> str:
    """A describable set such as ``Door(open = true)``."""
    name = "*" if one.type is None else one.type if _is_name(TYPE, one.type) else _quoted(one.type)
    return name if one.filter is None else f"{name}({print_condition(one.filter)})"


def _is_name(shape: re.Pattern[str], text: str) -> bool:
    return bool(shape.match(text)) and text.lower() not in x.RESERVED


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _joined(parts: Iterable[x.Expression], operator: str, strength: int) -> tuple[str, int]:
    return operator.join(print_expression(part, strength + 1) for part in parts), strength


@singledispatch
def _expression(expression: x.Expression) -> tuple[str, int]:
    raise TypeError(type(expression).__name__)


@_expression.register
def _(atom: x.Atom) -> tuple[str, int]:
    domain = f" in {{{print_sets(atom.domain)}}}" if atom.domain else ""
    return f"[{'!' if atom.negated else ''}{print_sets(atom.label)}{domain}]", PRIMARY


@_expression.register
def _(concatenation: x.Concatenation) -> tuple[str, int]:
    return _joined(concatenation.parts, " ", CONCATENATION)


@_expression.register
def _(sequence: x.Sequence) -> tuple[str, int]:
    return _joined(sequence.parts, " ; ", SEQUENCE)


@_expression.register
def _(alternation: x.Alternation) -> tuple[str, int]:
    return _joined(alternation.choices, " | ", ALTERNATION)


@_expression.register
def _(parallel: x.Parallel) -> tuple[str, int]:
    return _joined(parallel.sides, " || ", PARALLEL)


@_expression.register
def _(repetition: x.Repetition) -> tuple[str, int]:
    low, high = repetition.low, repetition.high
    counts = {(low, low): f"{{{low}}}", (low, None): f"{{{low},}}", (0, None): "*", (1, None): "+", (0, 1): "?"}
    return print_expression(repetition.body, REPEATED) + counts.get((low, high), f"{{{low},{high}}}"), REPEATED


@_expression.register
def _(scope: x.Scope) -> tuple[str, int]:
    return f"({print_expression(scope.body)} in {{{print_sets(scope.domain)}}})", PRIMARY


@_expression.register
def _(timing: x.Timing) -> tuple[str, int]:
    parts = f"({print_expression(timing.first)}, {print_expression(timing.second)})"
    return f"{parts}{{{timing.timer} = {print_timespec(timing.spec)}}}", PRIMARY


@_expression.register
def _(labelled: x.Labelled) -> tuple[str, int]:
    return f"{labelled.label}: {print_expression(labelled.body, REPEATED)}", LABELLED


@_expression.register
def _(within: x.Within) -> tuple[str, int]:
    return f"{print_expression(within.body)} within {format_duration(within.microseconds)}", SUFFIXED


@_expression.register
def _(where: x.Where) -> tuple[str, int]:
    return f"{print_expression(where.body)} where {print_condition(where.condition)}", SUFFIXED


@_expression.register
def _(select: x.Select) -> tuple[str, int]:
    values = ", ".join(f"{one.name} = {print_condition(one.value, SUM)}" for one in select.values)
    return f"{print_expression(select.body)} select {values}", SUFFIXED


def print_timespec(spec: x.TimeSpec) -> str:
    """When a timer fires: ``5 min``, ``at 19:00`` or ``at 2026-03-01T10:00:00Z``."""
    if isinstance(spec, x.After):
        return format_duration(spec.microseconds)
    if isinstance(spec, x.AtInstant):
        return f"at {format_time(spec.microseconds)}"
    assert isinstance(spec, x.AtClock)  # noqa: S101
    seconds, fraction = divmod(spec.microseconds, 1_000_000)
    clock = f"at {seconds // 3600:02}:{seconds // 60 % 60:02}"
    if seconds % 60 or fraction:
        clock += f":{seconds % 60:02}"
    return clock + (f".{fraction:06}" if fraction else "")


@singledispatch
def _condition(condition: c.Condition) -> tuple[str, int]:
    raise TypeError(type(condition).__name__)


@_condition.register
def _(literal: c.Literal) -> tuple[str, int]:
    if isinstance(literal.value, bool):
        return str(literal.value).lower(), OPERAND
    if isinstance(literal.value, str):
        return _quoted(literal.value), OPERAND
    text = repr(literal.value)
    return text, FACTOR if text.startswith("-") else OPERAND


@_condition.register
def _(attribute: c.Attribute) -> tuple[str, int]:
    plain = _is_name(NAME, attribute.name)
    return attribute.name if plain else f"`{attribute.name}`", OPERAND


@_condition.register
def _(parameter: c.Parameter) -> tuple[str, int]:
    return f"${parameter.name}", OPERAND


@_condition.register
def _(read: c.LabelRead) -> tuple[str, int]:
    return f"{read.label}.{read.attribute}", OPERAND


@_condition.register
def _(aggregate: c.Aggregate) -> tuple[str, int]:
    what = aggregate.label + (f".{aggregate.attribute}" if aggregate.attribute is not None else "")
    return f"{aggregate.function}({what})", OPERAND


@_condition.register
def _(function: c.ClockFunction) -> tuple[str, int]:
    return f"{function.function}()", OPERAND


@_condition.register
def _(arithmetic: c.Arithmetic) -> tuple[str, int]:
    strength = SUM if arithmetic.operator in "+-" else PRODUCT
    left = print_condition(arithmetic.left, strength)
    return f"{left} {arithmetic.operator} {print_condition(arithmetic.right, strength + 1)}", strength


@_condition.register
def _(negative: c.Negative) -> tuple[str, int]:
    literal = isinstance(negative.operand, c.Literal)
    text = print_condition(negative.operand, OR if literal else FACTOR)
    return f"-({text})" if literal else f"-{text}", FACTOR


@_condition.register
def _(comparison: c.Comparison) -> tuple[str, int]:
    left, right = print_condition(comparison.left, SUM), print_condition(comparison.right, SUM)
    return f"{left} {comparison.operator} {right}", PREDICATE


@_condition.register
def _(both: c.And) -> tuple[str, int]:
    return " AND ".join(print_condition(part, NOT) for part in both.parts), AND


@_condition.register
def _(either: c.Or) -> tuple[str, int]:
    return " OR ".join(print_condition(part, AND) for part in either.parts), OR


@_condition.register
def _(opposite: c.Not) -> tuple[str, int]:
    return f"NOT {print_condition(opposite.operand, NOT)}", NOT


@_condition.register
def _(between: c.Between) -> tuple[str, int]:
    value, low, high = (print_condition(one, SUM) for one in (between.value, between.low, between.high))
    return f"{value}{_not(between.negated)} BETWEEN {low} AND {high}", PREDICATE


@_condition.register
def _(choice: c.In) -> tuple[str, int]:
    choices = ", ".join(print_condition(one, SUM) for one in choice.choices)
    return f"{print_condition(choice.value, SUM)}{_not(choice.negated)} IN ({choices})", PREDICATE


@_condition.register
def _(like: c.Like) -> tuple[str, int]:
    escape = f" ESCAPE {_quoted(like.escape)}" if like.escape is not None else ""
    value = print_condition(like.value, SUM)
    return f"{value}{_not(like.negated)} LIKE {_quoted(like.pattern)}{escape}", PREDICATE


@_condition.register
def _(test: c.IsNull) -> tuple[str, int]:
    return f"{print_condition(test.value, SUM)} IS{_not(test.negated)} NULL", PREDICATE


def _not(negated: bool) -> str:
    return " NOT" if negated else ""
