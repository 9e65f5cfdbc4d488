"""Rows by several keys, most of which stand in order as they are, or are told apart by the first key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.engine.memory import Ints


class Ordering:
    """Rows in order; each further key tells apart only those that are equal in the keys before.

    >>> ordering = Ordering(np.array([2, 1, 2]))
    >>> ordering.refine(np.array([5, 5, 4]))
    >>> ordering.rows.tolist()
    [1, 2, 0]
    """

    def __init__(self, key: Ints) -> None:
        is_ordered = bool((key[1:] >= key[:-1]).all())
        self.rows: Ints = np.arange(len(key)) if is_ordered else np.argsort(key, kind="stable")
        self._is_tied = np.zeros(len(key), bool)
        self._is_tied[1:] = np.diff(key[self.rows]) == 0

    @property
    def tied(self) -> Ints:
        """The rows that are equal to others, in order."""
        return self.rows[self._places()]

    def refine(self, key: NDArray[np.integer]) -> None:
        """Orders what is tied by one more key, which has a value for each row, tied or not."""
        self.refine_tied(key[self.tied])

    def refine_tied(self, key: NDArray[np.integer]) -> None:
        """The same with a value for each row of `tied` only."""
        places = self._places()
        if not len(places):
            return
        tied = self._is_tied[places]
        if not (~tied[1:] | (key[1:] >= key[:-1])).all():
            inner = _sorted(np.cumsum(~tied), key)
            self.rows[places] = self.rows[places][inner]
            key = key[inner]
        self._is_tied[places[1:]] &= key[1:] == key[:-1]

    def _places(self) -> Ints:
        return np.flatnonzero(self._is_tied | np.append(self._is_tied[1:], False))


def _sorted(groups: Ints, key: NDArray[np.integer]) -> Ints:
    """Rows by group, which rises already, and key; as one number where that fits, since most then stand right."""
    low, high = int(key.min()), int(key.max())
    if int(groups[-1] + 1) * (high - low + 1) < 2**63:
        return np.argsort(groups * (high - low + 1) + (key - low).astype(np.int64), kind="stable")
    return np.lexsort((key, groups))


def rows_in_order(
    keys: Sequence[Ints], leaf_offsets: Ints, leaves: Ints, id_words: Sequence[NDArray[np.uint64]]
) -> Ints:
    """Rows in the order of some keys, then of their leaves one by one, then of the bytes of their ids.

    >>> same = np.array([5, 5])
    >>> rows_in_order((same, same), np.array([0, 2, 3]), np.array([1, 7, 1]), []).tolist()
    [1, 0]
    """
    ordering = Ordering(keys[0])
    for key in keys[1:]:
        ordering.refine(key)
    counts = np.diff(leaf_offsets)
    place = 0
    while len(tied := ordering.tied) and place < counts[tied].max():
        there = counts[tied] > place
        ordering.refine_tied(np.where(there, leaves[np.where(there, leaf_offsets[tied] + place, 0)], -1))
        place += 1
    for words in id_words:
        ordering.refine(words.byteswap())
    return ordering.rows
