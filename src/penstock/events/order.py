"""The order in which detectors meet events, and the removal of repeated ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.identity import content
from penstock.events.table import EventTable

_KEYS = ("hi", "lo", "source", "seq", "id")


def ordered(table: EventTable) -> tuple[EventTable, int]:
    """The events in the weak order without repeated ones, and how many those were.

    An event is repeated if another has the same source and id; the first in the order is kept.

    >>> from penstock.events.records import from_dicts
    >>> events = [{"type": "B", "id": "2", "time": 9}, {"type": "A", "id": "1", "time": 5}]
    >>> table, repeated = ordered(from_dicts([*events, *events]))
    >>> table.field("type").to_pylist(), repeated
    (['A', 'B'], 2)
    """
    names = _names(table)
    given = len(table)
    if len(np.unique(names)) < given:
        table = table.take(_ties_by_content(table, names))
        names = _names(table)
    order = _weak_order(table)
    _, first = np.unique(names[order], return_index=True)
    kept = order[np.sort(first)]
    is_as_given = len(kept) == given and bool((np.diff(kept) == 1).all())
    return (table if is_as_given else table.take(kept)), given - len(kept)


def _names(table: EventTable) -> npt.NDArray[np.int64]:
    """A number for each event, equal for those with the same source and id."""
    ids = np.asarray(table.field("id").dictionary_encode().indices).astype(np.int64)
    sources = np.asarray(table.field("source").indices).astype(np.int64)
    return sources * (int(ids.max(initial=0)) + 1) + ids


def _weak_order(table: EventTable) -> npt.NDArray[np.int64]:
    """Row numbers in the weak order; rows that are equal there stay in their order."""
    columns = {name: table.field(name) for name in _KEYS}
    columns["source"] = _ranks(columns["source"])
    keys = [(name, "ascending", "at_start") for name in _KEYS]
    return np.asarray(pc.sort_indices(pa.table(columns), sort_keys=keys)).astype(np.int64)


def _ranks(column: pa.DictionaryArray) -> pa.Array:
    """The rank of each value among the distinct ones, by its UTF-8 bytes."""
    return pc.rank(column.dictionary, tiebreaker="dense").take(column.indices)


def _ties_by_content(table: EventTable, names: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Row numbers with the repeated events in the order of what they say.

    So it depends on nothing else which of two is kept that are equal in the weak order.
    """
    _, places, counts = np.unique(names, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(counts[places] > 1)
    repeated = table.take(rows)
    columns = {"arrival": repeated.field("arrival"), "content": content(repeated)}
    keys = [(name, "ascending", "at_start") for name in columns]
    order = np.arange(len(table))
    order[rows] = rows[np.asarray(pc.sort_indices(pa.table(columns), sort_keys=keys))]
    return order
