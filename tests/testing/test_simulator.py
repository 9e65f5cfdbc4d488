"""The simulator: everything from the seed, and each fault as it is asked for."""

import numpy as np
import pytest

from penstock.testing.delays import Constant, Exponential
from penstock.testing.simulator import SECOND, Delivery, Heartbeat, Heartbeats, Route, SimulatedSource, simulate


def one(seconds: float = 100, seed: int = 1, **options: object) -> Delivery:
    return simulate([SimulatedSource("a", rate=10, **options)], seconds, seed)  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_and_another_does_not() -> None:
    route = Route(Exponential(SECOND), loss=0.1, duplication=0.1, reordering=0.1)
    first, again, other = (one(seed=seed, route=route) for seed in (1, 1, 2))
    assert (first.rows.tolist(), first.came.tolist()) == (again.rows.tolist(), again.came.tolist())
    assert first.came.tolist() != other.came.tolist()


def test_a_source_s_events_do_not_change_with_the_others() -> None:
    alone = simulate([SimulatedSource("a")], 50, seed=3).sent.sent
    among = simulate([SimulatedSource("a"), SimulatedSource("b", rate=9)], 50, seed=3).sent.sent
    assert among[: len(alone)].tolist() == alone.tolist()


def test_routes_keep_order_unless_they_reorder() -> None:
    kept = one(route=Route(Exponential(SECOND)))
    assert (np.diff(kept.rows) > 0).all()
    assert (np.diff(one(route=Route(Exponential(SECOND), reordering=0.2)).rows) < 0).any()


@pytest.mark.parametrize(("loss", "arrive"), [(0.0, 1.0), (0.3, 0.7), (1.0, 0.0)])
def test_a_share_is_lost(loss: float, arrive: float) -> None:
    delivery = one(seconds=500, route=Route(loss=loss))
    assert len(delivery.received()) / len(delivery.sent.table) == pytest.approx(arrive, abs=0.05)


def test_a_share_comes_twice_and_later() -> None:
    delivery = one(seconds=500, route=Route(Constant(SECOND), duplication=0.1))
    assert len(delivery.rows) / len(delivery.received()) == pytest.approx(1.1, abs=0.02)


def test_clocks_are_off_and_say_so_where_they_know() -> None:
    table = one(clock=-7 * SECOND, error=SECOND).sent
    lo, hi = (np.asarray(table.table.field(name)) for name in ("lo", "hi"))
    assert (lo == table.sent - 8 * SECOND).all()
    assert (hi == table.sent - 6 * SECOND).all()
    assert set(table.table.field("uncertain").to_pylist()) == {True}


def test_silence_and_death() -> None:
    sent = one(silences=((20 * SECOND, 40 * SECOND),), dies=80 * SECOND, heartbeat=SECOND // 5).sent
    for at in (sent.sent, sent.heartbeats_sent):
        assert not ((at >= 20 * SECOND) & (at < 40 * SECOND)).any()
        assert at.max() < 80 * SECOND


def test_a_heartbeat_comes_when_there_was_nothing_to_say_and_keeps_its_promise() -> None:
    delivery = simulate([SimulatedSource("a", rate=0.3, heartbeat=SECOND, error=5)], 300, seed=1)
    assert len(delivery.beats)
    shown = -1
    events = np.asarray(delivery.sent.table.field("hi"))
    for arrival in delivery.arrivals():
        assert all(end > shown for end in arrival.table.field("hi").to_pylist())
        shown = max([shown, *(beat.at for beat in arrival.heartbeats)])
    gaps = np.diff(np.sort(np.concatenate([events - 5, delivery.sent.heartbeats_sent])))
    assert gaps.max() <= SECOND


def test_regular_sources_are_regular() -> None:
    assert set(np.diff(one(regular=True).sent.sent).tolist()) == {SECOND // 10}


def test_what_comes_within_a_tick_comes_together() -> None:
    delivery = one(heartbeat=SECOND // 20)
    arrivals = list(delivery.arrivals(SECOND))
    assert [arrival.at for arrival in arrivals] == [n * SECOND for n in range(1, 101)]
    assert sum(len(arrival.table) for arrival in arrivals) == len(delivery.rows)
    assert sum(len(arrival.heartbeats) for arrival in arrivals) == len(delivery.beats)


def test_events_are_columns_with_the_types_of_each_source() -> None:
    sources = [SimulatedSource("a", rate=9, types=("X", "A")), SimulatedSource("b", rate=9, types=("A", "Y", "Z"))]
    events = simulate(sources, 50, seed=2).sent.table.to_events()
    for source in sources:
        assert {event.type for event in events if event.source == source.name} == set(source.types)
        ids = [event.id for event in events if event.source == source.name]
        assert ids == [str(number) for number in range(len(ids))]


def test_all_that_arrives_is_one_table_in_the_order_of_arrival() -> None:
    delivery = one(route=Route(Exponential(SECOND), loss=0.1, duplication=0.1, reordering=0.1), heartbeat=SECOND)
    arrived = delivery.arrived()
    assert arrived.field("arrival").to_pylist() == delivery.came.tolist() == sorted(delivery.came.tolist())
    batches = [arrival.table for arrival in delivery.arrivals(SECOND)]
    assert arrived.field("id").to_pylist() == [id for table in batches for id in table.field("id").to_pylist()]


def test_heartbeats_are_columns_and_read_like_objects() -> None:
    said = one(heartbeat=SECOND // 20, clock=7).sent
    assert isinstance(said.heartbeats, Heartbeats)
    assert (said.heartbeats.at == said.heartbeats_sent + 7).all()
    assert list(said.heartbeats)[:1] == [Heartbeat("a", int(said.heartbeats_sent[0]) + 7)]
    assert Heartbeats.of(list(said.heartbeats)).at.tolist() == said.heartbeats.at.tolist()
    assert said.heartbeats[1:3].take(np.array([1])) == (said.heartbeats[2],)


def test_no_sources_send_nothing() -> None:
    assert list(simulate([], 10, seed=1).arrivals()) == []
