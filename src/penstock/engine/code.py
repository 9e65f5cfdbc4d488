"""Conditions to postfix code for the kernel's machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from penstock.algebra import conditions as c
from penstock.engine import vm
from penstock.errors import PatternError
from penstock.filters.like import ANY_TEXT, like_pieces

COMPARISONS = {
    "=": vm.EQUAL,
    "<>": vm.UNEQUAL,
    "<": vm.LESS,
    "<=": vm.LESS_EQUAL,
    ">": vm.GREATER,
    ">=": vm.GREATER_EQUAL,
}
ARITHMETIC = {"+": vm.ADD, "-": vm.SUBTRACT, "*": vm.MULTIPLY, "/": vm.DIVIDE}
AGGREGATES = {
    "count": vm.COUNT,
    "min": vm.MINIMUM,
    "max": vm.MAXIMUM,
    "sum": vm.TOTAL,
    "avg": vm.AVERAGE,
    "first": vm.FIRST,
    "last": vm.LAST,
    "distinct": vm.DISTINCT,
}


@dataclass
class Code:
    """Code for all conditions of a definition, with the columns and constants that it reads.

    ``columns`` are conditions over one event, each evaluated as a column of values; the texts among the
    constants wait for their number in the pool.
    """

    labels: list[str]
    parameters: list[str]
    columns: dict[c.Condition, int] = field(default_factory=dict)
    rows: list[tuple[int, int, int]] = field(default_factory=list)
    constants: list[c.Constant] = field(default_factory=list)

    def compile(self, condition: c.Condition) -> tuple[int, int]:
        """Where the condition's code starts and ends."""
        start = len(self.rows)
        depth = self._write(condition)
        if depth > vm.STACK:
            raise PatternError("a condition over labels is nested too deeply")
        return start, len(self.rows)

    def _emit(self, op: int, a: int = 0, b: int = 0) -> None:
        self.rows.append((op, a, b))

    def _column(self, condition: c.Condition) -> int:
        return self.columns.setdefault(condition, len(self.columns))

    def _constant(self, value: c.Constant) -> int:
        self._emit(vm.CONSTANT, len(self.constants))
        self.constants.append(value)
        return 1

    def _write(self, condition: c.Condition) -> int:
        """Writes code that leaves the condition's value on the stack; returns how much of it is needed."""
        match condition:
            case c.Literal(value=value):
                return self._constant(value)
            case c.Attribute() | c.ClockFunction():
                self._emit(vm.COLUMN, self._column(condition))
                return 1
            case c.Parameter(name=name):
                self._emit(vm.PARAMETER, self.parameters.index(name))
                return 1
            case c.LabelRead(label=label, attribute=attribute):
                self._emit(vm.LABEL, self.labels.index(label), self._column(c.Attribute(attribute)))
                return 1
            case c.Aggregate(function=function, label=label, attribute=attribute):
                column = 0 if attribute is None else self._column(c.Attribute(attribute))
                self._emit(AGGREGATES[function], self.labels.index(label), column)
                return 1
            case c.Arithmetic(operator=sign, left=left, right=right):
                return self._binary(left, right, ARITHMETIC[sign])
            case c.Negative(operand=operand):
                return self._binary(c.Literal(0), operand, vm.SUBTRACT)
            case c.Comparison(operator=sign, left=left, right=right):
                return self._binary(left, right, COMPARISONS[sign])
        return self._write_logic(condition)

    def _binary(self, left: c.Condition, right: c.Condition, op: int) -> int:
        depth = max(self._write(left), 1 + self._write(right))
        self._emit(op)
        return depth

    def _write_logic(self, condition: c.Condition) -> int:
        match condition:
            case c.And(parts=parts):
                return self._several(parts, vm.AND)
            case c.Or(parts=parts):
                return self._several(parts, vm.OR)
            case c.Not(operand=operand):
                return self._negated(self._write(operand), negated=True)
            case c.Between(value=value, low=low, high=high, negated=negated):
                both = c.And((c.Comparison("<=", low, value), c.Comparison("<=", value, high)))
                return self._negated(self._write(both), negated)
            case c.In(value=value, choices=choices, negated=negated):
                either = c.Or(tuple(c.Comparison("=", value, one) for one in choices))
                return self._negated(self._write(either), negated)
            case c.IsNull(value=value, negated=negated):
                depth = self._write(value)
                self._emit(vm.IS_NULL)
                return self._negated(depth, negated)
            case c.Like(negated=negated):
                return self._negated(self._write_like(condition), negated)
        raise TypeError(type(condition).__name__)

    def _several(self, parts: tuple[c.Condition, ...], op: int) -> int:
        depth = max(number + self._write(part) for number, part in enumerate(parts))
        self._emit(op, len(parts))
        return depth

    def _negated(self, depth: int, negated: bool) -> int:
        if negated:
            self._emit(vm.NOT)
        return depth

    def _write_like(self, like: c.Like) -> int:
        """A LIKE is asked of an event when it is read, as a column of its own, and remembered; of others, here."""
        match like.value:
            case c.Attribute() as attribute:
                self._emit(vm.COLUMN, self._column(c.Like(attribute, like.pattern, like.escape)))
            case c.LabelRead(label=label, attribute=name):
                column = self._column(c.Like(c.Attribute(name), like.pattern, like.escape))
                self._emit(vm.LABEL, self.labels.index(label), column)
            case c.Aggregate(function=("first" | "last") as function, label=label, attribute=str(name)):
                column = self._column(c.Like(c.Attribute(name), like.pattern, like.escape))
                self._emit(AGGREGATES[function], self.labels.index(label), column)
            case value:
                depth = self._write(value)
                pieces = list(_pieces_of(like))
                self._emit(vm.LIKE, len(pieces))
                self.rows += pieces
                return depth
        return 1

    def table(self) -> NDArray[np.int64]:
        """The code as the kernel takes it."""
        return np.array(self.rows or [(0, 0, 0)], np.int64).reshape(-1, 3)


def _pieces_of(like: c.Like) -> Iterator[tuple[int, int, int]]:
    """A pattern as rows of code: bytes, and wildcards."""
    for character, is_wild in like_pieces(like.pattern, like.escape):
        if is_wild:
            yield vm.PIECE, vm.ANY_TEXT if character == ANY_TEXT else vm.ANY_CHARACTER, 0
        else:
            yield from ((vm.PIECE, byte, 0) for byte in character.encode())
