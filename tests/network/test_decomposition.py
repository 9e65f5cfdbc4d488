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
        events = list({(one.source, one.id): one for one in trace(random.choice, 9)}.values())
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


@settings(max_examples=60)
@given(st.integers(0, 10**9))
def test_a_divided_pattern_gives_what_one_automaton_does(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize("context", ["chronicle", "recent", "cumulative"])
def test_what_contexts_allow_to_divide_gives_the_same(context: str) -> None:
    for seed in range(15):
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
