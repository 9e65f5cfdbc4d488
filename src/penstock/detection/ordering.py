"""The order of results: by the end of the stamp, its beginning, type, the leaves one by one, and at last the id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.engine.kept import Kept
from penstock.engine.sorting import rows_in_order
from penstock.events.table import EventTable

Ints = NDArray[np.int64]


def output_order(
    stamps: tuple[Ints, Ints], types: Ints, leaf_offsets: Ints, leaves: Ints, id_words: Sequence[NDArray[np.uint64]]
) -> Ints:
    """The rows of composites in the order of results; ``types`` are ranks, leaves numbers in the order of the input."""
    lo, hi = stamps
    return rows_in_order((hi, lo, types), leaf_offsets, leaves, id_words)


def leaf_ranks(events: Kept[EventTable], leaves: Ints) -> Ints:
    """For rows of events their ranks in the order of the input; rows of the same event have the same."""
    rows, codes = np.unique(leaves, return_inverse=True)
    if not len(rows):
        return leaves
    pieces = [(where, _weak_keys(table.take(inside))) for table, where, inside in events.locate(rows)]
    whole = pa.concat_tables([keys for _, keys in pieces])
    order = np.asarray(pc.sort_indices(whole, sort_keys=[(name, "ascending", "at_start") for name in _WEAK]))
    ordered = whole.take(pa.array(order)).combine_chunks()
    changes = np.zeros(len(order), bool)
    for name in _WEAK:
        column = ordered[name].fill_null("" if name in ("source", "id") else -1)
        changes[1:] |= np.asarray(pc.not_equal(column[1:], column[:-1]))
    numbers = np.concatenate([where for where, _ in pieces])
    ranks = np.empty(len(rows), np.int64)
    ranks[numbers[order]] = np.cumsum(changes)
    return ranks[codes]


_WEAK = ("hi", "lo", "source", "seq", "id")


def _weak_keys(table: EventTable) -> pa.Table:
    columns = {name: table.field(name) for name in _WEAK}
    return pa.table(columns | {"source": columns["source"].cast(pa.string())})
