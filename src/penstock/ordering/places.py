"""Where events stand in the weak order: rows put in order, and rows compared with a place of the sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
KEYS = ("hi", "lo", "source", "seq", "id")
"""The fields that the weak order compares."""


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
    return table.numbers(name)


def weak_order(table: EventTable) -> tuple[Ints, Ints]:
    """Row numbers in the weak order, and the ends of these rows.

    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A"] * 4, "source": list("baab"), "id": list("1234"), "lo": [5, 5, 2, 1], "hi": [5, 5, 5, 3]}
    >>> weak_order(make_table(fields, {}))[0].tolist()
    [3, 2, 1, 0]
    """
    order, ends = rising(times(table, "hi"))
    settle_ties(order, ends, lambda rows: {name: table.field(name).take(pa.array(rows)) for name in KEYS})
    return order, ends


def settle_ties(order: Ints, ends: Ints, keys_of: Callable[[Ints], Mapping[str, pa.Array]]) -> None:
    """Puts rows that are in the order of their ends into the weak order; other keys are read where ends are equal."""
    equal = ends[1:] == ends[:-1]
    if equal.any():
        tied = np.flatnonzero(_beside(equal))
        rows = order[tied]
        order[tied] = rows[_by_keys(keys_of(rows))]


def rising(instants: Ints) -> tuple[Ints, Ints]:
    """The rows of instants from the earliest to the latest, and the instants so; of equal ones the first comes first.

    Where an instant and its row fit into one number, numbers are sorted, which is faster than rows are.

    >>> [column.tolist() for column in rising(np.array([7, 3, 7, 5]))]
    [[1, 3, 0, 2], [3, 5, 7, 7]]
    """
    rows = np.arange(len(instants))
    if (instants[1:] >= instants[:-1]).all():
        return rows, instants
    first, width = int(instants.min()), len(instants).bit_length()
    if int(instants.max()) - first >= 1 << (63 - width):
        rows = np.argsort(instants, kind="stable")
        return rows, instants[rows]
    numbers = instants - first
    numbers <<= width
    numbers |= rows
    numbers.sort()
    np.bitwise_and(numbers, (1 << width) - 1, out=rows)
    numbers >>= width
    numbers += first
    return rows, numbers


def _beside(equal: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each row whether it equals the one before or the one after it."""
    beside = np.zeros(len(equal) + 1, bool)
    beside[1:] |= equal
    beside[:-1] |= equal
    return beside


def _by_keys(columns: Mapping[str, pa.Array]) -> Ints:
    """Rows in the weak order; those that are equal there stay in their order."""
    counters = columns["seq"]
    counted, counter = np.asarray(counters.is_valid()).astype(np.int64), np.asarray(counters.fill_null(0))
    keys = (counter, counted, source_ranks(columns["source"]), np.asarray(columns["lo"]), np.asarray(columns["hi"]))
    order = np.lexsort(keys)
    changes = np.zeros(len(order) - 1, bool)
    for key in keys:
        changes |= np.diff(key[order]) != 0
    tied = np.flatnonzero(_beside(~changes))
    if len(tied):
        groups = np.concatenate([[0], np.cumsum(changes)])[tied]
        ids = columns["id"].take(pa.array(order[tied]))
        by_id = pc.sort_indices(
            pa.table({"group": groups, "id": ids}), sort_keys=[("group", "ascending"), ("id", "ascending")]
        )
        order[tied] = order[tied][np.asarray(by_id).astype(np.int64)]
    return order


def source_ranks(sources: pa.DictionaryArray) -> Ints:
    """For each row the rank of its source among those of the column, by its UTF-8 bytes."""
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
