"""Conditions over the columns of an event table, a whole column at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce, singledispatch
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra import conditions as c
from penstock.events.times import zone_of
from penstock.filters.clock import clock
from penstock.filters.columns import (
    ABSENT,
    UNKNOWN,
    Column,
    calculate,
    compare,
    kind_of,
    per_distinct,
    truth,
    without_nan,
)
from penstock.filters.like import like_regex


class Events(Protocol):
    """What conditions read: a table of events, or some rows of one."""

    @property
    def attributes(self) -> pa.Table:
        """A table that says which attributes there are."""

    def field(self, name: str) -> pa.Array:
        """A field's column."""

    def attribute(self, name: str) -> pa.Array:
        """An attribute's column."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class _Rows:
    """A table's columns as conditions read them, each made ready once."""

    table: Events
    ready: dict[str, Column] = field(default_factory=dict)

    def read(self, name: str) -> Column:
        """The field or attribute of that name."""
        if name not in self.ready:
            self.ready[name] = self._column(name)
        return self.ready[name]

    def _column(self, name: str) -> Column:
        if name in c.FIELDS:
            return self.table.field(name)
        if name in self.table.attributes.column_names:
            return without_nan(self.table.attribute(name))
        return ABSENT


_Step = Callable[[_Rows], Column]


@dataclass(frozen=True)
class ColumnFilter:
    """A condition that is ready to be evaluated on any number of tables."""

    condition: c.Condition
    step: _Step = field(repr=False, compare=False)

    def mask(self, table: Events) -> pa.BooleanArray:
        """For each row whether the condition holds; null where that is unknown.

        >>> from penstock.events.table import make_table
        >>> from penstock.languages.core.parser import parse_syntax
        >>> times = {"lo": [1, 2, 3], "hi": [1, 2, 3]}
        >>> table = make_table({"type": ["A"] * 3, **times}, {"x": pa.array([1, 5, None])})
        >>> filter = parse_syntax("[A(x > 3)]").definitions[0].body.label[0].filter
        >>> compile_filter(filter, "UTC").mask(table).to_pylist()
        [False, True, None]
        """
        result = truth(self.step(_Rows(table)))
        return pa.repeat(result, len(table)) if isinstance(result, pa.Scalar) else result


def compile_filter(condition: c.Condition, zone: str) -> ColumnFilter:
    """Make a condition ready that reads no parameter and no label; ``zone`` is for ``hour()`` and the like.

    >>> compile_filter(c.Literal(True), "UTC").condition
    Literal(value=True)
    """
    return ColumnFilter(condition, _step(condition, zone))


def evaluate(condition: c.Condition, table: Events, zone: str) -> pa.BooleanArray:
    """For each row of the table whether the condition holds; null where that is unknown.

    >>> from penstock.events.table import make_table
    >>> table = make_table({"type": ["A", "B"], "lo": [1, 2], "hi": [1, 2]}, {})
    >>> evaluate(c.Comparison(">", c.Attribute("lo"), c.Literal(1)), table, "UTC").to_pylist()
    [False, True]
    """
    return compile_filter(condition, zone).mask(table)


@singledispatch
def _step(condition: c.Condition, zone: str) -> _Step:
    raise TypeError(f"{type(condition).__name__} needs a run, columns are not enough: split the filter first")


@_step.register
def _(literal: c.Literal, zone: str) -> _Step:
    value = without_nan(pa.scalar(literal.value))
    return lambda rows: value


@_step.register
def _(attribute: c.Attribute, zone: str) -> _Step:
    return lambda rows: rows.read(attribute.name)


@_step.register
def _(function: c.ClockFunction, zone: str) -> _Step:
    zone_of(zone)
    return lambda rows: clock(function.function, rows.read("hi"), zone)


@_step.register
def _(arithmetic: c.Arithmetic, zone: str) -> _Step:
    left, right = _step(arithmetic.left, zone), _step(arithmetic.right, zone)
    return lambda rows: calculate(arithmetic.operator, left(rows), right(rows))


@_step.register
def _(negative: c.Negative, zone: str) -> _Step:
    operand, zero = _step(negative.operand, zone), pa.scalar(0)
    return lambda rows: calculate("-", zero, operand(rows))


@_step.register
def _(comparison: c.Comparison, zone: str) -> _Step:
    left, right = _step(comparison.left, zone), _step(comparison.right, zone)
    return lambda rows: compare(comparison.operator, left(rows), right(rows))


@_step.register
def _(both: c.And, zone: str) -> _Step:
    parts = [_step(part, zone) for part in both.parts]
    return lambda rows: _all(part(rows) for part in parts)


@_step.register
def _(either: c.Or, zone: str) -> _Step:
    parts = [_step(part, zone) for part in either.parts]
    return lambda rows: _any(part(rows) for part in parts)


@_step.register
def _(opposite: c.Not, zone: str) -> _Step:
    operand = _step(opposite.operand, zone)
    return lambda rows: pc.invert(truth(operand(rows)))


@_step.register
def _(between: c.Between, zone: str) -> _Step:
    value, low, high = (_step(one, zone) for one in (between.value, between.low, between.high))

    def inside(rows: _Rows) -> Column:
        tested = value(rows)
        return _all([compare(">=", tested, low(rows)), compare("<=", tested, high(rows))])

    return _negated(inside, between.negated)


@_step.register
def _(choice: c.In, zone: str) -> _Step:
    value, choices = _step(choice.value, zone), [_step(one, zone) for one in choice.choices]
    texts = [one.value for one in choice.choices if isinstance(one, c.Literal) and isinstance(one.value, str)]
    listed = pa.array(texts) if texts and len(texts) == len(choices) else None

    def among(rows: _Rows) -> Column:
        tested = value(rows)
        if listed is not None and kind_of(tested) == "text":
            return per_distinct(tested, lambda values: _listed(values, listed))
        return _any(compare("=", tested, one(rows)) for one in choices)

    return _negated(among, choice.negated)


@_step.register
def _(like: c.Like, zone: str) -> _Step:
    value, regex = _step(like.value, zone), rf"\A{like_regex(like.pattern, like.escape)}\z"

    def matches(rows: _Rows) -> Column:
        tested = value(rows)
        if kind_of(tested) != "text":
            return UNKNOWN
        return per_distinct(tested, lambda values: pc.match_substring_regex(values, regex))

    return _negated(matches, like.negated)


@_step.register
def _(test: c.IsNull, zone: str) -> _Step:
    value, answer = _step(test.value, zone), pc.is_valid if test.negated else pc.is_null
    return lambda rows: answer(value(rows))


def _negated(step: _Step, negated: bool) -> _Step:
    return (lambda rows: pc.invert(step(rows))) if negated else step


def _all(columns: Iterable[Column]) -> Column:
    return reduce(pc.and_kleene, map(truth, columns), pa.scalar(True))


def _any(columns: Iterable[Column]) -> Column:
    return reduce(pc.or_kleene, map(truth, columns), pa.scalar(False))


def _listed(values: Column, choices: pa.Array) -> Column:
    """Equal to one of many texts, in one pass."""
    return pc.if_else(pc.is_valid(values), pc.is_in(values, value_set=choices), UNKNOWN)
