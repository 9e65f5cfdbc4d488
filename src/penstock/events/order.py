"""The order in which detectors meet events, and the removal of repeated ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.identity import content
from penstock.events.repeats import name_hashes
from penstock.events.table import EventTable
from penstock.events.texts import is_rising

_KEYS = ("hi", "lo", "source", "seq", "id")
Rows = npt.NDArray[np.int64]


def ordered(table: EventTable) -> tuple[EventTable, int]:
    """The events in the weak order without repeated ones, and how many those were.

    An event is repeated if another has the same source and id; the first in the order is kept.

    >>> from penstock.events.records import from_dicts
    >>> events = [{"type": "B", "id": "2", "time": 9}, {"type": "A", "id": "1", "time": 5}]
    >>> table, repeated = ordered(from_dicts([*events, *events]))
    >>> table.field("type").to_pylist(), repeated
    (['A', 'B'], 2)
    """
    rows, names = _repeated(table)
    if not len(rows):
        return weakly_sorted(table), 0
    table = table.take(_ties_by_content(table, rows))
    order = _weak_order(table)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    rows, names = _repeated(table)
    kept = np.ones(len(order), bool)
    kept[places[rows[_all_but_first(names, places[rows])]]] = False
    return table.take(order[kept]), len(order) - int(kept.sum())


def without_repeats(table: EventTable) -> tuple[EventTable, int]:
    """The same events without repeated ones, as `ordered` leaves them out, and how many those were; in any order.

    >>> from penstock.events.records import from_dicts
    >>> table, repeated = without_repeats(from_dicts([{"type": "A", "id": "1", "time": 5}] * 2))
    >>> len(table), repeated
    (1, 1)
    """
    return ordered(table) if len(_repeated(table)[0]) else (table, 0)


def weakly_sorted(table: EventTable) -> EventTable:
    """The events in the weak order, repeated ones too; those that are equal there stay in their order.

    >>> from penstock.events.records import from_dicts
    >>> weakly_sorted(from_dicts([{"type": "B", "time": 9}, {"type": "A", "time": 5}])).field("type").to_pylist()
    ['A', 'B']
    """
    return table if in_weak_order(table) else table.take(_weak_order(table))


def in_weak_order(table: EventTable) -> bool:
    """Whether the events stand in the weak order as they are; those that are equal there may stand either way.

    >>> from penstock.events.records import from_dicts
    >>> in_weak_order(from_dicts([{"type": "A", "time": 5}, {"type": "A", "lo": 4, "hi": 5}]))
    False
    """
    hi = table.numbers("hi")
    if not bool((hi[1:] >= hi[:-1]).all()):
        return False
    ties = np.flatnonzero(hi[1:] == hi[:-1])
    return len(ties) == 0 or _are_in_order(table, ties)


def _are_in_order(table: EventTable, rows: Rows) -> bool:
    """Whether none of these rows is after the next one by the keys that count among equal ``hi``."""
    for name in _KEYS[1:]:
        column = _sortable(table, name)
        first, second = column.take(pa.array(rows)), column.take(pa.array(rows + 1))
        if pc.any(_is_after(first, second)).as_py():
            return False
        rows = rows[np.asarray(_is_same(first, second))]
        if not len(rows):
            return True
    return True


def _is_after(first: pa.Array, second: pa.Array) -> pa.Array:
    """Whether the one is after the other; what is absent comes first."""
    return pc.if_else(first.is_null(), False, pc.if_else(second.is_null(), True, pc.greater(first, second)))


def _is_same(first: pa.Array, second: pa.Array) -> pa.Array:
    return pc.if_else(first.is_null(), second.is_null(), pc.equal(first, second).fill_null(False))


def _sortable(table: EventTable, name: str) -> pa.Array:
    column = table.field(name)
    return _ranks(column) if pa.types.is_dictionary(column.type) else column


def _ranks(column: pa.DictionaryArray) -> pa.Array:
    """The rank of each value among the distinct ones, by its UTF-8 bytes."""
    return pc.rank(column.dictionary, tiebreaker="dense").take(column.indices)


def _weak_order(table: EventTable) -> Rows:
    """Row numbers in the weak order; rows that are equal there stay in their order."""
    hi = table.numbers("hi")
    order = np.argsort(hi)
    ends = hi[order]
    same = ends[1:] == ends[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    if len(tied):
        order[tied] = _with_all_keys(table, np.sort(order[tied]))
    return order


def _with_all_keys(table: EventTable, rows: Rows) -> Rows:
    """These rows, which are in ascending order, in the weak order."""
    chosen = pa.array(rows)
    columns = {name: _sortable(table, name).take(chosen) for name in _KEYS} | {"row": chosen}
    keys = [(name, "ascending", "at_start") for name in columns]
    order: Rows = rows[np.asarray(pc.sort_indices(pa.table(columns), sort_keys=keys))]
    return order


def _repeated(table: EventTable) -> tuple[Rows, Rows]:
    """The rows whose source and id others have too, and a number for each, equal for those that share them.

    They are found by their hashes and then compared, so that a coincidence of hashes does no harm.
    """
    sources, ids = table.field("source"), table.field("id")
    none = np.zeros(0, np.int64)
    if is_rising(ids):
        return none, none
    hashes = name_hashes(sources, ids)
    numbers = np.sort(hashes)
    more = numbers[1:][numbers[1:] == numbers[:-1]]
    if not len(more):
        return none, none
    rows = np.flatnonzero(np.isin(hashes, more))
    names = _names(sources.take(pa.array(rows)), ids.take(pa.array(rows)))
    shared = np.bincount(names)[names] > 1
    return rows[shared], names[shared]


def _names(sources: pa.DictionaryArray, ids: pa.Array) -> Rows:
    """A number for each event, equal for those with the same source and id, less than their number."""
    texts = np.asarray(ids.dictionary_encode().indices).astype(np.int64)
    owners = np.asarray(sources.dictionary_decode().dictionary_encode().indices).astype(np.int64)
    both = owners * (int(texts.max(initial=0)) + 1) + texts
    return np.asarray(pa.array(both).dictionary_encode().indices).astype(np.int64)


def _all_but_first(names: Rows, places: Rows) -> Rows:
    """The indices of those that have the name of one at an earlier place."""
    order = np.lexsort((places, names))
    is_later = names[order][1:] == names[order][:-1]
    later: Rows = order[1:][is_later]
    return later


def _ties_by_content(table: EventTable, rows: Rows) -> Rows:
    """Row numbers with the repeated events in the order of what they say.

    So it depends on nothing else which of two is kept that are equal in the weak order.
    """
    repeated = table.take(rows)
    columns = {"arrival": repeated.field("arrival"), "content": content(repeated)}
    keys = [(name, "ascending", "at_start") for name in columns]
    order = np.arange(len(table))
    order[rows] = rows[np.asarray(pc.sort_indices(pa.table(columns), sort_keys=keys))]
    return order
