"""How often delays are how much longer than usual: histograms that forget, and what they say of longer ones still."""

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
SHARED = 256.0
"""What all groups have seen counts for each as so many delays of its own, at most."""
DOUBT = 0.7
"""By so many standard errors what is estimated may be too good."""
UPPER = 20.0
"""From so many of the longest delays it is read how the tail falls."""
FALLS, AFTER = 4.0, 2.0
"""Before any delay was seen the tail is taken to fall as if four had been, with two in the sum of their logarithms."""
BEYOND = 1.5
"""How tails fall beyond the last bin."""
_LOG: Floats = np.log1p(np.maximum(EDGES, 0.0))
_TAIL = int(np.searchsorted(EDGES, 1.0))
"""The first edge from which a delay is long."""


class Tails:
    """For each group the share of delays that are longer than so many spreads above the usual.

    Where many are known, they are counted, with what chance may add to so few. Beyond that a tail is taken to fall by a
    power, which is Hill's estimate from the longest ones, and again less than that for caution. So it is not believed
    of a delay that was never seen that it never comes; the fewer were seen, the less.

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
        if not len(delays):
            return
        used = int(groups.max()) + 1
        bins = np.clip(np.searchsorted(EDGES, delays, side="left"), 1, len(EDGES)) - 1
        more = np.bincount(groups * len(EDGES) + bins, minlength=used * len(EDGES))
        counts = self.counts[:used]
        counts += more.reshape(counts.shape)
        counts *= np.minimum(1.0, MEMORY / np.maximum(counts.sum(axis=1), 1.0))[:, None]
        self._tables = None

    def longer(self, groups: Ints, delays: Floats) -> tuple[Floats, Floats]:
        """The share of longer delays, and by how much delays are longer on average (0 where they are not)."""
        shares, excess = self._table()
        groups = np.minimum(groups, len(shares) - 1)
        places = np.arcsinh(np.clip(delays, EDGES[0], EDGES[-1])) / STEP - FIRST
        at = np.clip(places.astype(np.int64), 0, len(EDGES) - 2)
        part = np.clip((delays - EDGES[at]) / (EDGES[at + 1] - EDGES[at]), 0.0, 1.0)
        share = shares[groups, at] * (1 - part) + shares[groups, at + 1] * part
        more = excess[groups, at] * (1 - part) + excess[groups, at + 1] * part
        beyond = np.maximum(delays / EDGES[-1], 1.0)
        return share / beyond**BEYOND, more / beyond ** (BEYOND - 1) + np.maximum(EDGES[0] - delays, 0.0)

    def _table(self) -> tuple[Floats, Floats]:
        """At each edge the share of longer delays, and the integral of that share from there on.

        There is a row for each group up to the last one that was used, and one for those that were not.
        """
        if self._tables is None:
            used = np.flatnonzero(self.counts.any(axis=1))
            counts = self.counts[: int(used[-1]) + 2 if len(used) else 1]
            whole = counts.sum(axis=0)
            mixed = counts + whole * min(1.0, SHARED / max(whole.sum(), 1.0))
            shares = _shares(mixed)
            areas = (shares[:, :-1] + shares[:, 1:]) / 2 * np.diff(EDGES)
            beyond = shares[:, -1:] * EDGES[-1] / (BEYOND - 1)
            excess = np.concatenate([areas, beyond], axis=1)[:, ::-1].cumsum(axis=1)[:, ::-1]
            self._tables = shares, excess
        return self._tables


def _shares(counts: Floats) -> Floats:
    """At each edge the share of delays that may be longer: counted in the body, and estimated in the tail."""
    longer = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
    total = longer[:, 0]
    # Where the tail begins: at the last edge beyond which there are enough, but not among what is usual.
    start = np.maximum((longer >= UPPER).sum(axis=1) - 1, _TAIL)
    rows = np.arange(len(counts))
    logs = np.concatenate([(_LOG[:-1] + _LOG[1:]) / 2, _LOG[-1:] + STEP / 2])
    sums = (counts * logs)[:, ::-1].cumsum(axis=1)[:, ::-1]
    upper = longer[rows, start]
    falls = (upper + FALLS) / (sums[rows, start] - upper * _LOG[start] + AFTER)
    falls *= 1 - DOUBT / np.sqrt(upper + FALLS)
    share = np.minimum((longer + DOUBT * np.sqrt(longer + 0.25) + 0.5) / (total[:, None] + 1), 1.0)
    share[:, 0] = 1.0
    fallen = share[rows, start][:, None] * np.exp(-falls[:, None] * (_LOG - _LOG[start][:, None]))
    tail: Floats = np.where(np.arange(len(EDGES)) > start[:, None], fallen, share)
    return tail
