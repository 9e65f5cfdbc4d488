"""A detector gives the results of ordered input, however events come, and goes on after it was saved."""

import contextlib
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.conftest import table_of

import penstock as ps
from penstock.algebra.pattern import Pattern
from penstock.engine.directory import PER_PAGE
from penstock.events.event import Event
from penstock.languages.core.printer import print_pattern
from penstock.testing.strategies import choices, meaningful_patterns, traces

PAIR = "[A(k = $k)] ; [B(k = $k)]"
NESTED = "Pair := [A(k = $k)] ; [B(k = $k)]\n[Pair(k = $k)] ; [C(k = $k)]"
ABSENT = "([A(k = $k)], [T in {T, B(k = $k)}]){T = 5 us}"


def event(type: str, at: int, k: Any = 1, source: str = "s", **more: Any) -> dict[str, Any]:
    return {"type": type, "source": source, "id": f"{type}{at}{k}", "time": at, "data": {"k": k}, **more}


def rows(*results: ps.Composites) -> list[str]:
    """Composites in one order, as text."""
    return sorted(str(row) for found in results for row in found.to_pylist())


def test_what_a_batch_completes_is_returned_by_its_feed() -> None:
    detector = ps.Detector(PAIR)
    assert len(detector.feed([event("A", 1)])) == 0
    found = detector.feed([event("B", 2)])
    assert [[part.id for part in one.parts] for one in found] == [["A11", "B21"]]
    assert len(detector.finish()) == 0


def test_a_registered_source_is_waited_for() -> None:
    detector = ps.Detector(PAIR, sources=["s", "t"])
    assert len(detector.feed([event("A", 1), event("B", 2)])) == 0
    assert detector.status().holding == ("t",)
    assert len(detector.heartbeat("t", at=2)) == 1


def test_a_source_that_leaves_is_waited_for_no_longer() -> None:
    detector = ps.Detector(PAIR, sources=["s", "t"])
    detector.feed([event("A", 1), event("B", 2)])
    assert len(detector.leave("t")) == 1


def test_a_heartbeat_fires_the_timers_up_to_it() -> None:
    detector = ps.Detector(ABSENT, sources=["s"])
    detector.feed([event("A", 1)])
    assert len(detector.heartbeat("s", at=5)) == 0
    assert [one.hi for one in detector.heartbeat("s", at=6)] == [6]


def test_timers_up_to_until_fire_when_the_input_is_over() -> None:
    detector = ps.Detector(ABSENT, until=6)
    assert len(detector.feed([event("A", 1)])) == 0
    assert len(detector.finish()) == 1


def test_attributes_of_late_events_that_are_called_like_a_field_are_kept() -> None:
    detector = ps.Detector("[A]")
    detector.feed([event("A", 7)])
    data = {"reason": "none", "reason_": 1, "lo": 2, "v": 3}
    late = detector.feed([event("B", 3, source="t") | {"data": data}]).late
    assert late is not None
    told = late.select(["reason_", "reason__", "lo_", "v"]).to_pylist()
    assert told == [{"reason_": "none", "reason__": 1, "lo_": 2, "v": 3}]


def test_results_of_which_no_table_was_asked_for_stay_what_they_were() -> None:
    detector = ps.Detector(PAIR)
    found = [detector.feed([event(type, at)]) for at, type in enumerate("ABAB" * 50)]
    eager = ps.Detector(PAIR)
    assert rows(*found) == rows(*_asked(eager, "ABAB" * 50))
    assert [len(one) for one in found] == [at % 2 for at in range(200)]


def _asked(detector: ps.Detector, types: str) -> list[ps.Composites]:
    found = []
    for at, type in enumerate(types):
        found.append(detector.feed([event(type, at)]))
        assert found[-1].table is not None
    return found


def test_events_that_say_when_they_came_tell_the_time() -> None:
    machine = 1_000_000_000
    detector = ps.Detector("[A]", policy="guaranteed(max_wait=10 us)", sources=["s", "silent"], clock=lambda: machine)
    came = [event("A", at, arrival=at + 1) for at in (1, 5, 20)]
    assert [[one.lo for one in detector.feed([each])] for each in came] == [[], [], [1, 5]]
    machine += 9
    assert len(detector.wait()) == 0
    machine += 1
    assert [one.lo for one in detector.wait()] == [20]


