"""Where events stand in the weak order: rows put in order, and rows compared with a place of the sequence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.events.table import EventTable

Ints = NDArray[np.int64]
NEVER = -(2**63)
"""Before all instants."""
FAR = 2**63 - 1
"""After all instants."""
BEHIND, THERE, AHEAD = -1, 0, 1


class Place(NamedTuple):
    """A place of the sequence as far as sources can be compared: between sources, counters and ids never decide.

    >>> Place(5, 5, b"a") < Place(5, 5, b"b") < Place(6, 2, b"")
    True
    """

    hi: int
    lo: int
    source: bytes


def times(table: EventTable, name: str) -> Ints:
    """A column of times as numbers."""
    return np.asarray(table.field(name))


def weak_order(table: EventTable, rows: Ints | None = None) -> Ints:
    """Row numbers in the weak order: all, or those given.

    Times alone decide for most rows; the other keys are read only where they are equal.

    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A"] * 4, "source": list("baab"), "id": list("1234"), "lo": [5, 5, 2, 1], "hi": [5, 5, 5, 3]}
    >>> weak_order(make_table(fields, {})).tolist()
    [3, 2, 1, 0]
    """
    ends = times(table, "hi") if rows is None else times(table, "hi")[rows]
    if (ends[1:] > ends[:-1]).all():
        return np.arange(len(ends)) if rows is None else rows
    # Rows that are given are stretches in order already, which a stable sort only merges.
    order = np.argsort(ends, kind=None if rows is None else "stable")
    ordered = ends[order]
    order = order if rows is None else rows[order]
    tied = np.flatnonzero(_beside(ordered[1:] == ordered[:-1]))
    if len(tied):
        order[tied] = _all_keys(table, order[tied])
    return order


def _beside(equal: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each row whether it equals the one before or the one after it."""
    beside = np.zeros(len(equal) + 1, bool)
    beside[1:] |= equal
    beside[:-1] |= equal
    return beside


def _all_keys(table: EventTable, rows: Ints) -> Ints:
    """These rows in the weak order."""
    sources = source_ranks(table)[rows]
    counted, counters = _counters(table, rows)
    keys = (rows, counters, counted, sources, times(table, "lo")[rows], times(table, "hi")[rows])
    order = np.lexsort(keys)
    changes = np.zeros(len(rows) - 1, bool)
    for key in keys[1:]:
        changes |= np.diff(key[order]) != 0
    tied = np.flatnonzero(_beside(~changes))
    if len(tied):
        groups = np.concatenate([[0], np.cumsum(changes)])[tied]
        ids = table.field("id").take(pa.array(rows[order[tied]]))
        by_id = pc.sort_indices(
            pa.table({"group": groups, "id": ids}), sort_keys=[("group", "ascending"), ("id", "ascending")]
        )
        order[tied] = order[tied][np.asarray(by_id).astype(np.int64)]
    return rows[order]


def _counters(table: EventTable, rows: Ints) -> tuple[Ints, Ints]:
    """Whether rows have a counter, and the counter."""
    column = table.field("seq").take(pa.array(rows))
    return np.asarray(column.is_valid()).astype(np.int64), np.asarray(column.fill_null(0))


def source_ranks(table: EventTable) -> Ints:
    """For each row the rank of its source among those of the table, by its UTF-8 bytes."""
    sources = table.field("source")
    ranks = pc.rank(sources.dictionary, tiebreaker="dense").cast(pa.int64())
    return np.asarray(ranks.take(sources.indices))


def compared(table: EventTable, place: Place, rows: Ints | None = None) -> NDArray[np.int8]:
    """For each row whether it is behind a place, there (of the same source and stamp) or ahead of it.

    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A"] * 3, "source": ["a", "b", "c"], "id": list("123"), "lo": [5, 5, 5], "hi": [5, 5, 5]}
    >>> compared(make_table(fields, {}), Place(5, 5, b"b")).tolist()
    [-1, 0, 1]
    """
    rows = np.arange(len(table)) if rows is None else rows
    ends = times(table, "hi")[rows]
    side = (ends > place.hi).astype(np.int8) - (ends < place.hi)
    tied = np.flatnonzero(side == THERE)
    if len(tied):
        beginnings = times(table, "lo")[rows[tied]]
        side[tied] = (beginnings > place.lo).astype(np.int8) - (beginnings < place.lo)
        equal = np.flatnonzero(side == THERE)
        if len(equal):
            side[equal] = _compared_names(table.field("source"), rows[equal], place.source)
    return side


def _compared_names(sources: pa.DictionaryArray, rows: Ints, name: bytes) -> NDArray[np.int8]:
    """For some rows whether the names of their sources come before a name, are it, or come after it."""
    codes = np.asarray(sources.indices)[rows]
    used, places = (codes, slice(None)) if len(codes) == 1 else np.unique(codes, return_inverse=True)
    names = [sources.dictionary[code].as_py().encode() for code in used.tolist()]
    return np.array([(one > name) - (one < name) for one in names], np.int8)[places]


def compacted(table: EventTable) -> EventTable:
    """The same events, with names that none of them has gone from the dictionaries.

    A few events of a big table would otherwise keep all its names, and each step would look at them.
    """
    for field in ("type", "source"):
        column = table.field(field)
        if len(column.dictionary) > 2 * len(table) + 64:
            used, codes = np.unique(np.asarray(column.indices), return_inverse=True)
            names = column.dictionary.take(pa.array(used))
            table = table.replaced(field, pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names))
    return table
