"""``guaranteed`` gives the results of ordered input, whatever the network does."""

from typing import Any

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from penstock.algebra.pattern import Pattern
from penstock.errors import PatternError
from penstock.events.event import Event
from penstock.events.order import ordered
from penstock.languages.core.printer import print_pattern
from penstock.ordering.policies import guaranteed
from penstock.ordering.stage import Ordering, Ready
from penstock.testing.delays import Changing, Constant, Exponential, HeavyTailed
from penstock.testing.reference import reference
from penstock.testing.simulator import Delivery, Heartbeat, Route, Sent, deliver
from penstock.testing.strategies import meaningful_patterns, traces
from tests.compare.trial import canonical
from tests.ordering.conftest import SECOND, detected, rows

LAWS = st.sampled_from(
    [
        Constant(2 * SECOND),
        Exponential(3 * SECOND),
        HeavyTailed(SECOND, 1.1),
        Changing(Constant(0), Exponential(9 * SECOND), at=4 * SECOND),
    ]
)


@st.composite
def deliveries(draw: DrawFn, trace: list[Event]) -> Delivery:
    """A trace sent in the weak order by its sources, and delivered by networks of all kinds."""
    table = ordered(rows(trace))[0]
    sent = np.asarray(table.field("hi")).copy()
    beats = tuple(Heartbeat(source, at * SECOND) for source in ("s", "t") for at in draw(st.sets(st.integers(0, 12))))
    names = table.field("source").dictionary.to_pylist()
    # What a source says at the end of an instant comes after what ends then.
    beaten = tuple(beat for beat in beats if beat.source in names)
    at = np.array([beat.at for beat in beaten], np.int64)
    routes = {
        name: Route(draw(LAWS), duplication=draw(st.sampled_from([0.0, 0.5])), loss=draw(st.sampled_from([0.0, 0.3])))
        for name in names
    }
    return deliver(Sent(table, sent, beaten, at), routes, draw(st.integers(0, 99)))


def run_with_restarts(stage: Ordering, delivery: Delivery, tick: int, every: int) -> list[Ready]:
    """Feeds all arrivals; after each few the stage is saved and loaded."""
    given: list[Ready] = []
    for number, arrival in enumerate(delivery.arrivals(tick)):
        if number % every == every - 1:
            stage = Ordering.load(stage.save())
        given += through_one(stage, arrival)
    return [*given, stage.finish()]


def through_one(stage: Ordering, arrival: Any) -> list[Ready]:
    given = [stage.feed(arrival.table, arrival.at)]
    return given + [stage.heartbeat(beat.source, beat.at, arrival.at) for beat in arrival.heartbeats]


@settings(max_examples=3 * settings.default.max_examples)
@given(pattern=meaningful_patterns(), data=st.data(), restart=st.booleans())
def test_guaranteed_gives_the_results_of_ordered_input(pattern: Pattern, data: st.DataObject, restart: bool) -> None:
    delivery = data.draw(deliveries(data.draw(traces())))
    sources = delivery.sent.table.field("source").dictionary.to_pylist()
    tick, every = data.draw(st.sampled_from([1, SECOND, 4 * SECOND])), data.draw(st.integers(1, 5))
    stage = Ordering(guaranteed(), sources)
    try:
        given_on = run_with_restarts(stage, delivery, tick, every)
        found = detected(pattern, given_on, restart)
    except PatternError as error:
        event(f"refused: {error.message}")
        return
    # Heartbeats may have said that the input goes on beyond its last event.
    wanted = reference(pattern, delivery.received().to_events(), restart=restart, until=given_on[-1].progress - 1)
    event(f"composites: {min(len(wanted), 3)}")
    assert sorted(map(repr, map(canonical, found))) == sorted(map(repr, map(canonical, wanted))), print_pattern(pattern)
