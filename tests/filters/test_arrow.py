import pyarrow as pa
import pytest

from penstock.algebra import conditions as c
from penstock.errors import DataError
from penstock.events.table import EventTable, make_table
from penstock.filters.arrow import compile_filter, evaluate
from penstock.languages.core.parser import parse_syntax

BIGGEST = 2**63 - 1


def condition(text: str) -> c.Condition:
    return parse_syntax(f"[A({text})]").definitions[0].body.label[0].filter


def table(length: int = 0, hi: list[int] | None = None, sources=None, **attributes) -> EventTable:
    columns = {name: pa.array(values) for name, values in attributes.items()}
    length = len(hi or sources or next(iter(columns.values()), [None] * length))
    times = hi or [0] * length
    return make_table({"type": ["A"] * length, "source": sources or ["s"] * length, "lo": times, "hi": times}, columns)


def test_a_condition_that_reads_nothing_has_one_value_for_all_rows():
    assert evaluate(condition("1 < 2"), table(3), "UTC").to_pylist() == [True] * 3
    assert evaluate(condition("1 / 0 = 1"), table(2), "UTC").to_pylist() == [None] * 2


def test_a_table_without_rows_gives_an_empty_mask():
    mask = evaluate(condition("x > 1 AND hour() < 5"), table(), "UTC")
    assert mask.type == pa.bool_()
    assert len(mask) == 0


def test_the_mask_is_one_array_even_if_the_columns_have_chunks():
    chunked = pa.table({"x": pa.chunked_array([[1, 2], [3]])})
    events = EventTable(table(3).fields, chunked)
    assert evaluate(condition("x > 1"), events, "UTC").equals(pa.array([False, True, True]))


def test_a_filter_is_compiled_once_for_tables_of_different_kinds():
    compiled = compile_filter(condition("x > 1"), "UTC")
    assert compiled.mask(table(x=[1, 2])).to_pylist() == [False, True]
    assert compiled.mask(table(x=["1", "2"])).to_pylist() == [None, None]
    assert compiled.mask(table(1)).to_pylist() == [None]


def test_an_attribute_that_no_event_has_is_null():
    assert evaluate(condition("x IS NULL"), table(2), "UTC").to_pylist() == [True, True]
    assert evaluate(condition("x IS NULL"), table(x=[None, None]), "UTC").to_pylist() == [True, True]


def test_fields_win_over_attributes_of_the_same_name():
    events = table(hi=[5, 7], source=[1, 2], lo=["a", "b"])
    assert evaluate(condition("lo = 5"), events, "UTC").to_pylist() == [True, False]
    text = c.Comparison("=", c.Attribute("source"), c.Literal("s"))
    assert evaluate(text, events, "UTC").to_pylist() == [True, True]


def test_a_float_that_is_whole_compares_exactly_with_integers():
    assert evaluate(condition("x = 9007199254740992.0"), table(x=[2**53, 2**53 + 1]), "UTC").to_pylist() == [
        True,
        False,
    ]
    assert evaluate(condition("x < 1e300"), table(x=[BIGGEST]), "UTC").to_pylist() == [True]


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("x + 1 IS NULL", [BIGGEST, 0], [True, False]),
        ("x * x IS NULL", [2**32, -(2**31)], [True, False]),
        ("x * -1 IS NULL", [-BIGGEST - 1, -BIGGEST], [True, False]),
        ("-x IS NULL", [-BIGGEST - 1, BIGGEST], [True, False]),
        ("x - 1 = 9223372036854775806", [BIGGEST], [True]),
        ("x / 0 IS NULL", [1, 0], [True, True]),
        ("x / 2 = 0.5", [1], [True]),
        ("x = x", [float("nan"), 1.0], [None, True]),
        ("x - x IS NULL", [float("inf"), 1.0], [True, False]),
        ("x AND 1 = 1", [1, 0], [None, None]),
        ("NOT x", [True, False, None], [False, True, None]),
        ("x IN (1, 2.5)", [1, 2, None], [True, False, None]),
        ("x IN (1, true)", [1, 2], [True, None]),
        ("x NOT BETWEEN 1 AND true", [0, 1], [True, None]),
    ],
)
def test_numbers(text, x, expected):
    assert evaluate(condition(text), table(x=x), "UTC").to_pylist() == expected


def test_text_compares_by_code_points():
    events = table(x=["Z", "a", "é", "\uffff"])
    below = c.Comparison("<", c.Attribute("x"), c.Literal("😀"))
    assert evaluate(below, events, "UTC").to_pylist() == [True] * 4
    assert evaluate(c.Comparison("<", c.Attribute("x"), c.Literal("a")), events, "UTC").to_pylist() == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("rows", [slice(0, 4), slice(1, 2)])
def test_sources_are_tested_once_for_each_distinct_one(rows):
    events = table(sources=["door-1", "lamp", "door-2", "door-1"])
    part = events.slice(rows.start, rows.stop - rows.start)
    like = c.Like(c.Attribute("source"), "door%")
    assert evaluate(like, part, "UTC").to_pylist() == [True, False, True, True][rows]
    listed = c.In(c.Attribute("source"), (c.Literal("lamp"), c.Literal("door-2")), negated=True)
    assert evaluate(listed, part, "UTC").to_pylist() == [True, False, False, True][rows]


def test_times_compare_with_times_only():
    kind = pa.timestamp("us", "UTC")
    events = make_table(
        {"type": ["A"] * 2, "lo": [0, 0], "hi": [5, 5]},
        {"x": pa.array([1, 2], kind), "y": pa.array([2, None], kind)},
    )
    assert evaluate(condition("x < y"), events, "UTC").to_pylist() == [True, None]
    assert evaluate(condition("x < hi"), events, "UTC").to_pylist() == [None, None]
    assert evaluate(condition("x + 1 IS NULL"), events, "UTC").to_pylist() == [True, True]


def test_clock_functions_read_hi_in_the_zone():
    events = table(hi=[0, -1])
    assert evaluate(condition("hour() = 1 AND weekday() = 3"), events, "Europe/Berlin").to_pylist() == [
        True,
        False,
    ]
    assert evaluate(condition("hour() = 23 AND minute() = 59"), events, "UTC").to_pylist() == [False, True]


def test_a_zone_that_does_not_exist_is_refused_when_the_filter_is_compiled():
    with pytest.raises(DataError, match="not a time zone"):
        compile_filter(condition("hour() = 1"), "Europe/Berlim")


@pytest.mark.parametrize("text", ["x = $p", "x > y.v", "count(y) > 1"])
def test_what_needs_a_run_is_refused(text):
    with pytest.raises(TypeError, match="needs a run"):
        compile_filter(condition(text), "UTC")


def test_a_compiled_filter_equals_one_of_the_same_condition():
    assert compile_filter(condition("x = 1"), "UTC") == compile_filter(condition("x = 1"), "UTC")
