"""Laws of delay for simulated networks: how long each event is under way, from a seeded random source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class DelayLaw(Protocol):
    """Draws the delay of each event that is sent at some instant; all in microseconds."""

    def draw(self, random: Generator, sent: Ints) -> Ints:
        """A delay for each instant of sending."""


@dataclass(frozen=True)
class Constant:
    """Always the same.

    >>> Constant(5).draw(np.random.default_rng(1), np.array([10, 20])).tolist()
    [5, 5]
    """

    delay: int

    def draw(self, random: Generator, sent: Ints) -> Ints:
        """The delay, for each."""
        return np.full(len(sent), self.delay)


@dataclass(frozen=True)
class Exponential:
    """At least ``least``, and beyond that memoryless, with a mean.

    >>> Exponential(1_000_000).draw(np.random.default_rng(1), np.zeros(10_000, np.int64)).mean().round(-5)
    np.float64(1000000.0)
    """

    mean: int
    least: int = 0

    def draw(self, random: Generator, sent: Ints) -> Ints:
        """A delay for each."""
        return self.least + random.exponential(self.mean, len(sent)).astype(np.int64)


@dataclass(frozen=True)
class HeavyTailed:
    """At least ``least``; longer than ``x`` times that with probability ``x ** -shape``.

    >>> delays = HeavyTailed(1000, 1.5).draw(np.random.default_rng(1), np.zeros(10_000, np.int64))
    >>> bool(delays.min() >= 1000), bool(delays.max() > 100_000)
    (True, True)
    """

    least: int
    shape: float = 2.0

    def draw(self, random: Generator, sent: Ints) -> Ints:
        """A delay for each; none is longer than a day."""
        return np.minimum(self.least * (1 + random.pareto(self.shape, len(sent))), 86_400e6).astype(np.int64)


@dataclass(frozen=True)
class Changing:
    """One law before an instant, another from then on.

    >>> Changing(Constant(1), Constant(9), at=15).draw(np.random.default_rng(1), np.array([10, 20])).tolist()
    [1, 9]
    """

    before: DelayLaw
    after: DelayLaw
    at: int

    def draw(self, random: Generator, sent: Ints) -> Ints:
        """A delay for each, by the law of its time."""
        return np.where(sent < self.at, self.before.draw(random, sent), self.after.draw(random, sent))
