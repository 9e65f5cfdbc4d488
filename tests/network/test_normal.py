"""Patterns that mean the same have the same names for everybody, and are detected as they were written."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock as ps
from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.node import walk
from penstock.algebra.pattern import Pattern
from penstock.detection.detector import Detector
from penstock.detection.wire import from_record
from penstock.engine.division import Division
from penstock.languages.core.printer import print_pattern
from penstock.network.naming import renamed
from penstock.network.normal import normal
from penstock.network.same import rebuilt
from penstock.testing.generate import meaningful_pattern, trace
from tests.network.divided import as_dicts, without_any

MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Shuffled:
    """Says the same in other words."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def pattern(self, pattern: Pattern) -> Pattern:
        items = tuple(replace(one, name=self.name(one.name), body=self.of(one.body)) for one in pattern.definitions)
        return Pattern(tuple(replace(one, bare=False) for one in items))

    def name(self, name: str) -> str:
        return f"Other{name}"

    def of(self, node: Any) -> Any:
        if not isinstance(node, x.Expression | x.DescribableSet | c.Condition | x.Selected):
            return node
        node = rebuilt(node, self.of)
        return self.expression(node) if isinstance(node, x.Expression | x.DescribableSet) else self.condition(node)

    def expression(self, node: Any) -> Any:
        match node:
            case x.Alternation(choices=choices) if self.timed(choices) < 2:
                return replace(node, choices=self.shuffled(choices))
            case x.Atom(label=label, domain=domain):
                return replace(node, label=self.shuffled(label), domain=self.shuffled(domain))
            case x.DescribableSet(type=type) if type in ("Met", "Long") or (type or "")[:1] == "T":
                return replace(node, type=self.name(type or ""))
            case x.Timing(timer=timer):
                return replace(node, timer=self.name(timer))
            case x.Labelled(label=label):
                return replace(node, label=f"{label}_other")
        return node

    def condition(self, node: Any) -> Any:
        match node:
            case c.LabelRead(label=label) | c.Aggregate(label=label):
                return replace(node, label=f"{label}_other")
            case c.Parameter():
                return replace(node, name="other")
            case c.And(parts=parts) | c.Or(parts=parts):
                return replace(node, parts=self.shuffled(parts))
            case c.Comparison(operator=operator, left=left, right=right) if self.random.random() < 0.5:
                return c.Comparison(MIRRORED[operator], right, left)  # type: ignore[arg-type]
            case c.IsNull() if self.random.random() < 0.5:
                return c.Not(replace(node, negated=not node.negated))
        return node

    def timed(self, choices: tuple[x.Expression, ...]) -> int:
        return sum(any(isinstance(node, x.Timing) for node in walk(one)) for one in choices)

    def shuffled(self, some: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self.random.sample(some, len(some)))


def some_pattern(random: Random) -> Pattern:
    return ps.parse(print_pattern(without_any(meaningful_pattern(random.choice))))


@given(st.integers(0, 10**9))
def test_what_is_said_in_other_words_has_the_same_name(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    pattern = some_pattern(random)
    other = ps.parse(print_pattern(Shuffled(random).pattern(pattern)))
    one, two = normal(pattern), normal(other)
    assert sorted(one.names.values()) == sorted(two.names.values()), f"{one.text}\n{two.text}"


@given(st.integers(0, 10**9))
def test_a_normal_pattern_is_normal(seed: int) -> None:
    one = normal(some_pattern(Random(seed)))  # noqa: S311
    two = normal(one.pattern)
    assert all(name == shared for name, shared in two.names.items())


@settings(max_examples=40)
@given(st.integers(0, 10**9))
def test_a_normal_pattern_detects_the_same_up_to_names(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    pattern = some_pattern(random)
    shared = normal(pattern)
    events = sorted(
        {(one.source, one.id): one for one in trace(random.choice, 9)}.values(), key=lambda one: one.weak_key
    )
    if not events:
        return
    last = max(one.hi for one in events)
    try:
        expected = ps.detect(as_dicts(events), pattern)
    except ps.PatternError:
        return
    detector = Detector(shared.text, sources=["s", "t"], division=Division(publishes=True))
    steps = [detector.feed(as_dicts(events)), detector.heartbeat("s", last), detector.heartbeat("t", last)]
    found = [renamed(from_record(record, shared.own)[0], shared.own).id for step in steps for record in step.published]
    assert sorted(found) == sorted(one.id for one in expected)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[A(v BETWEEN 1 AND 3)]", "[A(3 >= v AND 1.0 <= v)]"),
        ("[A(NOT (v = 1 OR w = 2))]", "[A(w <> 2 AND v <> 1)]"),
        ("[A(v IN (2, 1))]", "[A(v IN (1, 2))]"),
        ("[A in {A, B}]", "[A in {B}]"),
        ("([A] ; [B]) ; [C]", "[A] ; ([B] ; [C])"),
        ("([A] within 5 s) within 3 s", "[A] within 3 s"),
        ("let E = A(v = 1)\n[E] ; [B]", "[A(v = 1)] ; [B]"),
        ("[A(x = $a AND y = $b)] ; [B(y = $a)]", "[A(y = $one AND x = $two)] ; [B(y = $two)]"),
    ],
)
def test_the_same_has_one_name(one: str, other: str) -> None:
    assert normal(ps.parse(one)).names["composite"] == normal(ps.parse(other)).names["composite"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[A] ; [B]", "[A] [B]"),
        ("[A] || [B]", "[B] || [A]"),
        ("[A(v = 1)]", "[A(v = '1')]"),
        ("x: [A] ; [B(v > x.v)]", "x: [A] ; [B(v >= x.v)]"),
        ("([A], [T]){T = 1 s} | ([B], [U]){U = 1 s}", "([B], [U]){U = 1 s} | ([A], [T]){T = 1 s}"),
    ],
)
def test_what_differs_has_different_names(one: str, other: str) -> None:
    assert normal(ps.parse(one)).names["composite"] != normal(ps.parse(other)).names["composite"]


def test_where_runs_use_up_events_alternatives_keep_their_order() -> None:
    one, other = (normal(ps.parse(text), "chronicle") for text in ("[A] | [B]", "[B] | [A]"))
    assert one.names["composite"] != other.names["composite"]


def test_two_equal_definitions_of_one_pattern_stay_two_types() -> None:
    shared = normal(ps.parse("One := [A]\nTwo := [A]\n[One] ; [Two]"))
    assert len(set(shared.names.values())) == 3


def test_names_that_are_taken_are_not_given() -> None:
    shared = normal(ps.parse("([A(v = $k)], [Late in {Late, T1}]){Late = 1 s} select p1 = $k"))
    assert "T_1 = 1 s" in shared.text
    assert shared.own[shared.names["composite"]].attributes == {"p_1": "k", "p1": "p1"}


def test_definitions_are_not_renamed_where_a_star_hears_them() -> None:
    assert normal(ps.parse("Met := [A]\n[*]")).names == {"Met": "Met", "composite": "composite"}
