"""Laws of the language that hold for every pattern and trace, shown on the reference."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.node import Node, walk
from penstock.algebra.pattern import BARE, Definition, Pattern
from penstock.checks.check import parse
from penstock.events.event import Event
from penstock.events.found import Composite
from penstock.languages.core.printer import print_pattern
from penstock.testing.meaning import USING
from penstock.testing.reference import outcome, reference
from penstock.testing.strategies import SECOND, choices, meaningful_patterns, traces

END = 20 * SECOND
FOREIGN = x.DescribableSet("Foreign")
Rewrite = Callable[[x.Expression], x.Expression]
Pair = tuple[x.Expression, x.Expression]


def found(pattern: Pattern, events: Sequence[Event], **options: Any) -> set[Composite]:
    """What the reference finds; no composite is found twice."""
    composites = reference(pattern, events, **({"until": END} | options))
    assert len(composites) == len(set(composites))
    return set(composites)


def rewritten(pattern: Pattern, rewrite: Rewrite) -> Pattern:
    """The pattern with its last definition's body rewritten."""
    *before, last = pattern.items
    assert isinstance(last, Definition)
    return Pattern((*before, replace(last, body=rewrite(last.body))))


def body(pattern: Pattern) -> x.Expression:
    return pattern.definitions[-1].body


def kinds(pattern: Pattern) -> set[type[Node]]:
    return {type(node) for item in pattern.items for node in walk(item)}


def means_the_same(pattern: Pattern, events: Sequence[Event], one: Rewrite, other: Rewrite) -> None:
    assert found(rewritten(pattern, one), events) == found(rewritten(pattern, other), events)


def unchanged(expression: x.Expression) -> x.Expression:
    return expression


# The input


