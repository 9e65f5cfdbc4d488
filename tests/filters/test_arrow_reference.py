"""Filters on columns agree with plain Python, row by row, also where kinds differ."""

import operator
from datetime import UTC, datetime, timedelta

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.algebra import conditions as c
from penstock.events.table import TIME, make_table
from penstock.filters.arrow import evaluate

COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
CALCULATE = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
NOW = datetime(2026, 3, 1, tzinfo=UTC)
KINDS = {
    pa.bool_(): st.booleans(),
    pa.int64(): st.integers(-3, 3) | st.sampled_from([2**63 - 1, -(2**63)]),
    pa.float64(): st.integers(-6, 6).map(lambda halves: halves / 2) | st.sampled_from([float("nan"), 1e308]),
    pa.string(): st.text(alphabet="a_%\n", max_size=2),
    TIME: st.integers(-2, 2).map(lambda days: NOW + timedelta(days)),
}
NAMES = ["x", "y", "z", "absent"]
VALUES = st.recursive(
    st.sampled_from(NAMES).map(c.Attribute)
    | st.sampled_from([True, False, 0, 1, -2, 0.0, 1.0, 0.5, "", "a", "_"]).map(c.Literal),
    lambda inner: st.builds(c.Arithmetic, st.sampled_from("+-*/"), inner, inner) | st.builds(c.Negative, inner),
    max_leaves=3,
)
CONDITIONS = st.recursive(
    VALUES
    | st.builds(c.Comparison, st.sampled_from(list(COMPARE)), VALUES, VALUES)
    | st.builds(c.Between, VALUES, VALUES, VALUES, st.booleans())
    | st.builds(c.In, VALUES, st.lists(VALUES, max_size=3).map(tuple), st.booleans())
    | st.builds(c.Like, VALUES, st.text("a_%", max_size=3), st.sampled_from([None, "a"]), st.booleans())
    | st.builds(c.IsNull, VALUES, st.booleans()),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: c.And(tuple(parts)))
        | st.lists(inner, max_size=3).map(lambda parts: c.Or(tuple(parts)))
        | inner.map(c.Not)
    ),
    max_leaves=4,
)


def is_number(value):
    return type(value) in (int, float)


def compare(sign, left, right):
    if (is_number(left) and is_number(right)) or (type(left) is type(right) and left is not None):
        return COMPARE[sign](left, right)
    return None


def calculate(sign, left, right):
    if not is_number(left) or not is_number(right) or (sign == "/" and right == 0):
        return None
    if sign == "/":
        left, right = float(left), float(right)
    result = CALCULATE[sign](left, right)
    fits = -(2**63) <= result < 2**63 if isinstance(result, int) else result == result
    return result if fits else None


def all_of(truths):
    truths = [one if type(one) is bool else None for one in truths]
    return False if False in truths else None if None in truths else True


def opposite(truth, negated=True):
    return truth if not negated or type(truth) is not bool else not truth


def like(text, pattern, escape):
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == escape:
        return text[:1] == (rest[:1] or escape) and like(text[1:], rest[1:], escape)
    if first == "%":
        return any(like(text[start:], rest, escape) for start in range(len(text) + 1))
    return text[:1] != "" and first in ("_", text[0]) and like(text[1:], rest, escape)


def value_of(value, row):
    match value:
        case c.Literal(value=constant):
            return constant
        case c.Attribute(name=name):
            return row.get(name) if row.get(name) == row.get(name) else None
        case c.Negative(operand=operand):
            return calculate("-", 0, value_of(operand, row))
        case c.Arithmetic(operator=sign, left=left, right=right):
            return calculate(sign, value_of(left, row), value_of(right, row))


def holds(condition, row):
    match condition:
        case c.And(parts=parts):
            return all_of(holds(part, row) for part in parts)
        case c.Or(parts=parts):
            return opposite(all_of(opposite(holds(part, row)) for part in parts))
        case c.Not(operand=operand):
            return opposite(holds(operand, row))
        case c.Comparison(operator=sign, left=left, right=right):
            return compare(sign, value_of(left, row), value_of(right, row))
        case c.Value():
            return value_of(condition, row)
    return opposite(predicate(condition, value_of(condition.value, row), row), condition.negated)


def predicate(condition, value, row):
    match condition:
        case c.Between(low=low, high=high):
            return all_of([compare(">=", value, value_of(low, row)), compare("<=", value, value_of(high, row))])
        case c.In(choices=choices):
            return opposite(all_of(compare("<>", value, value_of(one, row)) for one in choices))
        case c.Like(pattern=pattern, escape=escape):
            return like(value, pattern, escape) if isinstance(value, str) else None
        case c.IsNull():
            return value is None


@st.composite
def tables(draw):
    kinds = {name: draw(st.sampled_from(list(KINDS))) for name in NAMES[:3]}
    rows = draw(st.lists(st.fixed_dictionaries({n: st.none() | KINDS[k] for n, k in kinds.items()}), max_size=6))
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()}
    return rows, columns


@settings(max_examples=600, derandomize=True, deadline=None)
@given(CONDITIONS, tables())
def test_a_filter_holds_where_plain_python_says_so(condition, table):
    rows, columns = table
    times = [0] * len(rows)
    events = make_table({"type": ["A"] * len(rows), "lo": times, "hi": times}, columns)
    truths = [holds(condition, row) for row in rows]
    expected = [truth if type(truth) is bool else None for truth in truths]
    assert evaluate(condition, events, "UTC").to_pylist() == expected
