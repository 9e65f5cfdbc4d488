"""Nothing grows without bound: many sources, silence, duplicates, wrong clocks, and memory for what is held alone."""

import numpy as np
import pyarrow as pa
import pytest

from penstock.events.table import EventTable, make_table
from penstock.ordering.held import MANY
from penstock.ordering.policies import best_effort, guaranteed, parse_policy, probabilistic
from penstock.ordering.stage import MOST_REMEMBERED, Ordering
from penstock.testing.delays import Exponential
from penstock.testing.simulator import Route, SimulatedSource, simulate
from tests.ordering.conftest import SECOND, named

POLICIES = ["best_effort", "guaranteed", "guaranteed(max_wait=10 s)", "probabilistic(0.99)", "delay(5 s)"]


def bytes_held(stage: Ordering) -> int:
    """The memory of all rows that a stage refers to, consumed or not."""
    batches = [run.batch for run in stage.held.runs]
    return sum(one.table.fields.nbytes + one.table.attributes.nbytes + 8 * len(one.known) for one in batches)


def events_at(ends: np.ndarray, sources: np.ndarray, names: pa.Array, first: int = 0) -> EventTable:
    fields = {
        "type": pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(ends), np.int32)), pa.array(["A"])),
        "source": pa.DictionaryArray.from_arrays(pa.array(sources.astype(np.int32)), names),
        "id": pa.array(np.arange(first, first + len(ends))).cast(pa.string()),
        "lo": pa.array(ends),
        "hi": pa.array(ends),
    }
    return make_table(fields, {})


@pytest.mark.parametrize("policy", POLICIES)
def test_a_million_sources(policy: str) -> None:
    count = 1_000_000
    names = pa.array(np.char.add("source-", np.arange(count).astype(str)))
    stage = Ordering(parse_policy(policy), names.to_pylist())
    everyone = np.random.default_rng(1).permutation(count)
    consumed = 0
    for turn in range(2):
        ends = turn * SECOND + np.arange(count)
        consumed += len(stage.feed(events_at(ends, everyone, names, turn * count), (turn + 1) * SECOND).table)
    # From now on few are heard at a time: what each costs must not depend on how many there are.
    for turn in range(20):
        few = everyone[turn * 10 : turn * 10 + 10]
        ends = 3 * SECOND + np.arange(10) + turn * 10
        table = events_at(ends, few, names, (2 + turn) * count)
        consumed += len(stage.feed(table, 3 * SECOND + turn).table)
    consumed += len(stage.finish().table)
    assert consumed + stage.counters.late == 2 * count + 200
    assert len(stage.status()) == count
    assert len(list(stage.status().slowest(5))) == 5


