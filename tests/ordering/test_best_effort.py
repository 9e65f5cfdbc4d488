"""``best_effort`` on the engine: events that come behind others are consumed, and the engine stays sane."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import parse
from penstock.algebra.pattern import Pattern
from penstock.errors import PatternError
from penstock.events.event import Event
from penstock.events.order import ordered
from penstock.ordering.policies import best_effort
from penstock.ordering.stage import Ordering
from penstock.testing.reference import reference
from penstock.testing.strategies import meaningful_patterns, traces
from tests.compare.trial import canonical
from tests.ordering.conftest import SECOND, detected, fed, rows


def parts(pattern: str, *batches: str) -> list[list[str]]:
    """The parts of what is found if batches arrive one after the other, each part by its type."""
    stage = Ordering(best_effort())
    given_on = [fed(stage, batch) for batch in batches]
    found = detected(parse(pattern), [*given_on, stage.finish()])
    return [[part.symbol.type for part in one.parts] for one in found]


def test_events_are_met_in_the_order_of_arrival() -> None:
    assert parts("[B] [A]", "b@5", "a@3") == [["B", "A"]]
    assert parts("[A] [B]", "b@5", "a@3") == []


def test_what_comes_behind_does_not_strongly_follow() -> None:
    assert parts("[B] ; [A]", "b@5", "a@3") == []
    assert parts("[B] ; [A]", "b@5", "a@3", "a@6") == [["B", "A"]]


def test_a_timer_that_has_fired_is_not_taken_back() -> None:
    absence = "([A], [T in {T, B}]){T = 2 s}"
    assert parts(absence, "a@1", "c@9", "b@2") == [["A"]]
    assert parts(absence, "a@1", "b@2", "c@9") == []


def test_a_timer_that_is_set_behind_progress_fires() -> None:
    assert parts("([A], [T in {T, B}]){T = 2 s}", "c@9", "a@1", "d@10") == [["A"]]
    assert parts("([A], [T in {T, B}]){T = 2 s}", "a@8", "a@1", "d@20") == [["A"], ["A"]]


def test_a_timer_that_is_set_behind_another_does_not_wait_for_it() -> None:
    stage = Ordering(best_effort())
    given_on = [fed(stage, batch) for batch in ("a@8", "a@1", "a@2")]
    found = detected(parse("([A], [T in {T, B}]){T = 2 s}"), given_on)
    assert [one.hi // SECOND for one in found] == [3, 4]


@pytest.mark.parametrize(("counters", "behind"), [((1, None), 1), ((None, 1), 0), ((2, None, 1), 2), ((1, 2, 2), 0)])
def test_what_its_source_does_not_count_comes_before_what_it_counts(
    counters: tuple[int | None, ...], behind: int
) -> None:
    stage = Ordering(best_effort())
    for number, counter in enumerate(counters):
        stage.feed(rows([Event("A", "s", str(number), SECOND, SECOND, counter)]), 0)
    assert stage.counters.out_of_order == behind


@settings(max_examples=2 * settings.default.max_examples)
@given(pattern=meaningful_patterns(), trace=traces(), data=st.data())
def test_whatever_the_order_of_arrival_every_event_is_consumed_once_and_no_stamp_is_upside_down(
    pattern: Pattern, trace: list[Event], data: st.DataObject
) -> None:
    arrived = data.draw(st.permutations(trace))
    stage = Ordering(best_effort())
    given_on = [stage.feed(rows([one]), 0) for one in arrived] + [stage.finish()]
    try:
        found = detected(pattern, given_on)
    except PatternError:
        return
    assert stage.counters.consumed == len({(one.source, one.id) for one in trace})
    assert all(one.lo <= one.hi for one in found)
    if stage.counters.out_of_order == 0:
        wanted = reference(pattern, ordered(rows(trace))[0].to_events())
        assert sorted(map(repr, map(canonical, found))) == sorted(map(repr, map(canonical, wanted)))


def test_what_arrives_behind_is_counted_once_for_each_event() -> None:
    stage = Ordering(best_effort(), ["s", "t"])
    fed(stage, 'a@9"s"')
    fed(stage, 'b@3"t" c@4"t" d@10"t"')
    assert (stage.counters.out_of_order, stage.counters.disordered) == (2, 0)
    assert stage.progress == 10 * SECOND
