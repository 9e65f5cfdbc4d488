"""Decomposition never changes results: whatever is factored out, and however long it takes to come."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock as ps
from penstock.languages.core.printer import print_pattern
from penstock.network.decomposition import Part, decompose, units
from penstock.testing.generate import meaningful_pattern, trace
from tests.network.divided import as_found, undivided, without_any


def check(seed: int, context: str = "continuous") -> int:
    """One random pattern and trace, divided at random; returns how many parts were factored out."""
    random = Random(seed)  # noqa: S311
    pattern = meaningful_pattern(random.choice)
    pattern = ps.parse(print_pattern(without_any(pattern)))
    share = random.choice([0.5, 1.0])

    def wanted(part: Part) -> bool:
        return random.random() < share

    whole = decompose(pattern, context, wanted)
    names = [one.name for one in whole.pattern.definitions]
    separate = {one for one in names if one not in whole.inlined} | {one for one in names if random.random() < share}
    for _ in range(2):
        events = list({(one.source, one.id): one for one in trace(random.choice, 12)}.values())
        if not events:
            continue
        restart = random.choice([False, False, True])
        options = {"context": context, "restart": restart}
        try:
            expected = undivided(pattern, events, **options)
        except ps.PatternError:  # a pattern that one automaton cannot detect
            return 0
        assert as_found(whole, separate, events, random, **options) == expected, print_pattern(whole.pattern)
    return len(separate) - 1


PATTERNS = [
    "[A] ; [B] ; [C]",
    "[A] [B] [C]",
    "[A]+ ; [B]",
    "[A] [B]* ; [C]",
    "([A] ; [B]?) ; [C]",
    "(x: [A] ; y: [B]) ; z: [C]",
    "w: ([A] ; [B]) ; [C]",
    "([A] | [B]) ; [C]",
    "([A] ; [B]) | ([A] [B])",
    "(([A] ; [B]) | ([A] [B])) [C]",
    "([A]+ | [B]) where 1 = 1",
    "([A] ; [B]) || ([C] ; [B])",
    "[D] (([A] ; [B]) || [C])",
    "([A] || [B]) ; ([C] || [D])",
    "([A] ; [B] ; [C]) within 4 s",
    "((([A] ; [B]) within 2 s) ; [C]) within 5 s",
    "([A] ; [B] ; [C] in {D})",
    "([A in {A, D}] ; [B]) ; [C]",
    "([A] ; [B], [C]){T = 3 s}",
    "([A] ; [B], [T in {T, C}]){T = 2 s} [D]",
    "(([A], [T]){T = 1 s} ; [B], [U]){U = 1 s}",
    "(([A], [T]){T = 1 s} || ([B], [U]){U = 1 s}) [C]",
    "[A(k = $k)] ; [B(k = $k)] ; [C(k = $k)]",
    "([A(k = $k)] ; [B]) ; [C(k >= $k)]",
    "([A(k = $k)] ; [B(k = $k)]) || [C(k = $k)]",
    "[A] ; ([B(v = 1)] || ([C] ; [D]))",
    "Met := [A] ; [B]\n[Met] ; [C] ; [Met]",
    "Met := [A] ; [B]\n[!Met in {Met, B}] [C]",
    "Met := ([A], [T]){T = 1 s}\nLong := ([A], [T]){T = 1 s}\n[Met] [Long]",
    "Met := x: [A] ; [B] select w = x.v\n([Met(w > 0)] ; [C]) ; [D]",
    "[A] ; [B] ; x: [C] select w = x.v",
    "([A] ; x: [B]) ; [C(v >= x.v)]",
]


@pytest.mark.parametrize("text", PATTERNS)
def test_each_operator_is_divided_without_changing_results(text: str) -> None:
    random = Random(text)  # noqa: S311
    pattern = ps.parse(text)
    whole = decompose(pattern)
    separate = {one.name for one in whole.pattern.definitions}
    found = 0
    for number in range(8):
        if number > 1 and found:
            break
        events = list({(one.source, one.id): one for one in trace(lambda some: random.choice(some), 24)}.values())
        expected = undivided(pattern, events)
        found += len(expected)
        assert as_found(whole, separate, events, random) == expected, print_pattern(whole.pattern)
    assert found


@settings(max_examples=30)
@given(st.integers(0, 10**9))
def test_a_divided_pattern_gives_what_one_automaton_does(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("context", ["chronicle", "recent", "cumulative"])
def test_what_contexts_allow_to_divide_gives_the_same(context: str) -> None:
    for seed in range(8):
        check(seed, context)


def test_units_are_cut_where_asked() -> None:
    whole = decompose(ps.parse("Met := [A] ; [B]\n([Met] || [C]) ; [D]"))
    assert whole.inlined == ("composite_1",)
    found = units(whole, [["Met"], ["composite"]])
    assert [(one.gives, one.own, one.parts) for one in found] == [
        (("Met",), ("Met",), ()),
        (("composite",), ("composite_1", "composite"), ("Met",)),
    ]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("[A]+ ; [B]", "may go on"),
        ("[A]? [B]", "may match nothing"),
        ("(x: [A] ; [B]) ; [C(v > x.v)]", "read outside"),
        ("[A] ; [*]", "hears all"),
        ("([A], [T] ; [B]){T = at 2026-01-01T00:00:00Z} ; [C]", "may be past"),
    ],
)
def test_parts_that_cannot_be_factored_out_say_why(pattern: str, why: str) -> None:
    whole = decompose(ps.parse(pattern))
    assert any(why in str(reason) for reason in whole.reasons), whole.reasons


def test_contexts_that_use_up_events_keep_expressions_together() -> None:
    whole = decompose(ps.parse("Met := [A] ; [B]\n[Met] ; [C] ; [D]"), "chronicle")
    assert not whole.inlined
    assert "use up" in str(whole.reasons[0])
