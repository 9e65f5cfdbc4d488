"""Instances and texts that nothing needs are forgotten, whatever number of keys there ever was."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.detection.course import Course
from penstock.detection.plan import plan_of
from penstock.engine import engine as engines
from penstock.engine import known, wording
from penstock.engine import memory as m
from penstock.engine.engine import Engine
from penstock.engine.library import Library
from penstock.engine.prepared import Choice
from penstock.events.table import EventTable, make_table

PAIR = "[A(k = $k)] ; [B(k = $k)]"
KEYS, BATCH, FEW = 6000, 100, 200
"""How many keys there are in all, those of a batch, and how few are kept without asking."""


def keyed(types: Sequence[str], keys: Sequence[object], start: int) -> EventTable:
    """Events a microsecond apart from each other."""
    at = pa.array(range(start, start + len(types)))
    ids = [str(one) for one in at.to_pylist()]
    return make_table({"type": types, "source": ["s"] * len(ids), "id": ids, "lo": at, "hi": at}, {"k": pa.array(keys)})


def batches(types: str, key: type = int) -> list[EventTable]:
    """For each key these events, one key after the other, in many batches that cut keys anywhere."""
    whole = keyed([*types] * KEYS, [key(one) for one in range(KEYS) for _ in types], 0)
    return [whole.slice(start, BATCH) for start in range(0, len(whole), BATCH)]


def whole_of(tables: list[EventTable]) -> EventTable:
    rows = [(table.field("type").to_pylist(), table.attribute("k").to_pylist()) for table in tables]
    return keyed([one for types, _ in rows for one in types], [one for _, keys in rows for one in keys], 0)


def found_in(engine: Engine, tables: list[EventTable]) -> list[str]:
    """The ids of all composites, which say all of them."""
    found = []
    for table in tables:
        batch = engine.feed(table, int(np.asarray(table.field("hi"))[-1]) + 1)
        found += [id for one in batch.definitions for id in one.composites.ids().to_pylist()]
    return found


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MANY", FEW)
    monkeypatch.setattr(engines, "IDLE", FEW)
    monkeypatch.setattr(engines, "RECLAIM", FEW)
    monkeypatch.setattr(wording, "MANY", FEW)


def held(engine: Engine) -> int:
    """The most of anything that is kept for each instance, run or text, room included."""
    sizes = [len(engine.pool), len(engine.texts.all())]
    for definition in engine.engines:
        sizes += [definition.instances.count, len(definition.instances.kinds), definition.symbols.count]
        for one in definition.detections:
            arrays, counts = one.runner.memory.arrays, one.runner.memory.counts
            sizes += [len(arrays[m.INSTANCES]) // m.INSTANCE_WIDTH, *counts[[m.KNOWN, m.NODE_ROOM, m.RUN_ROOM]]]
            sizes += [len(arrays[m.QUEUES]) // m.QUEUE_WIDTH]
    return max(map(int, sizes))


PATTERNS = {
    "pair": (PAIR, "AB"),
    "limit": ("([A(k = $k)] ; [B(k = $k)] ; [C(k = $k)]) within 20 us", "AB"),
    "timer": ("([A(k = $k)], [B(k = $k)]){T = 30 us}", "AB"),
    "long timer": ("([A(k = $k)], [T in {T, B(k = $k)}]){T = 1 h}", "AB"),
    "sides": ("([A(k = $k)] || [B(k = $k)]) within 20 us", "AB"),
    "parts": ("Pair := [A(k = $k)] ; [B(k = $k)]\nTwo := [Pair(k = $j)] ; [C(k = $j)]", "ABC"),
    "read": ("x: [A(k = $k)] ; [B(k = x.k)] select key = x.k where count(x) = 1", "AB"),
}


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("key", [int, str])
def test_what_is_held_does_not_grow_with_keys_that_were_seen(name: str, key: type) -> None:
    pattern, types = PATTERNS[name]
    engine, tables = Engine(ps.parse(pattern)), batches(types, key)
    sizes, found = [], []
    for table in tables:
        found += found_in(engine, [table])
        sizes.append(held(engine))
    assert max(sizes) < KEYS
    assert max(sizes) == max(sizes[: len(sizes) // 2])
    assert sorted(found) == sorted(found_in(Engine(ps.parse(pattern)), [whole_of(tables)]))
    assert len(found) == (0 if name in ("limit", "long timer") else KEYS * (2 if name == "parts" else 1))


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize("context", ["continuous", "chronicle", "recent", "cumulative"])
def test_instances_with_runs_are_kept_among_many_that_have_none(context: str) -> None:
    choice = Choice(context=context)
    kept = [-key for key in range(1, 50)]
    tables = [keyed(["A"] * 49, kept, 0), *batches("AB"), keyed(["B"] * 49, kept, 3 * KEYS)]
    engine = Engine(ps.parse(PAIR), choice)
    found = found_in(engine, tables)
    assert len(found) == KEYS + 49
    assert engine.engines[0].instances.count < 3 * FEW
    assert sorted(found) == sorted(found_in(Engine(ps.parse(PAIR), choice), tables))


@pytest.mark.usefixtures("_few")
def test_a_start_that_is_over_stays_so() -> None:
    engine = Engine(ps.parse("[A(k = $k) in {A(k = $k), C(k = $k)}] ; [B(k = $k)]"))
    found_in(engine, [keyed(["C"], [-1], 0), *batches("AB")])
    assert engine.engines[0].instances.count < 3 * FEW
    assert found_in(engine, [keyed("ABAB", [-1, -1, -2, -2], 3 * KEYS)]) != []
    assert len(found_in(engine, [keyed("AB", [-1, -1], 4 * KEYS)])) == 0


@pytest.mark.usefixtures("_few")
def test_results_stay_when_texts_are_forgotten() -> None:
    engine = Engine(ps.parse(PAIR))
    results = [engine.feed(table, int(np.asarray(table.field("hi"))[-1]) + 1) for table in batches("AB", str)]
    columns = [found.values(0, "k", found.definitions[0].composites).column() for found in results]
    assert [key for column in columns for key in column.to_pylist()] == [str(key) for key in range(KEYS)]


@pytest.mark.usefixtures("_few")
def test_a_burst_of_runs_leaves_no_room_behind() -> None:
    engine = Engine(ps.parse("([A] ; [B]) within 10 ms"))
    found_in(engine, [keyed(["A"] * 1000, [1] * 1000, start) for start in range(0, 9000, 1000)])
    most = held(engine)
    pairs = [keyed("AB" * 100, [1] * 200, start) for start in range(20_000, 60_000, 400)]
    assert len(found_in(engine, pairs)) == 10_000
    assert held(engine) < most // 2


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize("key", [int, str])
def test_what_was_forgotten_is_in_no_saved_page(key: type) -> None:
    engine = Engine(ps.parse(PAIR))
    library, store = Library(engine, per_page=8), dict[str, bytes]()
    first = range(FEW)
    found_in(engine, [keyed(["A"] * FEW, [key(-one - 1) for one in first], 0)])
    library.write(store)
    pages = len(store)
    found = found_in(engine, [keyed(["B"] * (FEW // 2), [key(-one - 1) for one in first[: FEW // 2]], FEW)])
    assert len(found) == FEW // 2
    found_in(engine, batches("AB", key))
    assert engine.engines[0].instances.count < 4 * FEW
    library.write(store)
    assert len(store) < pages
    again = Library.open(store, per_page=8).engine
    every = keyed(["B"] * FEW, [key(-one - 1) for one in first], 3 * KEYS)
    assert found_in(again, [every]) == found_in(engine, [every])
    assert len(found_in(again, [keyed(["B"] * FEW, [key(-one - 1) for one in first], 4 * KEYS)])) == 0


@pytest.mark.usefixtures("_few")
def test_one_table_has_the_texts_of_batches_before_and_after_some_were_forgotten() -> None:
    tables = batches("AB", str)
    course = Course(plan_of(ps.parse(PAIR)), tables[0])
    for table in tables:
        course.feed(table)
    assert course.finish(2 * KEYS).table["k"].to_pylist() == [str(key) for key in range(KEYS)]