@given(meaningful_patterns(), traces(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(pattern: Pattern, events: list[Event], random: Any) -> None:
    shuffled = [*events]
    random.shuffle(shuffled)
    assert found(pattern, shuffled) == found(pattern, events)


@given(meaningful_patterns(), traces())
def test_repeated_events_change_nothing(pattern: Pattern, events: list[Event]) -> None:
    assert found(pattern, [*events, *events]) == found(pattern, events)


@given(meaningful_patterns(), traces(), st.integers(0, 8))
def test_an_event_of_no_interest_changes_nothing(pattern: Pattern, events: list[Event], at: int) -> None:
    assume(all(node.type is not None for i in pattern.items for node in walk(i) if isinstance(node, x.DescribableSet)))
    foreign = Event("Foreign", "s", "foreign", at * SECOND, at * SECOND)
    assert found(pattern, [*events, foreign]) == found(pattern, events)


@given(meaningful_patterns(), traces(), st.integers(0, 9))
def test_what_is_found_does_not_depend_on_what_comes_later(pattern: Pattern, events: list[Event], seconds: int) -> None:
    now = seconds * SECOND
    early = [event for event in events if event.hi <= now]
    assert found(pattern, early, until=now) == {one for one in found(pattern, events) if one.hi <= now}


@given(meaningful_patterns(), traces())
def test_a_later_end_takes_nothing_away(pattern: Pattern, events: list[Event]) -> None:
    assert found(pattern, events, until=None) <= found(pattern, events)


@given(meaningful_patterns(), traces())
def test_time_has_no_origin(pattern: Pattern, events: list[Event]) -> None:
    assume(not kinds(pattern) & {x.AtClock, x.AtInstant, c.LabelRead})
    shift = 1000 * SECOND
    later = [replace(event, lo=event.lo + shift, hi=event.hi + shift) for event in events]
    stamps = sorted((one.lo + shift, one.hi + shift, one.type) for one in found(pattern, events))
    assert sorted((one.lo, one.hi, one.type) for one in found(pattern, later, until=END + shift)) == stamps


@given(meaningful_patterns(), traces())
def test_a_pattern_means_the_same_whether_it_was_built_or_parsed(pattern: Pattern, events: list[Event]) -> None:
    assert found(pattern, events) == found(parse(print_pattern(pattern)), events)


# Composites


@given(meaningful_patterns(), traces())
def test_a_stamp_is_the_union_of_what_was_matched(pattern: Pattern, events: list[Event]) -> None:
    timed = x.Timing in kinds(pattern)
    for composite in found(pattern, events):
        leaves = list(composite.leaves())
        assert leaves, "a composite has parts"
        assert composite.lo == min(leaf.lo for leaf in leaves)
        last = max(leaf.hi for leaf in leaves)
        assert composite.hi >= last if timed else composite.hi == last


@given(meaningful_patterns(), traces())
def test_a_named_composite_alone_is_found_as_often_as_it_is_made(pattern: Pattern, events: list[Event]) -> None:
    named = Pattern((*pattern.items[:-1], Definition("Whole", body(pattern))))
    using = Pattern((*named.items, Definition(BARE, x.Atom((x.DescribableSet("Whole"),)), bare=True)))
    wholes = {one for one in found(named, events) if one.type == "Whole"}
    used = [one for one in found(using, events) if one.type == BARE]
    assert {one.parts[0].symbol for one in used} == wholes
    assert all((one.lo, one.hi) == (one.parts[0].symbol.lo, one.parts[0].symbol.hi) for one in used)
    assert len(used) == len(wholes)


@given(meaningful_patterns(most=1), traces())
def test_restart_finds_at_least_as_much(pattern: Pattern, events: list[Event]) -> None:
    assume(x.Parallel not in kinds(pattern))
    assert found(pattern, events) <= found(pattern, events, restart=True)


@given(meaningful_patterns(most=1, parameter=True), traces())
def test_a_pattern_stands_for_its_instances(pattern: Pattern, events: list[Event]) -> None:
    every = {(value, one.lo, one.hi, one.parts) for value in (1, 2) for one in found(instance(pattern, value), events)}
    assert {(one.attributes["k"], one.lo, one.hi, one.parts) for one in found(pattern, events)} == every


def instance(pattern: Pattern, value: int) -> Pattern:
    """The pattern with a value in place of its parameter."""
    return rewritten(pattern, lambda whole: put(whole, value))


def put(node: Any, value: int) -> Any:
    if isinstance(node, c.Parameter):
        return c.Literal(value)
    if isinstance(node, tuple):
        return tuple(put(one, value) for one in node)
    if not isinstance(node, Node):
        return node
    return replace(
        node, **{one.name: put(getattr(node, one.name), value) for one in fields(node) if one.name != "span"}
    )


# Operators


@st.composite
def pairs(draw: DrawFn) -> Pair:
    """Two expressions with the same parameters, or none."""
    alike = meaningful_patterns(most=1, parameter=draw(st.booleans()))
    first, second = (body(draw(alike)) for _ in range(2))
    return unselected(first), unselected(second)


def unselected(expression: x.Expression) -> x.Expression:
    return expression.body if isinstance(expression, x.Select) else expression


@given(meaningful_patterns(), traces())
def test_either_of_the_same_is_the_same(pattern: Pattern, events: list[Event]) -> None:
    means_the_same(pattern, events, lambda whole: x.Alternation((whole, whole)), unchanged)


@given(pairs(), traces())
def test_alternation_is_both_and_has_no_order(pair: Pair, events: list[Event]) -> None:
    first, second = pair
    both = found(bare(x.Alternation((first, second))), events)
    assert both == found(bare(first), events) | found(bare(second), events)
    assert both == found(bare(x.Alternation((second, first))), events)


@given(pairs(), traces())
def test_the_sides_of_a_parallel_have_no_order(pair: Pair, events: list[Event]) -> None:
    first, second = pair
    left = found(bare(x.Parallel((first, second))), events)
    right = found(bare(x.Parallel((second, first))), events)
    assert {unordered(composite) for composite in left} == {unordered(composite) for composite in right}


def bare(expression: x.Expression) -> Pattern:
    return Pattern((Definition(BARE, expression, bare=True),))


def unordered(composite: Composite) -> tuple[int, int, tuple[str, ...]]:
    return composite.lo, composite.hi, tuple(sorted(event.id for event in composite.leaves()))


@given(meaningful_patterns(), traces(), st.sampled_from([x.Concatenation, x.Sequence]))
def test_chains_are_associative(pattern: Pattern, events: list[Event], kind: Any) -> None:
    a, b = x.Atom((x.DescribableSet("A"),)), x.Repetition(x.Atom((x.DescribableSet("B"),)), 0, 1)
    means_the_same(pattern, events, lambda w: kind((kind((w, b)), a)), lambda w: kind((w, kind((b, a)))))
    means_the_same(pattern, events, lambda w: kind((w, b, a)), lambda w: kind((w, kind((b, a)))))


@given(meaningful_patterns(), traces())
def test_repetitions_are_shorthand(pattern: Pattern, events: list[Event]) -> None:
    def times(low: int, high: int | None) -> Rewrite:
        return lambda whole: x.Repetition(whole, low, high)

    def chain(*parts: Rewrite) -> Rewrite:
        return lambda whole: x.Concatenation(tuple(part(whole) for part in parts))

    means_the_same(pattern, events, times(1, 1), unchanged)
    means_the_same(pattern, events, times(0, 1), unchanged)
    means_the_same(pattern, events, times(1, None), chain(unchanged, times(0, None)))
    means_the_same(pattern, events, times(2, 2), chain(unchanged, unchanged))
    means_the_same(pattern, events, times(1, 2), chain(unchanged, times(0, 1)))
    means_the_same(pattern, events, times(2, None), chain(unchanged, unchanged, times(0, None)))


@given(meaningful_patterns(), traces())
def test_what_never_limits_changes_nothing(pattern: Pattern, events: list[Event]) -> None:
    means_the_same(pattern, events, lambda whole: x.Within(whole, 1000 * SECOND), unchanged)
    true = c.Comparison("=", c.Literal(1), c.Literal(1))
    means_the_same(pattern, events, lambda whole: x.Where(whole, true), unchanged)
    means_the_same(pattern, events, lambda whole: x.Scope(whole, (FOREIGN,)), unchanged)
    foreign = x.Atom((FOREIGN,))
    means_the_same(pattern, events, lambda whole: x.Alternation((whole, foreign)), unchanged)


@given(meaningful_patterns(), traces(), st.integers(1, 6))
def test_within_finds_what_is_short(pattern: Pattern, events: list[Event], seconds: int) -> None:
    limit = seconds * SECOND
    short = found(rewritten(pattern, lambda whole: x.Within(whole, limit)), events)
    assert short == {
        one for one in found(pattern, events) if one.hi - one.lo <= limit or one.type != pattern.definitions[-1].name
    }


@given(meaningful_patterns(), traces())
def test_what_never_holds_finds_nothing(pattern: Pattern, events: list[Event]) -> None:
    false = c.Comparison("=", c.Literal(1), c.Literal(2))
    never = found(rewritten(pattern, lambda whole: x.Where(whole, false)), events)
    assert not {one for one in never if one.type == pattern.definitions[-1].name}


@given(meaningful_patterns(most=1), traces())
def test_strong_and_weak_differ_only_where_stamps_touch(pattern: Pattern, events: list[Event]) -> None:
    assume(not kinds(pattern) & {x.Timing, x.Parallel})
    apart = [*{event.hi: replace(event, lo=event.hi) for event in events}.values()]
    weak = rewritten(pattern, lambda whole: loosened(whole))
    assert found(pattern, apart) == found(weak, apart)


def loosened(node: Any) -> Any:
    """The expression with ; replaced by juxtaposition."""
    if isinstance(node, tuple):
        return tuple(loosened(one) for one in node)
    if not isinstance(node, x.Expression):
        return node
    inside = {one.name: loosened(getattr(node, one.name)) for one in fields(node) if one.name != "span"}
    return x.Concatenation(**inside) if isinstance(node, x.Sequence) else replace(node, **inside)


# Contexts and limits


def leaves(composites: set[Composite]) -> dict[int, set[Event]]:
    """The events of the composites of each instant."""
    found: dict[int, set[Event]] = {}
    for one in composites:
        found.setdefault(one.hi, set()).update(one.leaves())
    return found


@given(meaningful_patterns(most=1), traces())
def test_recent_and_limits_find_nothing_that_continuous_does_not(pattern: Pattern, trace: list[Event]) -> None:
    assume(x.Parallel not in kinds(pattern))
    every = found(pattern, trace)
    for options in ({"context": "recent"}, {"runs_per_instance": 1}, {"age": 2 * SECOND}):
        assert found(pattern, trace, **options) <= every


@given(meaningful_patterns(most=1, parameter=False), traces())
def test_cumulative_finds_the_events_that_continuous_finds(pattern: Pattern, trace: list[Event]) -> None:
    assume(not kinds(pattern) & {x.Parallel, x.Select})
    assert leaves(found(pattern, trace, context="cumulative")) == leaves(found(pattern, trace))


@given(meaningful_patterns(), traces(), choices(limited=False))
def test_limits_that_are_not_met_change_nothing(pattern: Pattern, trace: list[Event], options: dict[str, Any]) -> None:
    wide = options | {"runs_per_instance": 100_000, "age": 1_000 * SECOND}
    assert outcome(pattern, trace, **wide) == outcome(pattern, trace, **options)


@given(meaningful_patterns(most=1), traces(), st.sampled_from(USING))
def test_an_incomplete_run_has_matched_something_before_it_ended(
    pattern: Pattern, trace: list[Event], context: str
) -> None:
    ended = outcome(pattern, trace, context=context, runs_per_instance=1).incomplete
    assert all(run.parts and run.parts[0].symbol.hi <= run.hi <= run.at for run in ended)