@pytest.mark.parametrize(
    ("pattern", "arrived", "doubtful"),
    [
        (PAIR, [("A", 1), ("B", 5), ("B", 3)], 1),  # the earlier B would have completed it
        (PAIR, [("A", 1), ("B", 5), ("C", 3)], 0),  # no C is met
        (PAIR, [("A", 2), ("B", 5), ("B", 1)], 0),  # before it began
        (PAIR, [("A", 1), ("C", 9), ("B", 5)], 0),  # C is later, and no part
        (PAIR, [("A", 1), ("B", 5), ("B", 3), ("B", 4)], 1),  # once each
        ("[A(k = $k)] ; [B(k = $k)] ; [A(k = $k)]", [("A", 1), ("B", 5), ("B", 3), ("A", 9)], 1),  # given afterwards
        (ABSENT, [("A", 1), ("C", 9), ("B", 3)], 1),  # the timer had fired
        (ABSENT, [("A", 1), ("B", 3), ("C", 9)], 0),
        (NESTED, [("A", 1), ("B", 5), ("C", 9), ("B", 3)], 2),  # the part, and what it is a part of
        (NESTED, [("A", 1), ("B", 5), ("B", 3), ("C", 9)], 2),  # the part was in doubt before
        (NESTED, [("A", 1), ("B", 5), ("C", 9), ("C", 7)], 1),  # only the whole
        (NESTED, [("A", 1), ("B", 5), ("C", 9), ("D", 3)], 0),
    ],
)
def test_best_effort_counts_composites_that_ordered_input_may_have_changed(
    pattern: str, arrived: list[tuple[str, int]], doubtful: int
) -> None:
    detector = ps.Detector(pattern, policy=ps.best_effort())
    for type, at in arrived:
        detector.feed([event(type, at)])
    assert detector.counters.doubtful == doubtful


@pytest.mark.parametrize("k", [2, 2.5, "x", None])
def test_what_came_late_for_other_values_of_the_parameters_casts_no_doubt(k: Any) -> None:
    detector = ps.Detector(PAIR, policy=ps.best_effort())
    for type, at, value in [("A", 1, 1.0), ("B", 5, 1.0), ("B", 3, k)]:
        with contextlib.suppress(ps.DataError):  # one of another kind is refused
            detector.feed([event(type, at, value)])
    assert (detector.counters.matched, detector.counters.doubtful) == (1, 0)


def test_late_events_are_told_with_the_reason_and_by_how_much() -> None:
    detector = ps.Detector(PAIR, policy="delay(2 us)")
    detector.feed([event("A", 1), event("A", 9)], arrival=9)
    late = detector.feed([event("B", 3)], arrival=9).late
    assert late is not None
    assert late.select(["id", "lateness"]).to_pylist() == [{"id": "B31", "lateness": 4}]


def test_counters_say_what_became_of_everything() -> None:
    detector = ps.Detector("[A(k = $k)] ; [B(k = $k) in {B(k = $k), C(k = $k)}]")
    events = [event("A", 1), event("A", 1), event("N", 2), event("B", 3), event("A", 4), event("C", 5), event("A", 6)]
    detector.feed(events)
    detector.finish()
    told = detector.counters
    assert (told.consumed, told.duplicate, told.ignored, told.matched) == (6, 1, 1, 1)
    assert (told.failed, told.live, told.held, told.late) == (1, 1, 0, 0)


def test_incomplete_runs_come_with_the_feed_that_ended_them() -> None:
    detector = ps.Detector("[A] ; [B in {B, C}]", incomplete=True)
    detector.feed([event("A", 1)])
    ended = detector.feed([event("C", 2), event("A", 3)]).incomplete
    assert ended is not None
    assert ended.table["reason"].to_pylist() == ["failed"]
    still = detector.finish().incomplete
    assert still is not None
    assert still.table["reason"].to_pylist() == ["open"]


