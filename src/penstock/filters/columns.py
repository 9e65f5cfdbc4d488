"""Comparing and calculating with whole columns: Arrow arrays, or scalars that stand for all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from typing import Literal as OneOf

import pyarrow as pa
import pyarrow.compute as pc

Column = Any
"""An Arrow array or scalar; a null scalar of null type is a value that no row has."""
Kind = OneOf["boolean", "number", "text", "time"]
ABSENT = pa.scalar(None)
UNKNOWN = pa.scalar(None, pa.bool_())

_COMPARE: dict[str, Callable[..., Column]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_CALCULATE: dict[str, Callable[..., Column]] = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}
_CHECKED: dict[str, Callable[..., Column]] = {
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
}
_INT64 = range(-(2**63), 2**63)


def kind_of(column: Column) -> Kind | None:
    """What the values of a column are; ``None`` if there are none.

    >>> kind_of(pa.array([1, 2])), kind_of(pa.array([1.5])), kind_of(pa.array([None]))
    ('number', 'number', None)
    """
    kind = column.type
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    if pa.types.is_string(kind) or pa.types.is_dictionary(kind):
        return "text"
    return "time" if pa.types.is_timestamp(kind) else None


def truth(column: Column) -> Column:
    """The column as a condition: only what is boolean is known.

    >>> truth(pa.array([True, None])).to_pylist(), truth(pa.scalar(1)).as_py()
    ([True, None], None)
    """
    return column if kind_of(column) == "boolean" else UNKNOWN


def without_nan(column: Column) -> Column:
    """The column with null in the place of what is not a number.

    >>> without_nan(pa.array([1.5, float("nan")])).to_pylist()
    [1.5, None]
    """
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def compare(operator: str, left: Column, right: Column) -> Column:
    """``left < right`` and so on, row by row; unknown where one is null, or if their kinds differ.

    >>> compare("<", pa.array([1, None, 3]), pa.scalar(2.5)).to_pylist()
    [True, None, False]
    >>> compare("=", pa.array(["1"]), pa.scalar(1)).as_py()
    """
    kind = kind_of(left)
    if kind is None or kind_of(right) != kind:
        return UNKNOWN
    test = _COMPARE[operator]
    if kind == "number":
        return test(*_aligned(left, right))
    if isinstance(right, pa.Scalar):
        return per_distinct(left, lambda values: test(values, right))
    if isinstance(left, pa.Scalar):
        return per_distinct(right, lambda values: test(left, values))
    return test(_decoded(left), _decoded(right))


def per_distinct(column: Column, test: Callable[[Column], Column]) -> Column:
    """The test of each value, made only once for each distinct one if the column is dictionary-coded.

    >>> coded = pa.array(["a", None, "b", "a"]).dictionary_encode()
    >>> per_distinct(coded, lambda values: pc.equal(values, "a")).to_pylist()
    [True, None, False, True]
    """
    if not pa.types.is_dictionary(column.type):
        return test(column)
    if len(column.dictionary) > len(column):  # a slice of a longer table
        return test(column.dictionary_decode())
    return test(column.dictionary).take(column.indices)


def _decoded(column: Column) -> Column:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _aligned(left: Column, right: Column) -> tuple[Column, Column]:
    """Two columns of numbers as one type: integers if that is exact, otherwise floats."""
    if left.type != right.type:
        left, right = _whole(left), _whole(right)
    return (left, right) if left.type == right.type else (_floats(left), _floats(right))


def _whole(column: Column) -> Column:
    """A constant such as 15.0 as an integer."""
    value = column.as_py() if isinstance(column, pa.Scalar) else None
    if isinstance(value, float) and value.is_integer() and int(value) in _INT64:
        return pa.scalar(int(value), pa.int64())
    return column


def _floats(column: Column) -> Column:
    return pc.cast(column, pa.float64(), safe=False)


def calculate(operator: str, left: Column, right: Column) -> Column:
    """``left + right`` and so on, row by row; null where that is no number that a column can hold.

    >>> calculate("+", pa.array([1, 2**63 - 1]), pa.scalar(1)).to_pylist()
    [2, None]
    >>> calculate("/", pa.array([1, 2]), pa.array([2, 0])).to_pylist()
    [0.5, None]
    """
    if (kind_of(left), kind_of(right)) != ("number", "number"):
        return ABSENT
    if operator == "/":
        return _divided(_floats(left), _floats(right))
    if pa.types.is_integer(left.type) and pa.types.is_integer(right.type):
        return _exactly(operator, left, right)
    return without_nan(_CALCULATE[operator](_floats(left), _floats(right)))


def _divided(left: Column, right: Column) -> Column:
    divisor = pc.if_else(pc.equal(right, 0.0), pa.scalar(None, pa.float64()), right)
    return without_nan(pc.divide(left, divisor))


def _exactly(operator: str, left: Column, right: Column) -> Column:
    try:
        return _CHECKED[operator](left, right)
    except pa.ArrowInvalid:  # somewhere it overflows
        return _null_on_overflow(operator, left, right)


def _null_on_overflow(operator: str, left: Column, right: Column) -> Column:
    """Integers overflow where the result is far from the same in floats.

    Wrapping around moves a result by a multiple of 2**64, rounding moves one that fits by less than 2**14.
    """
    wrapped = _CALCULATE[operator](left, right)
    estimate = _CALCULATE[operator](_floats(left), _floats(right))
    distance = pc.abs(pc.subtract(_floats(wrapped), estimate))
    return pc.if_else(pc.less(distance, float(2**62)), wrapped, pa.scalar(None, pa.int64()))
