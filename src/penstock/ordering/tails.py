"""How often delays are how much longer than usual: histograms that forget, from which tails are read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from penstock.ordering.places import Ints

Floats = NDArray[np.float64]

GROUPS = 256
"""Sources share histograms if there are more of them."""
STEP = 0.2
FIRST, LAST = -16, 60
EDGES: Floats = np.sinh(STEP * np.arange(FIRST, LAST + 1))
"""Bounds of the bins, in spreads: as fine as the spread around the usual, ever coarser further out."""
MEMORY = 4096.0
"""So many delays are remembered in each group; older ones fade."""
SHARED = 8.0
"""What all groups have seen counts for each as so many delays of its own."""
UNSEEN = 0.5
"""What nobody has seen yet counts as so many, spread over a tail that falls slowly."""


def _unseen() -> Floats:
    survival = np.where(EDGES > 0, (1 + np.maximum(EDGES, 0)) ** -2.5, 1.0)
    return UNSEEN * np.append(survival[:-1] - survival[1:], survival[-1])


_PRIOR = _unseen()


class Tails:
    """For each group the share of delays that are longer than so many spreads above the usual.

    >>> tails = Tails()
    >>> tails.add(np.zeros(1000, np.int64), np.random.default_rng(1).exponential(1.0, 1000) - 1)
    >>> shares, _ = tails.longer(np.array([0, 0]), np.array([0.0, 1.0]))
    >>> shares.round(1).tolist()
    [0.4, 0.1]
    """

    def __init__(self) -> None:
        self.counts: Floats = np.zeros((GROUPS, len(EDGES)))
        self._tables: tuple[Floats, Floats] | None = None

    def add(self, groups: Ints, delays: Floats) -> None:
        """More delays, in spreads above the usual one of their source."""
        bins = np.clip(np.searchsorted(EDGES, delays, side="left"), 1, len(EDGES)) - 1
        more = np.bincount(groups * len(EDGES) + bins, minlength=self.counts.size)
        self.counts += more.reshape(self.counts.shape)
        totals = self.counts.sum(axis=1)
        self.counts *= np.minimum(1.0, MEMORY / np.maximum(totals, 1.0))[:, None]
        self._tables = None

    def longer(self, groups: Ints, delays: Floats) -> tuple[Floats, Floats]:
        """The share of longer delays, and by how much delays are longer on average (0 where they are not)."""
        shares, excess = self._table()
        places = np.arcsinh(np.clip(delays, EDGES[0], EDGES[-1])) / STEP - FIRST
        at = np.clip(places.astype(np.int64), 0, len(EDGES) - 2)
        part = np.clip((delays - EDGES[at]) / (EDGES[at + 1] - EDGES[at]), 0.0, 1.0)
        share = shares[groups, at] * (1 - part) + shares[groups, at + 1] * part
        more = excess[groups, at] * (1 - part) + excess[groups, at + 1] * part
        beyond = np.maximum(delays / EDGES[-1], 1.0)
        return share / beyond**2.5, more / beyond**1.5 + np.maximum(EDGES[0] - delays, 0.0)

    def _table(self) -> tuple[Floats, Floats]:
        """At each edge the share of longer delays, and the integral of that share from there on."""
        if self._tables is None:
            whole = self.counts.sum(axis=0) + _PRIOR
            mixed = self.counts + SHARED * whole / whole.sum() + _PRIOR
            mixed /= mixed.sum(axis=1, keepdims=True)
            shares = mixed[:, ::-1].cumsum(axis=1)[:, ::-1]
            shares = np.concatenate([np.ones((GROUPS, 1)), shares[:, 1:]], axis=1)
            areas = (shares[:, :-1] + shares[:, 1:]) / 2 * np.diff(EDGES)
            beyond = shares[:, -1:] * EDGES[-1] / 1.5
            excess = np.concatenate([areas, beyond], axis=1)[:, ::-1].cumsum(axis=1)[:, ::-1]
            self._tables = shares, excess
        return self._tables
