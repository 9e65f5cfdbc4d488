"""A stage that was saved goes on as if nothing had happened; other bytes are refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import StateError
from penstock.events.saved import VERSION, pack, unpack
from penstock.ordering.policies import guaranteed, parse_policy
from penstock.ordering.stage import Ordering
from penstock.testing.delays import Exponential
from penstock.testing.simulator import Route, SimulatedSource, simulate
from tests.ordering.conftest import SECOND, fed, seen

POLICIES = ["best_effort", "guaranteed", "guaranteed(max_wait=3 s)", "probabilistic(0.9)", "delay(2 s)"]
SOURCES = [
    SimulatedSource(
        name, rate=3, heartbeat=2 * SECOND, route=Route(Exponential(SECOND), duplication=0.1, reordering=0.1)
    )
    for name in ("s", "t", "u")
]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_saved_stage_gives_on_what_the_other_does(policy: str) -> None:
    one = other = Ordering(parse_policy(policy), ["s", "t", "leaves"])
    other = Ordering.load(one.save())
    for number, arrival in enumerate(simulate(SOURCES, 20, seed=3).arrivals(300_000)):
        for give in (
            lambda stage, arrival=arrival: stage.feed(arrival.table, arrival.at),
            *(lambda stage, b=beat, at=arrival.at: stage.heartbeat(b.source, b.at, at) for beat in arrival.heartbeats),
        ):
            ready, again = give(one), give(other)
            assert ready.table.to_events() == again.table.to_events()
            assert ready.late.table.to_events() == again.late.table.to_events()
            assert (ready.progress, ready.late.reason) == (again.progress, again.late.reason)
        if number == 10:
            one.leave("leaves", arrival.at)
            other.leave("leaves", arrival.at)
        other = Ordering.load(other.save())
    assert one.finish().table.to_events() == other.finish().table.to_events()
    assert one.counters == other.counters


def test_held_events_of_several_batches_and_their_attributes_are_kept() -> None:
    stage = Ordering(guaranteed(), ["silent"])
    fed(stage, "a@1(v=1)")
    fed(stage, "b@2(w='x')")
    [a, b] = Ordering.load(stage.save()).finish().table.to_events()
    assert (dict(a.attributes), dict(b.attributes)) == ({"v": 1}, {"w": "x"})


def test_what_was_known_of_kinds_limits_and_the_last_place_is_kept() -> None:
    stage = Ordering(guaranteed(), held=7)
    fed(stage, "a@5(v=1)/9")
    again = Ordering.load(stage.save())
    assert (again.limit, again.kinds, again.frontier, again.there) == (7, stage.kinds, stage.frontier, {"9"})
    assert seen(fed(again, "a@5(v=1)/9")) == []


@given(at=st.integers(0, 2000), change=st.integers(1, 255))
def test_damaged_bytes_are_refused(at: int, change: int) -> None:
    stage = Ordering(guaranteed(), ["silent"])
    fed(stage, "a@1(v=1)")
    state = bytearray(stage.save())
    state[at % len(state)] ^= change
    with pytest.raises(StateError):
        Ordering.load(bytes(state))
    with pytest.raises(StateError):
        Ordering.load(bytes(stage.save()[: at % len(state)]))


def test_foreign_bytes_are_refused() -> None:
    with pytest.raises(StateError, match="no saved state of a penstock ordering stage"):
        Ordering.load(b"PK\x03\x04")


def test_state_of_a_later_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later.setattr("penstock.events.saved.VERSION", 99)
        state = pack("stage", {})
    with pytest.raises(StateError, match="later version"):
        unpack("stage", state)


def test_state_is_readable_without_running_anything() -> None:
    state = Ordering(guaranteed()).save()
    rest = state[len(b"penstock ordering stage ") + 64 :]
    header = json.loads(rest[8 : 8 + int.from_bytes(rest[:8], "little")])
    assert (header["version"], header["plain"]["policy"]) == (VERSION, "guaranteed")
