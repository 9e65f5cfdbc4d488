import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.algebra import conditions as c
from penstock.filters.split import Reads, SplitFilter, reads, split
from penstock.languages.core.parser import parse_syntax
from penstock.languages.core.printer import print_condition


def condition(text: str) -> c.Condition:
    return parse_syntax(f"[A({text})]").definitions[0].body.label[0].filter


def printed(part: c.Condition | None) -> str:
    return "" if part is None else print_condition(part)


@pytest.mark.parametrize(
    ("text", "plain", "bindings", "residual"),
    [
        ("x > 3", "x > 3", (), ""),
        ("x = $p", "", (("x", "p"),), ""),
        ("$p = x", "", (("x", "p"),), ""),
        ("source = $p", "", (("source", "p"),), ""),
        ("x = $p AND y = $p", "", (("x", "p"),), "y = $p"),
        ("x = $p AND x = $q", "", (("x", "p"), ("x", "q")), ""),
        ("x > $p", "", (), "x > $p"),
        ("x = $p OR y = 1", "", (), "x = $p OR y = 1"),
        ("NOT x = $p", "", (), "NOT x = $p"),
        ("x + 1 = $p", "", (), "x + 1 = $p"),
        ("$p = $q", "", (), "$p = $q"),
        ("(x > 1 AND x = $p) AND (y AND z > l.z)", "x > 1 AND y", (("x", "p"),), "z > l.z"),
        ("count(y) = 0 AND hour() > 5", "hour() > 5", (), "count(y) = 0"),
    ],
)
def test_split(text, plain, bindings, residual):
    found = split(condition(text))
    assert (printed(found.plain), found.bindings, printed(found.residual)) == (plain, bindings, residual)


def test_no_filter_splits_into_nothing():
    assert split(None) == SplitFilter()


CONJUNCTS = st.sampled_from(["x > 3", "y", "x = $p", "$q = y", "x > $p", "x > l.v", "x = $q OR y"])


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(CONJUNCTS, min_size=1, max_size=6))
def test_every_conjunct_goes_to_exactly_one_part(texts):
    whole = condition(" AND ".join(f"({text})" for text in texts))
    found = split(whole)
    bound = [c.Comparison("=", c.Attribute(name), c.Parameter(parameter)) for name, parameter in found.bindings]
    together = [*c.conjuncts(found.plain), *map(printed_sides, bound), *c.conjuncts(found.residual)]
    assert sorted(map(printed_sides, together)) == sorted(map(printed_sides, c.conjuncts(whole)))


def printed_sides(part: c.Condition | str) -> str:
    """The text of a condition, the same for `x = $p` and `$p = x`."""
    return part if isinstance(part, str) else " = ".join(sorted(print_condition(part).split(" = ")))


def test_reads_names_each_thing_once():
    found = reads(condition("x > 3 AND x < y AND lo > 1 AND minute() = $p AND l.v = max(m.w) AND count(l) > $p"))
    assert found == Reads(("lo", "hi"), ("x", "y"), ("p",), ("l", "m"))
    assert reads(None) == Reads()