def test_records_without_ids_are_told_apart_over_batches() -> None:
    detector = ps.Detector("[A]")
    same = {"type": "A", "source": "s", "time": 5}
    found = [one for _ in range(3) for one in detector.feed([same])]
    assert len({one.parts[0].id for one in found}) == 3


@pytest.mark.parametrize("kind", ["text", 7, 2.5, True])
def test_keys_of_every_kind_survive(kind: Any) -> None:
    detector = ps.Detector(PAIR)
    detector.feed([event("A", 1, k=kind)])
    detector = ps.Detector.restore(detector.snapshot())
    assert [one.attributes["k"] for one in detector.feed([event("B", 2, k=kind)])] == [kind]


def test_how_events_are_read_survives() -> None:
    rows = [{"kind": "A", "at": "2026-03-02 09:00:00"}, {"kind": "B", "at": "2026-03-02 09:00:01"}]
    detector = ps.Detector("[A] ; [B]", columns={"type": "kind", "time": "at"}, zone="Europe/Berlin")
    detector.feed(pa.Table.from_pylist(rows[:1]))
    detector = ps.Detector.restore(detector.snapshot())
    detector.feed(pa.Table.from_pylist(rows[1:]))
    assert detector.counters.matched + len(detector.finish()) == 1


def test_nested_composites_survive() -> None:
    detector = ps.Detector("Pair := x: [A] ; [B]\nWhole := [Pair] ; [C]")
    plain = ps.Detector("Pair := x: [A] ; [B]\nWhole := [Pair] ; [C]")
    batches = [[event("A", 1), event("B", 2)], [event("C", 3)]]
    wanted = rows(*[plain.feed(batch) for batch in batches])
    got = [detector.feed(batches[0])]
    detector = ps.Detector.restore(detector.snapshot())
    assert rows(*got, detector.feed(batches[1])) == wanted


def test_a_store_is_given_only_the_pages_that_changed() -> None:
    keys = 4 * PER_PAGE
    table = pa.table({"type": ["A"] * keys, "source": ["s"] * keys, "id": [str(n) for n in range(keys)]})
    table = table.append_column("time", pa.array(range(keys))).append_column("k", pa.array(range(keys)))
    detector, store = ps.Detector(PAIR), {}
    detector.feed(table)
    assert len(detector.save(store)) > 4
    detector.feed([event("A", keys, k=5)])
    assert sorted(name.split()[0] for name in detector.save(store)) == ["detector", "manifest", "page", "page"]
    restored = ps.Detector.restore(store)
    closing = [event("B", keys + 1, k=key) for key in (5, 6, keys - 1)]
    assert rows(restored.feed(closing)) == rows(detector.feed(closing))
    assert restored.counters.live == detector.counters.live == keys + 1 - 4


def test_a_store_without_state_is_refused() -> None:
    with pytest.raises(ps.StateError, match="holds no state"):
        ps.Detector.restore({})


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_damaged_state_is_refused(place: int, change: int) -> None:
    detector = ps.Detector(PAIR)
    detector.feed([event("A", 1, k="x")])
    state = bytearray(detector.snapshot())
    state[place % len(state)] ^= change
    with pytest.raises(ps.StateError):
        ps.Detector.restore(bytes(state))


@given(
    pattern=meaningful_patterns(),
    trace=traces(),
    options=choices(),
    cuts=st.lists(st.integers(0, 7), max_size=3),
    saved=st.booleans(),
)
def test_a_detector_finds_what_detect_finds(
    pattern: Pattern, trace: list[Event], options: dict[str, Any], cuts: list[int], saved: bool
) -> None:
    table = table_of(trace)
    limits = ps.Limits(runs_per_instance=options.pop("runs_per_instance", None), age=options.pop("age", None) or None)
    try:
        whole = ps.detect(table, pattern, limits=limits, **options)
        detector = ps.Detector(pattern, limits=limits, **options)
    except ps.PatternError:
        return
    edges = sorted({0, len(table), *(min(cut, len(table)) for cut in cuts)})
    found = []
    for start, stop in pairwise(edges):
        if saved:
            detector = ps.Detector.restore(detector.snapshot())
        found.append(detector.feed(table.slice(start, stop - start)))
    found.append(detector.finish())
    assert rows(*found) == rows(whole), print_pattern(pattern)
