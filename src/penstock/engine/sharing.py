"""Rows that are shared out over buckets: which bucket each is for, and the rows of each bucket together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.engine.compiled import compiled
from penstock.engine.memory import Ints
from penstock.engine.pointers import code_at, pointer
from penstock.events.texts import FACTOR, SHIFT

HIGH = np.uint64(33)
"""By so much hashes are shifted: the upper bits of a product depend on all bits of what is multiplied."""


def buckets_of_numbers(numbers: Ints, seed: int, buckets: int) -> Ints:
    """The bucket of each number, by the upper bits of `penstock.events.texts.mixed`.

    >>> from penstock.events.texts import mixed
    >>> numbers = np.arange(5)
    >>> hashes = mixed(np.full(5, 2, np.uint64), numbers.view(np.uint64))
    >>> buckets_of_numbers(numbers, 2, 7).tolist() == ((hashes >> HIGH) % np.uint64(7)).tolist()
    True
    """
    found: Ints = np.empty(len(numbers), np.int64)
    share_numbers(numbers.ctypes.data, np.uint64(seed), buckets, found)
    return found


def in_shares(rows: Ints, buckets: Ints, count: int) -> tuple[Ints, Ints]:
    """Rows in the order of their buckets, those of one bucket as they stand, and where each bucket begins and ends.

    There are so many buckets, from 0 on, and each row is for one of them.

    >>> rows, bounds = in_shares(np.array([5, 6, 7]), np.array([2, 0, 2]), 3)
    >>> rows.tolist(), bounds.tolist()
    ([6, 5, 7], [0, 1, 1, 3])
    """
    shared: Ints = np.empty(len(rows), np.int64)
    bounds: Ints = np.zeros(count + 1, np.int64)
    share_rows(rows, buckets, shared, bounds)
    return shared, bounds


def counts_of(codes: NDArray[Any], names: int) -> Ints:
    """How often each of so many names is there, which rows have by number.

    >>> [counts_of(np.array([2, 0, 2], kind), 3).tolist() for kind in (np.int8, np.int16)]
    [[1, 0, 2], [1, 0, 2]]
    """
    found: Ints = np.zeros(max(names, 1), np.int64)
    plain = codes if codes.itemsize in (1, 4) else codes.astype(np.int32)
    count_codes(plain.ctypes.data, plain.itemsize, len(plain), found)
    return found[:names]


@compiled
def share_numbers(numbers, seed, buckets, found):
    """Writes down the bucket of each number at an address."""
    given = pointer(numbers)
    mask = buckets - 1 if buckets & (buckets - 1) == 0 else -1
    for row in range(found.shape[0]):
        whole = np.uint64(given[row]) * FACTOR
        whole = ((whole ^ (whole >> SHIFT)) * FACTOR ^ seed) * FACTOR
        found[row] = np.int64(whole >> HIGH) & mask
    if mask < 0:
        for row in range(found.shape[0]):
            found[row] %= buckets


@compiled
def share_rows(rows, buckets, shared, bounds):
    """Writes down rows in the order of their buckets, and where these begin and end."""
    for place in range(rows.shape[0]):
        bounds[buckets[place] + 1] += 1
    for bucket in range(1, bounds.shape[0]):
        bounds[bucket] += bounds[bucket - 1]
    free = bounds.copy()
    for place in range(rows.shape[0]):
        bucket = buckets[place]
        shared[free[bucket]] = rows[place]
        free[bucket] += 1


@compiled
def count_codes(codes, width, rows, found):
    """Adds up how often each code is there, of those at an address, which take so many bytes each."""
    for row in range(rows):
        found[code_at(codes, row, width)] += 1
