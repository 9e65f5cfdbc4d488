"""Each source's delay and rate, estimated as events come in, and what may still be under way.

Events of a source happen at its rate, each is delayed as its earlier ones were, and none overtakes another. So a source
that has shown nothing for a while has sent nothing since, or its next event is still under way and all others wait
behind it, or it has died. Each of these has a likelihood: that there was no event; that there was a first one, at some
time, with so long a delay; that it died. What is under way before an instant has the probability of those first events
that were sent before it. The product over all sources is the probability that nothing is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.ordering.meeting import Met
from penstock.ordering.places import NEVER, Ints
from penstock.ordering.sources import Sources
from penstock.ordering.tails import GROUPS, Floats, Tails

MEMORY = 64.0
"""So many delays and gaps of a source are remembered; older ones fade."""
FINEST = 1000.0
"""Spreads are not taken to be finer than this, in microseconds."""
UNSURE = 1e6
"""What the first delay and gap may be off by, in microseconds; more of them make sure."""
BEFORE = 10.0
"""What a source that was never heard may have sent before, in spreads of delay."""
DEATH = 1e-4
"""How likely a source is to stop for ever after an event."""
EARLY = 3.0
"""No event is taken to come earlier than usual by more than so many spreads."""
FURTHEST = 8.0
"""What is further from the usual, in spreads, changes what is usual no more than that: one long delay says little."""
MANY = 1 << 16
"""Of so many events that came at different times delays are learnt, and no more: the last ones."""
COLUMNS = ("delays", "usual", "spread", "gaps", "span")


@dataclass(frozen=True)
class Outlook:
    """What may be under way at an instant, a row for each source.

    Ages are of events not yet seen, in microseconds: ``oldest`` is that of an event sent right after the last one that
    was shown, and nothing younger than ``youngest`` can have come. Between them the likelihood of a first event falls
    with the time since ``oldest``; it is taken in ``pieces``: the integral of the share of longer delays from each
    bound on, and the weight of each piece. ``whole`` is the likelihood of all that may be. ``weights`` are events
    expected in a spread of time, and ``astray`` is the share of those that come after later ones nevertheless.
    """

    tails: Tails
    now: int
    groups: Ints
    oldest: Floats
    youngest: Floats
    usual: Floats
    spread: Floats
    rates: Floats
    pieces: Floats
    heights: Floats
    whole: Floats
    astray: Floats

    def under_way(self, at: int) -> float:
        """How much there may be before ``at``: minus the logarithm of the probability that nothing is."""
        age = float(self.now - at)
        tail = self._excess(np.maximum(age, self.youngest))
        waiting = self._first(tail)
        sent = np.minimum(self.oldest, self.youngest)
        late = np.exp(-self.rates * np.maximum(self.oldest - sent, 0.0))
        waiting += np.where(age < sent, late - late * np.exp(-self.rates * np.maximum(sent - age, 0.0)), 0.0)
        share = np.minimum(waiting / self.whole, _MOST)
        overtaken = self.astray * self.rates * self.spread * tail
        return float((overtaken - np.log1p(-share)).sum())

    def _excess(self, ages: Floats) -> Floats:
        return self.tails.longer(self.groups, np.minimum((ages - self.usual) / self.spread, 1e12))[1]

    def _first(self, tail: Floats) -> Floats:
        """The likelihood of a first event that is older than an age, of which the tail is given."""
        within = np.clip(tail, self.pieces[:-1], self.pieces[1:]) - self.pieces[:-1]
        found: Floats = (within * self.heights).sum(axis=0)
        return found


def _outlook(
    tails: Tails, now: int, groups: Ints, oldest: Floats, delays: tuple[Floats, Floats], rates: Floats, astray: Floats
) -> Outlook:
    """What may be under way, from the rates and delays of sources and the ages of what they have shown."""
    usual, spread = delays
    youngest = np.minimum(usual - EARLY * spread, oldest)
    ages = np.maximum(oldest - _CUTS[:, None] / rates, youngest)
    pieces = tails.longer(groups, np.minimum((ages - usual) / spread, 1e12))[1]
    heights = _HEIGHTS[:, None] * rates * spread
    nothing = np.exp(-rates * np.maximum(oldest - youngest, 0.0))
    look = Outlook(tails, now, groups, oldest, youngest, usual, spread, rates, pieces, heights, nothing + DEATH, astray)
    return replace(look, whole=look.whole + look._first(pieces[-1]))


_CUTS: Floats = np.array([0.0, 0.5, 1.5, 4.0, 10.0, 30.0])
_HEIGHTS: Floats = -np.diff(np.exp(-_CUTS)) / np.diff(_CUTS)
"""Times since the last event that was shown, in mean gaps, and how likely in between nothing has been sent before."""
_MOST = 1 - 1e-12


class Estimates:
    """Columns of numbers for each source: how many delays, their mean and spread; how many gaps, and their sum.

    >>> sources, estimates = Sources(), Estimates()
    >>> numbers, at = sources.numbers(["a"]), np.arange(1, 11) * 1_000_000
    >>> none, shown = np.zeros(1, np.int64), (at[:1], at[-1:])
    >>> estimates.meet(Met(numbers, none.repeat(10), at, at + 50_000, none + 10, *shown, none, none, none == 1))
    >>> sources.show(numbers, at[-1:], at[-1:], at[-1:] + 50_000)
    >>> [round(estimates.outlook(sources, now).under_way(12_000_000), 2) for now in (12_010_000, 12_060_000)]
    [0.07, 0.05]
    """

    def __init__(self) -> None:
        self.columns: dict[str, Floats] = {name: np.zeros(0) for name in COLUMNS}
        self.tails = Tails()
        self.began = NEVER

    def meet(self, met: Met) -> None:
        """Events came: how late, and how long after those before them."""
        first = met.first
        if met.came_together():
            self.notice(met.sources, np.arange(len(first)), first, np.broadcast_to(met.came[-1:], len(first)))
        else:
            rows = _leading(met.codes[-MANY:], met.came[-MANY:], met.ends[-MANY:]) + max(len(met.codes) - MANY, 0)
            used, codes = np.unique(met.codes[rows], return_inverse=True)
            self.notice(met.sources[used], codes, met.ends[rows], met.came[rows])
        gaps, span = self.columns["gaps"], self.columns["span"]
        known = met.before > NEVER
        since = np.where(known, met.before, first)
        gaps[met.sources] += met.counts - ~known
        span[met.sources] += np.maximum(met.last - since, 0)
        fade = np.minimum(1.0, MEMORY / np.maximum(gaps[met.sources], 1.0))
        gaps[met.sources] *= fade
        span[met.sources] *= fade

    def notice(self, met: Ints, codes: Ints, ends: Ints, came: Ints) -> None:
        """Events or heartbeats came: how late."""
        self._make_room(int(met.max()) + 1)
        self.began = int(came.min()) if self.began == NEVER else self.began
        late = (came - ends).astype(np.float64)
        count = np.bincount(codes, minlength=len(met)).astype(np.float64)
        seen, usual, spread = (self.columns[name] for name in COLUMNS[:3])
        centre = np.where(seen[met] > 0, usual[met], np.bincount(codes, weights=late) / count)
        scale = np.maximum(spread[met], FINEST)
        off = (late - centre[codes]) / scale[codes]
        known = (seen[met] >= 2)[codes]
        self.tails.add((met % GROUPS)[codes[known]], off[known])
        off = np.where(known, np.clip(off, -FURTHEST, FURTHEST), off)
        total = seen[met] + count
        usual[met] = centre + np.bincount(codes, weights=off) * scale / total
        spread[met] += (np.bincount(codes, weights=np.abs(off)) * scale - spread[met] * count) / total
        seen[met] = np.minimum(total, MEMORY)

    def load(self, state: Mapping[str, Any]) -> None:
        """Goes on from estimates that were saved."""
        self.columns = {name: state[name] for name in COLUMNS}
        self.tails.counts = state["tails"].reshape(self.tails.counts.shape)
        self.began = state["began"]

    def forget(self, number: int) -> None:
        """A source has left, and its number may be another's."""
        for column in self.columns.values():
            if number < len(column):
                column[number] = 0

    def outlook(self, sources: Sources, now: int) -> Outlook:
        """What may be under way now."""
        numbers = sources.current()
        self._make_room(int(numbers.max(initial=-1)) + 1)
        shown = sources.lowest.ends(numbers)
        silence = np.maximum(now - np.maximum(sources.heard[numbers], self.began), 0).astype(np.float64)
        usual, spread = self._delays(numbers)
        # One that was never heard may have sent something before anything came from others.
        oldest = np.where(shown == NEVER, silence + BEFORE * spread, now - shown.astype(np.float64))
        gaps, span = (self.columns[name][numbers] for name in COLUMNS[3:])
        rates = (gaps + 1) / (span + silence + UNSURE / (gaps + 1))
        events = np.maximum(sources.counts["events"][numbers], 1)
        astray = sources.counts["disordered"][numbers] / events
        return _outlook(self.tails, now, numbers % GROUPS, oldest, (usual, spread), rates, astray)

    def usual(self, numbers: Ints) -> Floats:
        """The mean delay of each source in microseconds; unknown (nan) where nothing came."""
        self._make_room(int(numbers.max(initial=-1)) + 1)
        return np.where(self.columns["delays"][numbers] > 0, self.columns["usual"][numbers], np.nan)

    def furthest(self, sources: Sources, now: int) -> int:
        """How far time may have come for the sources, as their usual delays have it."""
        usual = self.usual(sources.current())
        return int(now - np.nanmean(usual)) if np.isfinite(usual).any() else NEVER

    def _delays(self, numbers: Ints) -> tuple[Floats, Floats]:
        """Usual delay and spread; of a source that was never heard, those of all others."""
        seen, usual, spread = (self.columns[name] for name in COLUMNS[:3])
        heard = seen > 0
        if not heard.any():
            return np.zeros(len(numbers)), np.full(len(numbers), 1e12)
        own = seen[numbers]
        usual_here = np.where(own > 0, usual[numbers], usual[heard].mean())
        spread_here = np.where(own > 1, spread[numbers], np.maximum(spread[numbers], spread[heard].mean()))
        return usual_here, np.maximum(spread_here, FINEST) + UNSURE / np.maximum(own, 1.0) ** 2

    def _make_room(self, count: int) -> None:
        room = len(self.columns["delays"])
        if count > room:
            more = max(count, 2 * room) - room
            self.columns = {name: np.concatenate([column, np.zeros(more)]) for name, column in self.columns.items()}


def _leading(codes: NDArray[np.integer], came: Ints, ends: Ints) -> Ints:
    """The rows of events that waited behind no other: of those of one source that came together, the first."""
    order = np.lexsort((ends, came, codes))
    fresh = np.ones(len(order), bool)
    fresh[1:] = (np.diff(codes[order]) != 0) | (np.diff(came[order]) != 0)
    return order[fresh]