def test_a_step_looks_at_the_sources_that_it_concerns(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Ordering(guaranteed(), [f"s{number}" for number in range(100_000)])
    touched: list[int] = []
    settle = type(stage.sources.lowest)._settle
    monkeypatch.setattr(
        type(stage.sources.lowest), "_settle", lambda self, nodes: (touched.append(len(nodes)), settle(self, nodes))[1]
    )
    stage.heartbeat("s7", 5, 6)
    stage.feed(events_at(np.array([7]), np.array([0]), pa.array(["s7"])), 8)
    assert not touched
    stage.feed(events_at(np.array([9, 9, 9]), np.arange(3), pa.array(["s1", "s2", "s3"])), 10)
    assert touched == [3]


def test_a_source_that_is_silent_for_ever_with_max_wait() -> None:
    stage = Ordering(guaranteed(max_wait="10 s"), ["s", "silent"])
    names = pa.array(["s"])
    most = 0
    for second in range(500):
        ends = second * SECOND + np.arange(100) * 10_000
        stage.feed(events_at(ends, np.zeros(100), names, second * 100), (second + 1) * SECOND)
        most = max(most, len(stage.held))
        assert len(stage.rule.save()["came"]) <= 11 * 100
    assert most == 1000
    assert bytes_held(stage) < 1000 * 200
    assert stage.counters.consumed == 500 * 100 - 1000
    assert stage.counters.mean_wait == pytest.approx(10 * SECOND, rel=0.01)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_tenth_of_duplicates(policy: str) -> None:
    sources = [
        SimulatedSource(name, rate=20, heartbeat=SECOND, route=Route(Exponential(SECOND // 2), duplication=0.1))
        for name in ("s", "t", "u")
    ]
    delivery = simulate(sources, 60, seed=4)
    stage = Ordering(parse_policy(policy), ["s", "t", "u"])
    consumed: list[tuple[str, str]] = []
    for arrival in delivery.arrivals(100_000):
        given = [stage.feed(arrival.table, arrival.at)]
        given += [stage.heartbeat(beat.source, beat.at, arrival.at) for beat in arrival.heartbeats]
        consumed += [(event.source, event.id) for ready in given for event in ready.table.to_events()]
        assert len(stage.there) <= 2
    consumed += [(event.source, event.id) for event in stage.finish().table.to_events()]
    assert len(consumed) == len(set(consumed))
    assert len(delivery.rows) == len(consumed) + stage.counters.duplicate + stage.counters.late
    if policy == "guaranteed":
        assert len(consumed) == len(delivery.received())


@pytest.mark.parametrize("policy", ["guaranteed", "guaranteed(max_wait=10 min)", "probabilistic(0.99)"])
def test_clocks_that_are_off_by_minutes(policy: str) -> None:
    clocks = {"ahead": 300 * SECOND, "right": 0, "behind": -300 * SECOND}
    sources = [SimulatedSource(name, rate=5, clock=clock, heartbeat=SECOND) for name, clock in clocks.items()]
    delivery = simulate(sources, 1200, seed=5)
    stage = Ordering(parse_policy(policy), clocks)
    most = 0
    for arrival in delivery.arrivals(SECOND):
        stage.feed(arrival.table, arrival.at)
        for beat in arrival.heartbeats:
            stage.heartbeat(beat.source, beat.at, arrival.at)
        most = max(most, len(stage.held))
    # What the clocks are apart must wait, ten minutes of one source and five of another, and nothing more.
    assert 3000 <= most <= 5.5 * (600 + 300)
    stage.finish()
    assert stage.counters.consumed + stage.counters.late == len(delivery.received())
    assert stage.counters.late <= 0.01 * len(delivery.received())


@pytest.mark.parametrize(("policy", "late"), [("delay(5 s)", True), ("best_effort", False)])
def test_clocks_that_are_off_by_minutes_where_they_should_agree(policy: str, late: bool) -> None:
    clocks = {"ahead": 300 * SECOND, "right": 0, "behind": -300 * SECOND}
    sources = [SimulatedSource(name, rate=5, clock=clock) for name, clock in clocks.items()]
    delivery = simulate(sources, 600, seed=5)
    stage = Ordering(parse_policy(policy), clocks)
    most = 0
    for arrival in delivery.arrivals(SECOND):
        stage.feed(arrival.table, arrival.at)
        most = max(most, stage.status().held)
    # Who is ahead makes the others late, or out of order; nothing is lost, and nothing waits for long.
    assert most <= 3 * 5 * 10
    stage.finish()
    assert stage.counters.consumed + stage.counters.late == len(delivery.received())
    behind = stage.counters.late if late else stage.counters.out_of_order
    assert behind > 0.5 * len(delivery.received())


def test_memory_is_for_what_is_held_and_not_for_what_has_passed() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    names = pa.array(["s", "t"])
    for turn in range(30):
        ends = turn * 100_000 + np.arange(100_000)
        sources = np.zeros(100_000)
        sources[-10:] = 1
        # The last ten come from the other source, so all but about ten leave at once.
        stage.feed(events_at(ends, sources, names, turn * 100_000), turn)
        assert len(stage.held) <= 11
        assert bytes_held(stage) < 20_000


def test_a_few_events_of_a_big_table_do_not_keep_its_names() -> None:
    names = pa.array([f"source-{number}" for number in range(100_000)])
    table = events_at(np.arange(100_000), np.arange(100_000), names)
    stage = Ordering(guaranteed(), ["silent"])
    stage.feed(table.slice(5, 3), 0)
    assert bytes_held(stage) < 20_000


def test_events_that_come_one_by_one_are_kept_in_few_pieces() -> None:
    stage = Ordering(guaranteed(), ["silent"])
    names = pa.array(["s"])
    for number in range(600):
        stage.feed(events_at(np.array([number]), np.zeros(1), names, number), 0)
        assert len(stage.held.runs) <= MANY + 10
    assert stage.finish().table.field("hi").to_pylist() == list(range(600))


def test_best_effort_remembers_so_many_ids_and_no_more() -> None:
    stage = Ordering(best_effort())
    names = pa.array(["s"])
    for turn in range(8):
        ends = turn * 50_000 + np.arange(50_000)
        stage.feed(events_at(ends, np.zeros(50_000), names, turn * 50_000), 0)
        assert len(stage.held) <= MOST_REMEMBERED
    again = stage.feed(events_at(ends[-5:], np.zeros(5), names, 8 * 50_000 - 5), 0)
    assert (named(again.table), stage.counters.duplicate) == ([], 5)


def test_what_probabilistic_remembers_is_bounded() -> None:
    stage = Ordering(probabilistic(0.9), ["s"])
    names = pa.array(["s"])
    for turn in range(4):
        ends = turn * 50_000 + np.arange(50_000)
        stage.feed(events_at(ends, np.zeros(50_000), names, turn * 50_000), turn * 50_000)
    assert len(stage.rule.save()["recent"]) <= 1 << 16
