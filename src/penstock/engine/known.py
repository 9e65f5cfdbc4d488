"""What is known of the symbols that a definition has met, while a run may need it."""

from __future__ import annotations

import numpy as np

from penstock.engine.growing import Growing
from penstock.engine.memory import Ints

MANY = 1 << 18
"""So many symbols are kept without asking whether a run holds them."""


class Symbols:
    """What a definition must know of its symbols, by their numbers: identities, and values that conditions read.

    Numbers are given anew when symbols are forgotten; identities rise in the order of the input, and stay. Those of the
    last ones are often their ranks in the input, and are written down only where somebody asks for them.
    """

    def __init__(self, columns: int) -> None:
        self._identities = Growing()
        self._unwritten = 0
        self.kinds = Growing(columns)
        self.values = Growing(columns)
        self._met = 0
        self._kept = 0

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._identities) + self._unwritten

    @property
    def identities(self) -> Growing:
        """Their identities."""
        if self._unwritten:
            self._identities.append_range(self._met - self._unwritten, self._met)
            self._unwritten = 0
        return self._identities

    def are_many(self, instances: int) -> bool:
        """Whether there are many more than were kept the last time; to forget some, all instances are looked at.

        Each symbol may have brought an instance of its own, so not all of these count.
        """
        return self.count > 2 * self._kept + MANY + instances // 2

    def add(self, ranks: Ints, read: tuple[Ints, Ints]) -> Ints:
        """More symbols, with their ranks in the order of the input; returns their identities."""
        identities = ranks + self._met
        self.identities.append(identities)
        self._met += len(ranks)
        self.kinds.append(read[0])
        self.values.append(read[1])
        return identities

    def add_next(self, count: int) -> int:
        """More symbols, in the order of the input, of which nothing is read; returns the first one's identity."""
        first, nothing = self._met, np.zeros((count, 0), np.int64)
        self._met += count
        self._unwritten += count
        self.kinds.append(nothing)
        self.values.append(nothing)
        return first

    @property
    def met(self) -> int:
        """How many there were in all."""
        return self._met

    def put(self, identities: Ints, kinds: Ints, values: Ints, met: int) -> None:
        """Symbols as they were saved."""
        self.identities.append(identities)
        self.kinds.append(kinds)
        self.values.append(values)
        self._met = met

    def keep(self, kept: Ints) -> None:
        """Forgets all but these, whose numbers rise."""
        written = len(self._identities)
        first = int(np.searchsorted(kept, written))
        late = kept[first:] - written + (self._met - self._unwritten)
        self._identities.keep(kept[:first])
        self._identities.append(late)
        self._unwritten = 0
        for one in (self.kinds, self.values):
            one.keep(kept)
        self._kept = len(kept)
