"""Each source's delay and rate, estimated as events come in, and what may still be under way.

Events of a source are taken to happen at its rate, each to be delayed as its earlier ones were. What it has shown is
there; of what it may have sent since, the expected number that has not come yet is its rate times the integral, over
the time since, of the share of delays that are longer. The exponential of minus the sum over all sources is the
probability that nothing is under way: the product of the sources' own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.ordering.places import FAR, NEVER, Ints
from penstock.ordering.sources import Sources
from penstock.ordering.tails import GROUPS, Floats, Tails

MEMORY = 64.0
"""So many delays and gaps of a source are remembered; older ones fade."""
FINEST = 1000.0
"""Spreads are not taken to be finer than this, in microseconds."""
UNSURE = 1e6
"""What the first delay may be off by, in microseconds; more of them make sure."""
DEATH = 1e-5
"""How likely a source is to stop for ever, beside being silent by chance."""
COLUMNS = ("delays", "usual", "spread", "gaps", "span")


@dataclass(frozen=True)
class Met:
    """Events that came: the sources met, each once, and for each event which of them it is, its end and arrival.

    ``before`` and ``last`` are the ends that these sources had shown before, and have shown now.
    """

    sources: Ints
    codes: Ints
    ends: Ints
    came: Ints
    before: Ints
    last: Ints


@dataclass(frozen=True)
class Outlook:
    """What may be under way at an instant, a row for each source.

    ``weights`` are events expected in a spread of time. ``passed`` is the part of the tail that has been shown, in
    spreads, and ``astray`` the share of events that come after later ones nevertheless.
    """

    tails: Tails
    now: int
    groups: Ints
    shown: Ints
    usual: Floats
    spread: Floats
    weights: Floats
    passed: Floats
    astray: Floats

    def under_way(self, at: int) -> float:
        """The expected number of events that end before ``at`` and have not come yet."""
        _, tail = self.tails.longer(self.groups, (self.now - at - self.usual) / self.spread)
        tail = np.where(self.shown < at, tail - (1 - self.astray) * self.passed, self.astray * tail)
        return float((self.weights * np.maximum(tail, 0.0)).sum())


class Estimates:
    """Columns of numbers for each source: how many delays, their mean and spread; how many gaps, and their sum.

    >>> sources, estimates = Sources(), Estimates()
    >>> numbers, at = sources.numbers(["a"]), np.arange(1, 11) * 1_000_000
    >>> estimates.meet(Met(numbers, np.zeros(10, np.int64), at, at + 50_000, np.array([0]), at[-1:]))
    >>> sources.show(numbers, at[-1:], at[-1:], at[-1:] + 50_000)
    >>> [round(estimates.outlook(sources, now).under_way(12_000_000), 2) for now in (12_010_000, 12_060_000)]
    [0.04, 0.0]
    """

    def __init__(self) -> None:
        self.columns: dict[str, Floats] = {name: np.zeros(0) for name in COLUMNS}
        self.tails = Tails()
        self.began = NEVER

    def meet(self, met: Met) -> None:
        """Events came: how late, and how long after those before them."""
        self.notice(met.sources, met.codes, met.ends, met.came)
        gaps, span = self.columns["gaps"], self.columns["span"]
        first = np.full(len(met.sources), FAR)
        np.minimum.at(first, met.codes, met.ends)
        known = met.before > NEVER
        since = np.where(known, met.before, first)
        gaps[met.sources] += np.bincount(met.codes, minlength=len(first)) - ~known
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
        mean = np.bincount(codes, weights=late) / count
        seen, usual, spread = (self.columns[name] for name in COLUMNS[:3])
        centre = np.where(seen[met] > 0, usual[met], mean)
        away = np.bincount(codes, weights=np.abs(late - centre[codes])) / count
        rows = np.flatnonzero((seen[met] >= 2)[codes])
        scale = np.maximum(spread[met], FINEST)
        self.tails.add((met % GROUPS)[codes[rows]], (late[rows] - centre[codes[rows]]) / scale[codes[rows]])
        total = seen[met] + count
        usual[met] += (mean - usual[met]) * count / total
        spread[met] += (away - spread[met]) * count / total
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
        usual, spread = self._delays(numbers)
        silence = np.maximum(now - np.maximum(sources.heard[numbers], self.began), 0).astype(np.float64)
        groups = numbers % GROUPS
        since = np.where(shown == NEVER, np.inf, now - shown.astype(np.float64))
        _, passed = self.tails.longer(groups, np.minimum((since - usual) / spread, 1e12))
        events = np.maximum(sources.counts["events"][numbers], 1)
        astray = sources.counts["disordered"][numbers] / events
        rates = self._rates(numbers, silence, usual, spread)
        return Outlook(self.tails, now, groups, shown, usual, spread, rates * spread, passed, astray)

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

    def _rates(self, numbers: Ints, silence: Floats, usual: Floats, spread: Floats) -> Floats:
        """Events a microsecond; less the longer a source is silent, for then it may have died."""
        gaps, span = (self.columns[name][numbers] for name in COLUMNS[3:])
        rates = (gaps + 1) / np.maximum(span + silence, 1.0)
        steady = np.where(gaps > 0, gaps / np.maximum(span, 1.0), 0.0)
        blocked, _ = self.tails.longer(numbers % GROUPS, (silence - usual) / spread)
        alive = np.minimum(1.0, np.exp(-np.minimum(steady * silence, 700.0)) + blocked)
        return rates * alive / (alive + DEATH)

    def _make_room(self, count: int) -> None:
        room = len(self.columns["delays"])
        if count > room:
            more = max(count, 2 * room) - room
            self.columns = {name: np.concatenate([column, np.zeros(more)]) for name, column in self.columns.items()}
