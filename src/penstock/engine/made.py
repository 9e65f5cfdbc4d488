"""What the kernel gives for a batch: composites, and runs that came to nothing, by column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from penstock.engine.memory import Ints


@dataclass(frozen=True)
class Made:
    """Composites of one batch: ``place`` is that of the batch which completed each, or -1 − timer.

    The parts of a composite are rows ``offsets[i]`` to ``offsets[i + 1]`` of ``symbols`` and ``labels``.
    """

    instance: Ints
    lo: Ints
    hi: Ints
    place: Ints
    offsets: Ints
    symbols: Ints
    labels: Ints
    kinds: Ints
    values: Ints

    def __len__(self) -> int:
        return len(self.lo)


@dataclass(frozen=True)
class Ended:
    """Runs that came to nothing: what they had matched, when each ended and the number of the reason."""

    instance: Ints
    lo: Ints
    hi: Ints
    at: Ints
    reason: Ints
    offsets: Ints
    symbols: Ints
    labels: Ints

    def __len__(self) -> int:
        return len(self.lo)

    def as_made(self, selects: int) -> Made:
        """What they had matched, as composites without selected values."""
        count = len(self)
        none = np.zeros((count, selects), np.int64)
        places = np.zeros(count, np.int64)
        return Made(self.instance, self.lo, self.hi, places, self.offsets, self.symbols, self.labels, none, none)


def joined(some: list[Made]) -> Made:
    """Composites of several stretches of a batch as one."""
    some = [one for one in some if len(one)] or some[:1]
    if len(some) == 1:
        return some[0]
    ends = np.cumsum([0, *(len(one.symbols) for one in some)])
    offsets = [one.offsets[:-1] + start for one, start in zip(some, ends, strict=False)]
    names = [name for name in Made.__dataclass_fields__ if name != "offsets"]
    arrays = {name: np.concatenate([getattr(one, name) for one in some]) for name in names}
    return Made(offsets=np.concatenate([*offsets, ends[-1:]]), **arrays)


@cache
def nothing_made(selects: int) -> Made:
    """No composites, which would select so many values."""
    none: Ints = np.zeros(0, np.int64)
    values: Ints = np.zeros((0, selects), np.int64)
    return Made(none, none, none, none, np.zeros(1, np.int64), none, none, values, values)
