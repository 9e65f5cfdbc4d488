"""Filters on columns agree with DuckDB on everything that SQL gives a meaning to."""

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.algebra import conditions as c
from penstock.events.table import make_table
from penstock.filters.arrow import evaluate

OPERATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
WHOLE = st.integers(-9, 9) | st.sampled_from([2**63 - 1, -(2**63) + 1, 2**62, 2**53 + 1, -(2**32)])
FLOATS = st.integers(-40, 40).map(lambda quarters: quarters / 4)
TEXTS = st.text(alphabet="ab%_\\#é\n😀", max_size=4)
COLUMNS = {
    "i": (pa.int64(), WHOLE),
    "j": (pa.int64(), WHOLE),
    "f": (pa.float64(), FLOATS),
    "g": (pa.float64(), FLOATS),
    "s": (pa.string(), TEXTS),
    "source": (pa.string(), TEXTS),
    "b": (pa.bool_(), st.booleans()),
    "d": (pa.bool_(), st.booleans()),
}
ROWS = st.lists(st.fixed_dictionaries({n: st.none() | v for n, (_, v) in COLUMNS.items()}), max_size=8)


def attributes(*names: str) -> st.SearchStrategy[c.Value]:
    return st.sampled_from(names).map(c.Attribute)


def calculations(leaves: st.SearchStrategy[c.Value], operators: str) -> st.SearchStrategy[c.Value]:
    return st.recursive(
        leaves,
        lambda inner: st.builds(c.Arithmetic, st.sampled_from(operators), inner, inner) | st.builds(c.Negative, inner),
        max_leaves=3,
    )


INT_VALUES = calculations(attributes("i", "j") | WHOLE.map(c.Literal), "+-*")
NUMBER_VALUES = INT_VALUES | calculations(
    attributes("i", "f", "g") | FLOATS.map(c.Literal) | st.integers(-9, 9).map(c.Literal), "+-*/"
)
TEXT_VALUES = attributes("s", "source") | TEXTS.map(c.Literal)
TRUTH_VALUES = attributes("b", "d") | st.booleans().map(c.Literal)


@st.composite
def likes(draw: st.DrawFn) -> c.Like:
    escape = draw(st.sampled_from([None, "#", "\\", "%"]))
    piece = st.sampled_from(["%", "_", "a", "b", "é", "\\", "\n", "😀"])
    escaped = st.sampled_from([f"{escape}%", f"{escape}_", f"{escape}{escape}"]) if escape else piece
    pieces = draw(st.lists(piece.filter(lambda one: one != escape) | escaped, max_size=4))
    return c.Like(draw(TEXT_VALUES), "".join(pieces), escape, draw(st.booleans()))


def predicates(values: st.SearchStrategy[c.Value]) -> st.SearchStrategy[c.Condition]:
    return (
        st.builds(c.Comparison, OPERATORS, values, values)
        | st.builds(c.Between, values, values, values, st.booleans())
        | st.builds(c.In, values, st.lists(values, min_size=1, max_size=3).map(tuple), st.booleans())
        | st.builds(c.IsNull, values, st.booleans())
    )


PREDICATES = st.one_of(*map(predicates, (INT_VALUES, NUMBER_VALUES, TEXT_VALUES, TRUTH_VALUES)), likes(), TRUTH_VALUES)
CONDITIONS = st.recursive(
    PREDICATES,
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: c.And(tuple(parts)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: c.Or(tuple(parts)))
        | inner.map(c.Not)
    ),
    max_leaves=4,
)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def is_whole(value: c.Value) -> bool:
    match value:
        case c.Literal(value=constant):
            return type(constant) is int
        case c.Attribute(name=name):
            return name in ("i", "j")
        case c.Negative(operand=operand):
            return is_whole(operand)
        case c.Arithmetic(operator=operator, left=left, right=right):
            return operator != "/" and is_whole(left) and is_whole(right)
    return False


def calculation(operator: str, left: str, right: str, whole: bool) -> str:
    if whole:  # 128 bits hold every result; DuckDB fails where 64 bits don't
        return f"TRY_CAST(({left})::HUGEINT {operator} ({right})::HUGEINT AS BIGINT)"
    if operator == "/":
        return f"(({left})::DOUBLE / NULLIF(({right})::DOUBLE, 0))"
    return f"(({left})::DOUBLE {operator} ({right})::DOUBLE)"


def sql(condition: c.Condition) -> str:
    match condition:
        case c.Value():
            return value_sql(condition)
        case c.And(parts=parts):
            return "(" + " AND ".join(map(sql, parts)) + ")"
        case c.Or(parts=parts):
            return "(" + " OR ".join(map(sql, parts)) + ")"
        case c.Not(operand=operand):
            return f"(NOT {sql(operand)})"
        case c.Comparison(operator=operator, left=left, right=right):
            return f"({sql(left)} {operator} {sql(right)})"
    return predicate_sql(condition, "NOT" if condition.negated else "")


def value_sql(value: c.Value) -> str:
    match value:
        case c.Attribute(name=name):
            return name
        case c.Negative(operand=operand):
            return calculation("-", "0", sql(operand), is_whole(operand))
        case c.Arithmetic(operator=operator, left=left, right=right):
            return calculation(operator, sql(left), sql(right), is_whole(value))
    kinds = {bool: "{}", int: "({})::BIGINT", float: "({})::DOUBLE"}
    constant = value.value
    return quoted(constant) if isinstance(constant, str) else kinds[type(constant)].format(constant)


def predicate_sql(condition: c.Condition, negation: str) -> str:
    value = sql(condition.value)
    match condition:
        case c.Like(pattern=pattern, escape=escape):
            mark = f" ESCAPE {quoted(escape)}" if escape else ""
            return f"({value} {negation} LIKE {quoted(pattern)}{mark})"
        case c.Between(low=low, high=high) if mixed(condition.value, low, high):
            return f"({negation} ({value} >= {sql(low)} AND {value} <= {sql(high)}))"
        case c.Between(low=low, high=high):
            return f"({value} {negation} BETWEEN {sql(low)} AND {sql(high)})"
        case c.In(choices=choices) if mixed(condition.value, *choices):
            return f"({negation} ({' OR '.join(f'{value} = {sql(one)}' for one in choices)}))"
        case c.In(choices=choices):
            return f"({value} {negation} IN ({', '.join(map(sql, choices))}))"
    return f"({value} IS {negation} NULL)"


def mixed(*values: c.Value) -> bool:
    """Whether DuckDB would make floats even of two integers, because a third value is a float."""
    return len({is_whole(value) for value in values}) > 1


@pytest.fixture(scope="module")
def database():
    with duckdb.connect() as connection:
        yield connection


@settings(max_examples=600, derandomize=True, deadline=None)
@given(CONDITIONS, ROWS)
def test_a_filter_holds_where_duckdb_says_so(database, condition, rows):
    columns = {name: pa.array([row[name] for row in rows], kind) for name, (kind, _) in COLUMNS.items()}
    database.register("rows", pa.table(columns))
    expected = [row[0] for row in database.execute(f"SELECT {sql(condition)} FROM rows").fetchall()]  # noqa: S608
    times = list(range(len(rows)))
    fields = {"type": ["A"] * len(rows), "source": columns.pop("source"), "lo": times, "hi": times}
    assert evaluate(condition, make_table(fields, columns), "UTC").to_pylist() == expected
