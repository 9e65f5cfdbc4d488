"""Rows by number: found again as long as they are kept, whatever comes and goes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.kept import Kept
from penstock.engine.store import Symbols, join_tables
from penstock.events.event import Event
from penstock.events.table import EventTable
from tests.engine.conftest import table_of

values = st.none() | st.integers(0, 9) | st.sampled_from(["x", "y"])
batches = st.lists(st.tuples(values, st.integers(1, 3), st.sets(st.integers(0, 9))), max_size=8)


def some_events(start: int, count: int, value: object) -> list[Event]:
    attributes = {} if value is None else {"v": value}
    return [Event("A", f"s{n % 2}", f"{n:03}", n, n, attributes=attributes) for n in range(start, start + count)]


def ids_of(kept: Kept[EventTable], numbers: list[int]) -> list[tuple[str, object]]:
    found: dict[int, tuple[str, object]] = {}
    for table, where, rows in kept.locate(np.array(numbers, np.int64)):
        events = table.take(rows).to_events()
        found |= {place: (one.id, one.attributes.get("v")) for place, one in zip(where.tolist(), events, strict=True)}
    return [found[place] for place in range(len(numbers))]


@given(batches)
def test_what_is_kept_is_found_by_its_number(batches: list[tuple[object, int, set[int]]]) -> None:
    kept: Kept[EventTable] = Kept(join_tables)
    known: dict[int, tuple[str, object]] = {}
    end = 0
    for value, count, dropped in batches:
        events = some_events(end, count, value)
        kept.add(table_of(events))
        known |= {end + n: (one.id, value) for n, one in enumerate(events)}
        end += count
        before, asked = kept.as_it_is(), list(known)
        expected = [known[number] for number in asked]
        known = {number: one for number, one in known.items() if number % 10 not in dropped}
        kept.keep(np.array(sorted(known), np.int64))
        assert ids_of(kept, list(known)[::-1]) == list(known.values())[::-1]
        assert ids_of(before, asked) == expected
        assert len(kept) == len(known)


def test_pieces_become_one_unless_kinds_differ() -> None:
    tables = [table_of(some_events(n, 1, value)) for n, value in enumerate([1, None, 2, "x", "y", 3])]
    assert [len(table) for table in join_tables(tables)] == [3, 2, 1]


def test_names_of_rows_that_are_gone_are_gone() -> None:
    kept: Kept[EventTable] = Kept(join_tables)
    for n in range(20):
        kept.add(table_of([Event("A", f"source {n}", "1", n, n)]))
        kept.keep(np.array([n]))
    assert kept.pieces[0].field("source").dictionary.to_pylist() == ["source 19"]


def test_slots_are_numbered_anew_when_some_are_let_go() -> None:
    symbols = Symbols()
    symbols.add(-1, 0, np.arange(5_000))
    symbols.add(0, 3, np.array([4, 5]))
    symbols.keep(np.array([10, 5_000, 5_001]))
    symbols.add(-1, 6_000, np.array([0]))
    owners, rows = symbols.of(np.array([3, 2, 0]))
    assert owners.tolist() == [-1, 0, -1]
    assert rows.tolist() == [6_000, 8, 10]
    assert symbols.rows_of(-1).tolist() == [10, 6_000]
