import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.filters.columns import ABSENT, calculate, compare, kind_of

EDGES = [0, 1, -1, 2**31, 2**32, -(2**32), 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, 3037000500]
INT64 = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(EDGES)
EXACT = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.sampled_from("+-*"), st.lists(st.tuples(INT64, INT64), min_size=1, max_size=30))
def test_integers_are_exact_or_null(operator, pairs):
    left, right = zip(*pairs, strict=True)
    exact = [EXACT[operator](a, b) for a, b in pairs]
    expected = [result if -(2**63) <= result < 2**63 else None for result in exact]
    assert calculate(operator, pa.array(left), pa.array(right)).to_pylist() == expected


def test_every_product_next_to_the_largest_integer_is_exact_or_null():
    factors = [3, 5, 7, 2**31 - 1, 2**31 + 1, 3037000499, -3037000500]
    pairs = [(a, (2**63 + off) // a + near) for a in factors for off in (-1, 0, 1) for near in (-1, 0, 1)]
    left, right = zip(*pairs, strict=True)
    expected = [a * b if -(2**63) <= a * b < 2**63 else None for a, b in pairs]
    assert calculate("*", pa.array(left), pa.array(right)).to_pylist() == expected


@pytest.mark.parametrize("other", [pa.array(["a"]), pa.array([True]), pa.scalar(None), pa.array([None])])
def test_only_numbers_are_calculated_with(other):
    assert calculate("+", pa.array([1]), other) == ABSENT
    assert calculate("*", other, pa.array([1.5])) == ABSENT


def test_kinds():
    coded = pa.array(["a"]).dictionary_encode()
    columns = [pa.array([True]), pa.array([1]), pa.array([1.5]), pa.array(["a"]), coded, pa.array([None])]
    assert [kind_of(column) for column in columns] == ["boolean", "number", "number", "text", "text", None]


def test_two_coded_columns_compare():
    left, right = (pa.array(values).dictionary_encode() for values in (["a", "b", None], ["b", "b", "b"]))
    assert compare("=", left, right).to_pylist() == [False, True, None]
    assert compare(">", pa.scalar("b"), left).to_pylist() == [True, False, None]
