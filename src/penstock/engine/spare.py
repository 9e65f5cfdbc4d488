"""Memory that an engine no longer needs is kept for the next: the system takes longer to give it than we to clear it.

What is kept is given on when nothing refers to it any more, views of it included.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from penstock.engine.memory import Ints

LEAST = 1 << 15
"""Arrays of fewer words are not worth it."""
MOST = 1 << 23
"""So many words are kept, 64 MB, and no more."""
ROOMY = 4
"""An array is used where at most so many times as much is there as is wanted."""


class Spare:
    """Arrays that nobody uses."""

    def __init__(self) -> None:
        self._arrays: dict[int, Ints] = {}
        self._lent: dict[int, tuple[weakref.ref[Any], Ints]] = {}

    def __len__(self) -> int:
        """How many words there are."""
        return sum(map(len, list(self._arrays.values())))

    def blank(self, length: int) -> Ints:
        """So many zeros."""
        array = self._found(length)
        if array is None:
            return self._lend(np.zeros(length, np.int64), length)
        array[:length].view(np.uint8).fill(0)
        return self._lend(array, length)

    def unwritten(self, length: int) -> Ints:
        """Room for so many numbers; nobody knows which are there."""
        array = self._found(length)
        return self._lend(np.empty(length, np.int64) if array is None else array, length)

    def _found(self, length: int) -> Ints | None:
        """The smallest array that is long enough, and not far too long."""
        if length < LEAST:
            return None
        fitting = [(len(array), key) for key, array in list(self._arrays.items())]
        for _, key in sorted(one for one in fitting if length <= one[0] <= ROOMY * length):
            array = self._arrays.pop(key, None)
            if array is not None:  # another thread may have been faster
                return array
        return None

    def _lend(self, array: Ints, length: int) -> Ints:
        """So much of an array, all of which comes back when nobody refers to it any more."""
        if length < LEAST:
            return array
        seen = np.frombuffer(array.data, np.int64, length)
        known = weakref.ref(seen.base, self._take_back)
        self._lent[id(known)] = known, array
        return seen

    def _take_back(self, known: weakref.ref[Any]) -> None:
        self._keep(self._lent.pop(id(known))[1])

    def _keep(self, array: Ints) -> None:
        if len(self) + len(array) <= MOST:
            self._arrays[id(array)] = array


SPARE = Spare()
"""That of this process."""
