"""What a way found, in a form in which all ways can be compared: how much, and a sum over every part of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Matches:
    """The ids and stamps of all matched events, match after match; a match begins at each offset but the last."""

    offsets: Ints
    ids: Ints
    stamps: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def checksum(self) -> int:
        """A sum over all parts, with their places in their matches; the order of the matches does not count.

        >>> one = Matches(np.array([0, 2]), np.array([5, 6]), np.array([1, 2]))
        >>> two = Matches(np.array([0, 2]), np.array([6, 5]), np.array([2, 1]))
        >>> one.checksum() == one.checksum(), one.checksum() == two.checksum()
        (True, False)
        """
        lengths = np.diff(self.offsets)
        starts = np.repeat(self.offsets[:-1], lengths)
        places = np.arange(len(self.ids)) - starts
        return int(_mixed(self.ids[starts], self.ids, self.stamps, places).sum(dtype=np.uint64))


def _mixed(first: Ints, ids: Ints, stamps: Ints, places: Ints) -> NDArray[np.uint64]:
    """One number of four, in which each bit of them counts; CepBenchmark.java has the same."""
    one, two, three = (np.uint64(factor) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
    mixed: NDArray[np.uint64] = first.astype(np.uint64) * one + ids.astype(np.uint64) * two
    mixed += stamps.astype(np.uint64) * three + places.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * one
    mixed ^= mixed >> np.uint64(29)
    return mixed


def of_columns(table: pa.Table) -> Matches:
    """Matches from the columns ``id_0``, ``time_0``, ``id_1``, ``time_1``, …; a column may have lists of parts.

    >>> found = of_columns(pa.table({"id_0": ["7"], "time_0": [1], "id_1": [["8", "9"]], "time_1": [[2, 3]]}))
    >>> found.offsets.tolist(), found.ids.tolist()
    ([0, 3], [7, 8, 9])
    """
    places = range(table.num_columns // 2)
    columns = [_lists(table[f"id_{place}"]) for place in places]
    lengths = np.sum([np.diff(offsets) for offsets, _ in columns], axis=0, dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids, stamps = np.zeros(offsets[-1], np.int64), np.zeros(offsets[-1], np.int64)
    filled = offsets[:-1].copy()
    for place, (ends, values) in enumerate(columns):
        sizes = np.diff(ends)
        at = np.repeat(filled - ends[:-1], sizes) + np.arange(len(values))
        ids[at] = values
        stamps[at] = _lists(table[f"time_{place}"])[1]
        filled += sizes
    return Matches(offsets, ids, stamps)


def _lists(column: pa.ChunkedArray) -> tuple[Ints, Ints]:
    """Offsets and values of a column of lists; one of single values has lists of one."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_list(whole.type) or pa.types.is_large_list(whole.type):
        offsets = np.asarray(whole.offsets).astype(np.int64)
        return offsets - offsets[0], whole_numbers(whole.flatten())
    return np.arange(len(whole) + 1), whole_numbers(whole)


def whole_numbers(column: pa.Array) -> Ints:
    """Ids or stamps as numbers, whatever they came as.

    >>> whole_numbers(pa.array(["12"])).tolist()
    [12]
    """
    return np.asarray(column.cast(pa.int64()))
