"""A store is read only where events or timers need it, and written only where something changed."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.engine.directory import PER_PAGE, START, Directory
from tests.engine.conftest import Store

PAIR = "[A(k = $k)] ; [B(k = $k)]"
SILENT = "([A(k = $k)], [T in {T, B(k = $k)}]){T = 1 h}"
BOUNDED = "([A(k = $k)] ; [B(k = $k)]) within 10 s"
SECOND = 1_000_000
KEYS = 8 * PER_PAGE


def table(type: str, keys: list[int], at: int, step: int = 1) -> pa.Table:
    count = len(keys)
    columns = {"type": [type] * count, "source": ["s"] * count, "id": [f"{type}{at}-{k}" for k in keys]}
    return pa.table(columns | {"time": [at + n * step for n in range(count)], "k": keys})


def opened(pattern: str, keys: int = KEYS, **options: Any) -> tuple[Store, ps.Detector]:
    """A detector that has seen an A of each key, from its store."""
    store = Store()
    detector = ps.Detector(pattern, **options)
    detector.feed(table("A", list(range(keys)), at=0))
    detector.save(store)
    return store, reopened(store)


def reopened(store: Store) -> ps.Detector:
    detector = ps.Detector.restore(store)
    store.read.clear()
    return detector


def test_only_pages_that_events_concern_are_read() -> None:
    store, detector = opened(PAIR)
    assert len(detector.feed(table("B", [5], at=KEYS))) == 1
    assert len(store.read) == 1
    detector.feed(table("B", [5], at=KEYS + 1))
    assert len(store.read) == 1


def test_runs_that_are_not_in_memory_are_counted() -> None:
    _, detector = opened(PAIR)
    assert detector.counters.live == KEYS
    detector.feed(table("B", [5], at=KEYS))
    assert detector.counters.live == KEYS - 1


def test_the_limit_of_runs_counts_those_that_are_not_in_memory() -> None:
    _, detector = opened(PAIR, limits=ps.Limits(runs=KEYS + 1))
    with pytest.raises(ps.StateError, match=f"more than {KEYS + 1:,} runs"):
        detector.feed(table("A", [1, 2, 3, 4], at=KEYS))


def test_only_pages_that_changed_are_written() -> None:
    store, detector = opened(PAIR)
    detector.feed(table("A", [5], at=KEYS))
    pages = [name for name in detector.save(store) if name.startswith("page")]
    assert len(pages) == 2
    assert [name for name in detector.save(store) if name.startswith("page")] == ["page 0 0"]


def test_pages_without_runs_are_removed() -> None:
    store, detector = opened(PAIR)
    detector.feed(table("B", list(range(KEYS)), at=KEYS))
    detector.save(store)
    assert sorted(store) == ["detector", "manifest", "page 0 0"]
    again = reopened(store)
    again.feed(table("A", [5], at=3 * KEYS))
    again.save(store)
    assert len(reopened(store).feed(table("B", [5], at=4 * KEYS))) == 1


def test_pages_with_due_timers_are_read() -> None:
    store, detector = opened(SILENT, sources=["s"])
    assert len(detector.heartbeat("s", at=3600 * SECOND - 1)) == 0
    assert store.read == []
    found = detector.heartbeat("s", at=3600 * SECOND + KEYS)
    assert len(found) == KEYS
    detector.save(store)
    assert sorted(store) == ["detector", "manifest", "page 0 0"]


def test_pages_whose_runs_are_over_are_read_if_that_is_to_be_told() -> None:
    store, detector = opened(BOUNDED, sources=["s"], incomplete=True)
    assert len(detector.heartbeat("s", at=9 * SECOND).incomplete or ()) == 0
    assert store.read == []
    assert len(detector.heartbeat("s", at=11 * SECOND).incomplete or ()) == KEYS


def test_runs_that_are_over_do_not_stay_for_ever() -> None:
    store, detector = opened(BOUNDED, sources=["s"])
    for number in range(3):
        detector.feed(table("A", [KEYS + number], at=(11 + number) * SECOND))
        detector.save(store)
        detector = reopened(store)
    assert detector.counters.live == 3


def test_an_event_for_all_instances_reads_all_pages() -> None:
    store, detector = opened("[A(k = $k)] ; [C]")
    found = detector.feed(table("C", [0], at=KEYS))
    assert len(found) == KEYS
    assert len(store.read) == len({*store.read}) == len([name for name in store if name.startswith("page")]) - 1


def test_another_store_is_given_everything() -> None:
    store, detector = opened(PAIR)
    other: dict[str, bytes] = {}
    detector.save(other)
    assert len(ps.Detector.restore(other).feed(table("B", list(range(KEYS)), at=KEYS))) == KEYS
    assert len(ps.Detector.restore(store).feed(table("B", list(range(KEYS)), at=KEYS))) == KEYS


def test_a_snapshot_does_not_disturb_the_store() -> None:
    store, detector = opened(PAIR)
    detector.feed(table("A", [5], at=KEYS))
    detector.snapshot()
    assert len(detector.save(store)) == 4
    assert len(reopened(store).feed(table("B", [5], at=2 * KEYS))) == 2


def test_a_missing_page_is_an_error() -> None:
    store, detector = opened(PAIR)
    del store["page 0 3"]
    with pytest.raises((ps.StateError, KeyError)):
        detector.feed(table("B", list(range(KEYS)), at=KEYS))


@pytest.mark.parametrize("seed", range(5))
def test_ranges_cover_all_hashes_and_are_neither_too_small_nor_too_large(seed: int) -> None:
    random = np.random.default_rng(seed)
    directory = Directory(detections=1, per_page=10)
    for count in (0, 1, 300, 40, 2000, 5, 0):
        hashes = np.sort(random.integers(-(2**63), 2**63 - 1, count))
        directory.is_changed[:] = True
        chunks, same, _ = directory.rewritten(hashes)
        assert same == []
        assert [(one.first, one.last) for one in chunks] == [
            *zip([0, *(one.last for one in chunks[:-1])], [one.last for one in chunks], strict=True)
        ]
        assert all(len(one) <= 20 for one in chunks)
        rows = np.zeros((len(chunks), directory.width), np.int64)
        for row, chunk in zip(rows, chunks, strict=True):
            row[:2] = chunk.start, directory.new_page() if len(chunk) else 0
            assert directory.rows[0, START] == -(2**63)
        directory.put(rows, same)
        inside = directory.of(hashes)
        assert [int(np.count_nonzero(inside == n)) for n in range(len(chunks))] == [len(one) for one in chunks]
