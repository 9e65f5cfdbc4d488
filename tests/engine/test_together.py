"""Runs that no event can tell apart move as one, and find what each would find by itself."""

import pyarrow as pa
import pytest

from penstock import parse
from penstock.engine import memory as m
from penstock.engine.engine import Engine
from penstock.engine.library import Library
from penstock.engine.prepared import Choice
from penstock.engine.snapshot import restore, save
from penstock.events.table import EventTable, make_table
from penstock.events.times import EARLIEST
from tests.compare.case import case_of
from tests.compare.trial import PLAIN, compared, random_trial
from tests.engine.conftest import composites_of, forget

OLD = 1 << 60
"""A limit on age that no run reaches, with which each run stands for itself."""
ENDS = [m.FAILED, m.EXPIRED, m.DROPPED, m.OPEN, m.LIVE, m.FREE_RUNS]


def events(types: str, start: int = 0, wide: int = 0) -> EventTable:
    """An event each second, which began so many microseconds before."""
    at = pa.array([1_000_000 * second for second in range(start, start + len(types))])
    ids = [str(one) for one in at.to_pylist()]
    lo = pa.array([one - wide for one in at.to_pylist()])
    return make_table({"type": list(types), "source": ids, "id": ids, "lo": lo, "hi": at}, {})


def feed(engine: Engine, types: str, start: int = 0) -> list[list[str]]:
    found = composites_of(engine.feed(events(types, start), 1_000_000 * (start + len(types))))
    return [[leaf.id.removesuffix("000000") for leaf in one.leaves()] for one in found]


def memory(engine: Engine) -> m.Ints:
    return engine.engines[0].detection.runner.memory.counts


@pytest.mark.parametrize("seed", range(8))
def test_they_find_what_the_reference_finds(seed: int) -> None:
    for number in range(150):
        trial = random_trial(f"{PLAIN} {seed}:{number}")
        difference, _ = compared(trial)
        assert difference is None, case_of(trial, "they differ")


def test_what_they_match_is_held_once() -> None:
    engine = Engine(parse("[A] ; [B]+ ; [C]"))
    feed(engine, "A" * 100 + "B" * 100)
    assert memory(engine)[m.LIVE] == 100
    assert memory(engine)[m.NODE_COUNT] == 200


def test_those_that_start_later_join_them() -> None:
    engine = Engine(parse("[A] ; [B]+ ; [C]"))
    feed(engine, "AB" * 100)
    assert memory(engine)[m.NODE_COUNT] == 200
    assert [len(parts) for parts in feed(engine, "C", 200)] == list(range(102, 2, -1))


def test_those_whose_time_is_up_leave_the_others() -> None:
    engine = Engine(parse("[A] ; [B]+ ; [C] within 5 s"))
    assert feed(engine, "AAABBBC") == [["1", "3", "4", "5", "6"], ["2", "3", "4", "5", "6"]]
    assert memory(engine)[m.EXPIRED] == 1


@pytest.mark.parametrize("types", ["AAABABBCAABC", "ABAABBBBBBBBC", "AAAAAAAADAAC", "AABBABABCDABC"])
@pytest.mark.parametrize("wide", [0, 1_500_000])
@pytest.mark.parametrize("most", [2, 1_000])
def test_as_many_come_to_nothing_as_by_themselves(types: str, wide: int, most: int) -> None:
    pattern = parse("[A] ; [B in {B, D}]+ ; [C] within 6 s")
    told = []
    for age in (None, OLD):
        engine = Engine(pattern, Choice(restart=True, runs_per_instance=most, age=age))
        found = composites_of(engine.feed(events(types, wide=wide), 1_000_000 * len(types)))
        composites_of(engine.finish(1_000_000 * len(types)))
        told.append(([one.parts for one in found], memory(engine)[ENDS].tolist()))
    assert told[0] == told[1]


def test_they_go_on_together_after_a_snapshot() -> None:
    pattern = parse("[A] ; [B]+ ; [C]")
    whole, cut = Engine(pattern), Engine(pattern)
    for engine in (whole, cut):
        feed(engine, "A" * 50 + "B" * 50 + "A" * 30)
    state = save(Library(cut))
    restored = restore(state).engine
    assert memory(restored)[[m.LIVE, m.NODE_COUNT]].tolist() == [80, 130]
    assert len(state) < len(save(Library(restored))) + 1000 < 40_000
    found = feed(whole, "BAC", 130)
    assert feed(restored, "BAC", 130) == feed(cut, "BAC", 130) == found
    assert [len(parts) for parts in found] == [53] * 50 + [3] * 30


def test_they_go_on_together_in_less_room() -> None:
    engine = Engine(parse("[A] ; [B]+ ; [C] within 2 h"))
    feed(engine, "A" * 5_000 + "B")
    feed(engine, "N" + "A" * 20, start=12_300)
    room = memory(engine)[m.RUN_ROOM]
    forget(engine)
    assert memory(engine)[m.LIVE] == 20
    assert memory(engine)[m.RUN_ROOM] == room // 2
    assert [len(parts) for parts in feed(engine, "BBC", start=12_330)] == [4] * 20


@pytest.mark.parametrize("days", [106_000_000, 106_751_991])
@pytest.mark.parametrize("at", [EARLIEST + 10**13, 1_700_000_000_000_000])
@pytest.mark.parametrize("age", [None, OLD])
def test_a_limit_may_be_longer_than_all_time(days: int, at: int, age: int | None) -> None:
    engine = Engine(parse(f"[A] ; [B in {{B, C}}] within {days} d"), Choice(restart=True, age=age))
    stamps = pa.array([at, at + 5, at + 7, at + 8])
    fields = {"type": list("ABAC"), "source": ["s"] * 4, "id": list("1234"), "lo": stamps, "hi": stamps}
    assert len(engine.feed(make_table(fields, {}), at + 9)) == 1
    assert memory(engine)[[m.FAILED, m.EXPIRED]].tolist() == [1, 0]


def test_an_event_for_all_instances_finds_each_run() -> None:
    engine = Engine(parse("[A(k = $k)] ; [B(k = $k)]+ ; [C]"))
    assert engine.engines[0].detection.runner.layout[m.HEAD][m.TOGETHER]
    at = pa.array([1, 2, 3, 4, 5, 6])
    ids = [str(one) for one in at.to_pylist()]
    table = make_table(
        {"type": list("AABBAC"), "source": ids, "id": ids, "lo": at, "hi": at},
        {"k": pa.array([1, 1, 2, 1, 2, 0])},
    )
    found = composites_of(engine.feed(table, 7))
    assert [[leaf.id for leaf in one.leaves()] for one in found] == [["1", "4", "6"], ["2", "4", "6"]]
