"""Parse tree to algebra, node by node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from typing import Any

from lark import Token, Transformer, v_args
from lark.tree import Meta

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.node import Node, Span
from penstock.algebra.pattern import BARE, Definition, Let
from penstock.errors import DataError, ParseError, Place
from penstock.events.durations import nearest_unit, unit_microseconds
from penstock.events.times import parse_time

MAX_TIMES = 10_000
LONGEST_NUMBER = 40
INT64 = range(-(2**63), 2**63)


def _nodes(items: list[Any]) -> tuple[Any, ...]:
    return tuple(item for item in items if isinstance(item, Node))


def _spanned(method: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the builder's method the span of what it builds instead of the parser's meta data."""

    @wraps(method)
    def build(self: Builder, meta: Meta, items: list[Any]) -> Any:
        return method(self, items, span=self.span(meta))

    return build


@v_args(meta=True)
class Builder(Transformer[Token, Any]):
    """Builds one item of a text; ``offset`` is where in the text the item starts."""

    def __init__(self, text: str, name: str | None, offset: int) -> None:
        super().__init__()
        self._text = text
        self._name = name
        self._offset = offset

    def span(self, where: Meta | Token) -> Span:
        """Offsets into the whole text."""
        if isinstance(where, Meta) and where.empty:
            return Span(self._offset, self._offset)
        start = where.start_pos or 0
        end = where.end_pos or start
        return Span(self._offset + start, self._offset + end)

    def error(self, message: str, where: Span, hint: str | None = None) -> ParseError:
        """An error that points into the text."""
        return ParseError(message, hint=hint, place=Place(self._text, where.start, where.end, self._name))

    # Items

    @_spanned
    def let(self, items: list[Any], span: Span) -> Let:
        """``let NAME = sets``."""
        return Let(str(items[1]), items[3], span=self.span(items[1]))

    @_spanned
    def definition(self, items: list[Any], span: Span) -> Definition:
        """``NAME := pattern``."""
        return Definition(str(items[0]), items[2], span=self.span(items[0]))

    @_spanned
    def bare(self, items: list[Any], span: Span) -> Definition:
        """A pattern without a name."""
        return Definition(BARE, items[0], bare=True, span=span)

    # Suffixes

    @_spanned
    def within(self, items: list[Any], span: Span) -> x.Within:
        """``C within d``."""
        return x.Within(items[0], items[2], span=span)

    @_spanned
    def where(self, items: list[Any], span: Span) -> x.Where:
        """``C where condition``."""
        return x.Where(items[0], items[2], span=span)

    @_spanned
    def select(self, items: list[Any], span: Span) -> x.Select:
        """``C select name = value``."""
        body, *values = _nodes(items)
        return x.Select(body, tuple(values), span=span)

    @_spanned
    def selected(self, items: list[Any], span: Span) -> x.Selected:
        """``name = value``."""
        return x.Selected(str(items[0]), self.value(items[2]), span=self.span(items[0]))

    # Operators

    @_spanned
    def parallel(self, items: list[Any], span: Span) -> x.Parallel:
        """``C1 || C2``."""
        return x.Parallel(_nodes(items), span=span)

    @_spanned
    def alternation(self, items: list[Any], span: Span) -> x.Alternation:
        """``C1 | C2``."""
        return x.Alternation(_nodes(items), span=span)

    @_spanned
    def sequence(self, items: list[Any], span: Span) -> x.Sequence:
        """``C1 ; C2``."""
        return x.Sequence(_nodes(items), span=span)

    @_spanned
    def concatenation(self, items: list[Any], span: Span) -> x.Concatenation:
        """``C1 C2``."""
        return x.Concatenation(_nodes(items), span=span)

    @_spanned
    def labelled(self, items: list[Any], span: Span) -> x.Labelled:
        """``x: C``."""
        return x.Labelled(str(items[0]), items[2], span=span)

    @_spanned
    def any_number(self, items: list[Any], span: Span) -> x.Repetition:
        """``C*``."""
        return x.Repetition(items[0], 0, None, span=span)

    @_spanned
    def some(self, items: list[Any], span: Span) -> x.Repetition:
        """``C+``."""
        return x.Repetition(items[0], 1, None, span=span)

    @_spanned
    def optional(self, items: list[Any], span: Span) -> x.Repetition:
        """``C?``."""
        return x.Repetition(items[0], 0, 1, span=span)

    @_spanned
    def exactly(self, items: list[Any], span: Span) -> x.Repetition:
        """``C{n}``."""
        times = self.times(items[2])
        return x.Repetition(items[0], times, times, span=span)

    @_spanned
    def at_least(self, items: list[Any], span: Span) -> x.Repetition:
        """``C{n,}``."""
        return x.Repetition(items[0], self.times(items[2]), None, span=span)

    @_spanned
    def between_times(self, items: list[Any], span: Span) -> x.Repetition:
        """``C{n,m}``."""
        return x.Repetition(items[0], self.times(items[2]), self.times(items[4]), span=span)

    def times(self, token: Token) -> int:
        """How often, as a whole number."""
        if not token.isdigit() or len(token) > LONGEST_NUMBER or int(token) > MAX_TIMES:
            raise self.error(f"`{token}` is not a number of times from 0 to {MAX_TIMES:,}", self.span(token))
        return int(token)

    # Atoms, groups, timings

    @_spanned
    def bare_set(self, items: list[Any], span: Span) -> x.Atom:
        """``A(f)``, the atom ``[A(f)]``."""
        return x.Atom((items[0],), span=span)

    @_spanned
    def bracket(self, items: list[Any], span: Span) -> x.Expression:
        """``[ … ]``: an atom where that can be, else a group."""
        patterns = _nodes(items)
        domain = next((item for item in items if isinstance(item, tuple)), ())
        if all(self.is_bare_set(pattern) for pattern in patterns):
            label = tuple(one for pattern in patterns for one in pattern.label)
            return x.Atom(label, domain, span=span)
        if len(patterns) > 1:
            raise self.error(
                "a comma inside `[ ]` separates event types, and this is not one",
                next(pattern.span for pattern in patterns if not self.is_bare_set(pattern)),
                hint="for a timing write ( … , … ){T = 5 min}; for either of two patterns write |",
            )
        return _scoped(patterns[0], domain, span)

    def is_bare_set(self, pattern: x.Expression) -> bool:
        """Whether it was written as a set and nothing else."""
        return isinstance(pattern, x.Atom) and self._text[pattern.span.start] not in "[("

    @_spanned
    def negated(self, items: list[Any], span: Span) -> x.Atom:
        """``[!E in {S}]``."""
        return x.Atom(items[2], items[4], negated=True, span=span)

    @_spanned
    def group(self, items: list[Any], span: Span) -> x.Expression:
        """``( C )``."""
        return replace(items[1], span=span)  # type: ignore[no-any-return]

    @_spanned
    def scoped(self, items: list[Any], span: Span) -> x.Expression:
        """``C in {S}``."""
        return _scoped(items[0], items[2] or (), span)

    @_spanned
    def timing(self, items: list[Any], span: Span) -> x.Timing:
        """``(C1, C2){T = …}``."""
        first, second, spec = _nodes(items)
        return x.Timing(first, second, str(items[6]), spec, span=span)

    @_spanned
    def domain(self, items: list[Any], span: Span) -> tuple[x.DescribableSet, ...]:
        """``{S}`` or one set."""
        return items[1] if len(items) == 3 else (items[0],)

    @_spanned
    def sets(self, items: list[Any], span: Span) -> tuple[x.DescribableSet, ...]:
        """``A, B``."""
        return _nodes(items)

    @_spanned
    def set(self, items: list[Any], span: Span) -> x.DescribableSet:
        """``A(f)``."""
        return x.DescribableSet(items[0], items[2], span=span)

    @_spanned
    def any_type(self, items: list[Any], span: Span) -> x.DescribableSet:
        """``*``."""
        return x.DescribableSet(None, items[2], span=span)

    @_spanned
    def type(self, items: list[Any], span: Span) -> str:
        """A dotted name or a quoted text."""
        return _unquoted(items[0]) if items[0].type == "QUOTED" else str(items[0])

    @_spanned
    def after(self, items: list[Any], span: Span) -> x.After:
        """A duration."""
        return x.After(items[0], span=span)

    @_spanned
    def at_clock(self, items: list[Any], span: Span) -> x.AtClock:
        """``at 19:00``."""
        if len(items[1]) > LONGEST_NUMBER:
            raise self.error("this time is too long", span)
        hour, minute, *second = items[1].split(":")
        microseconds = Fraction(second[0] if second else 0) * 1_000_000
        total = (int(hour) * 60 + int(minute)) * 60_000_000 + microseconds
        if int(hour) > 23 or int(minute) > 59 or microseconds >= 60_000_000 or total.denominator != 1:
            raise self.error(f"`{items[1]}` is not a time of day", span, hint="from 0:00 to 23:59:59.999999")
        return x.AtClock(int(total), span=span)

    @_spanned
    def at_instant(self, items: list[Any], span: Span) -> x.AtInstant:
        """``at 2026-03-01T10:00:00Z``."""
        try:
            return x.AtInstant(parse_time(str(items[1])), span=span)
        except DataError as problem:
            raise self.error(problem.message, span, hint="write it as 2026-03-01T10:00:00Z, or with +01:00") from None

    @_spanned
    def duration(self, items: list[Any], span: Span) -> int:
        """Microseconds."""
        total = Fraction(0)
        for number, unit in zip(items[::2], items[1::2], strict=True):
            if len(number) > LONGEST_NUMBER or "e" in number.lower():
                raise self.error(f"`{number[:20]}` is not a number of {unit}", self.span(number))
            size = unit_microseconds(str(unit))
            if size is None:
                raise self.unknown_unit(unit)
            total += Fraction(number) * size
        if total <= 0 or total.denominator != 1 or int(total) not in INT64:
            raise self.error(
                "a duration is positive and in whole microseconds", span, hint="for example 5 min or 250 ms"
            )
        return int(total)

    def unknown_unit(self, unit: Token) -> ParseError:
        """What to say of a unit of time that is none."""
        close = nearest_unit(unit)
        return self.error(
            f"`{unit}` is not a unit of time: expected us, ms, s, sec, min, h or d",
            self.span(unit),
            hint=f"did you mean `{close}`?" if close else "for example 5 min, or 1 h 30 min",
        )

    # Conditions

    @_spanned
    def disjunction(self, items: list[Any], span: Span) -> c.Or:
        """``a OR b``."""
        return c.Or(_nodes(items), span=span)

    @_spanned
    def conjunction(self, items: list[Any], span: Span) -> c.And:
        """``a AND b``."""
        return c.And(_nodes(items), span=span)

    @_spanned
    def not_(self, items: list[Any], span: Span) -> c.Not:
        """``NOT a``."""
        return c.Not(items[1], span=span)

    @_spanned
    def comparison(self, items: list[Any], span: Span) -> c.Comparison:
        """``a < b``."""
        return c.Comparison(str(items[1]), self.value(items[0]), self.value(items[2]), span=span)  # type: ignore[arg-type]

    @_spanned
    def between(self, items: list[Any], span: Span) -> c.Between:
        """``a BETWEEN b AND c``."""
        value, low, high = (self.value(item) for item in _nodes(items))
        return c.Between(value, low, high, items[1] is not None, span=span)

    @_spanned
    def in_(self, items: list[Any], span: Span) -> c.In:
        """``a IN (b, c)``."""
        value, *choices = (self.value(item) for item in _nodes(items))
        return c.In(value, tuple(choices), items[1] is not None, span=span)

    @_spanned
    def like(self, items: list[Any], span: Span) -> c.Like:
        """``a LIKE 'b%'``."""
        value, negation, _, pattern, _, escape = items
        mark = _unquoted(escape) if escape is not None else None
        if mark is not None and len(mark) != 1:
            raise self.error("ESCAPE takes one character", self.span(escape))
        return c.Like(self.value(value), _unquoted(pattern), mark, negation is not None, span=span)

    @_spanned
    def is_null(self, items: list[Any], span: Span) -> c.IsNull:
        """``a IS NULL``."""
        return c.IsNull(self.value(items[0]), items[2] is not None, span=span)

    @_spanned
    def arithmetic(self, items: list[Any], span: Span) -> c.Arithmetic:
        """``a + b``."""
        return c.Arithmetic(str(items[1]), self.value(items[0]), self.value(items[2]), span=span)  # type: ignore[arg-type]

    @_spanned
    def negative(self, items: list[Any], span: Span) -> c.Value:
        """``-a``; of a number, that number."""
        operand = self.value(items[1])
        plain = self._text[operand.span.start] != "("
        if plain and isinstance(operand, c.Literal) and type(operand.value) in (int, float):
            return c.Literal(-operand.value, span=span)  # type: ignore[operator]
        return c.Negative(operand, span=span)

    @_spanned
    def positive(self, items: list[Any], span: Span) -> c.Value:
        """``+a``."""
        return self.value(items[1])

    def value(self, condition: c.Condition) -> c.Value:
        """The condition, if it is a value."""
        if not isinstance(condition, c.Value):
            raise self.error("a value is expected here, and this is a condition", condition.span)
        return condition

    @_spanned
    def parenthesised(self, items: list[Any], span: Span) -> c.Condition:
        """``(a)``."""
        return replace(items[1], span=span)  # type: ignore[no-any-return]

    @_spanned
    def number(self, items: list[Any], span: Span) -> c.Literal:
        """A whole number, or one with a fraction."""
        text = str(items[0])
        if len(text) > LONGEST_NUMBER:
            raise self.error("this number is too long", span)
        value: int | float = int(text) if text.isdigit() else float(text)
        if value in (float("inf"),) or (isinstance(value, int) and value not in INT64):
            raise self.error(f"`{text}` is too large", span)
        return c.Literal(value, span=span)

    @_spanned
    def text(self, items: list[Any], span: Span) -> c.Literal:
        """``'text'``."""
        return c.Literal(_unquoted(items[0]), span=span)

    @_spanned
    def boolean(self, items: list[Any], span: Span) -> c.Literal:
        """``true`` or ``false``."""
        return c.Literal(items[0].lower() == "true", span=span)

    @_spanned
    def parameter(self, items: list[Any], span: Span) -> c.Parameter:
        """``$name``."""
        return c.Parameter(items[0][1:], span=span)

    @_spanned
    def attribute(self, items: list[Any], span: Span) -> c.Attribute:
        """An attribute's name."""
        token = items[0]
        return c.Attribute(token[1:-1] if token.type == "DELIMITED" else str(token), span=span)

    @_spanned
    def label_read(self, items: list[Any], span: Span) -> c.LabelRead:
        """``x.attr``."""
        return c.LabelRead(*self.dotted(items[0]), span=span)

    @_spanned
    def aggregate(self, items: list[Any], span: Span) -> c.Aggregate:
        """``count(x)``, ``max(x.attr)``."""
        function, what = items[0].lower(), items[2]
        if (function == "count") is (what.type == "DOTTED"):
            wanted = "count(x)" if function == "count" else f"{function}(x.attribute)"
            raise self.error(f"`{items[0]}({what})` should be `{wanted}`", span)
        label, attribute = self.dotted(what) if what.type == "DOTTED" else (str(what), None)
        return c.Aggregate(function, label, attribute, span=span)

    @_spanned
    def clock_function(self, items: list[Any], span: Span) -> c.ClockFunction:
        """``hour()``."""
        return c.ClockFunction(items[0].lower(), span=span)

    def dotted(self, token: Token) -> tuple[str, str]:
        """Label and attribute."""
        label, attribute, *more = token.split(".")
        if more:
            raise self.error(f"`{token}` has more than one dot", self.span(token), hint="write label.attribute")
        return label, attribute


def _scoped(body: x.Expression, domain: tuple[x.DescribableSet, ...], span: Span) -> x.Expression:
    return x.Scope(body, domain, span=span) if domain else replace(body, span=span)


def _unquoted(token: Token) -> str:
    return token[1:-1].replace("''", "'")
