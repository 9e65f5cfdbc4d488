"""``probabilistic(p)``: consume what is probably complete, and learn from having been wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.ordering.bounds import Bound, up_to
from penstock.ordering.estimates import Estimates
from penstock.ordering.meeting import Met
from penstock.ordering.places import FAR, NEVER, Ints
from penstock.ordering.sources import Sources

REMEMBERED = 1 << 16
"""So many of the events consumed last can be found to have been consumed too early."""
AIM = 0.6
"""The share of wrong consumptions aimed at, as a part of what is allowed: estimates are never exact."""
LEARNING = 0.1
"""How much caution one wrong consumption adds, in logarithms."""
FIRST_CAUTION = math.log(2)
"""Before anything has been learnt."""
MOST_CAUTION = math.log(1e5)
LONGEST = 1 << 50
"""Nothing is waited for longer than this, some 35 years, in microseconds."""
FINEST = 1000
"""Bounds are not looked for more finely than this, in microseconds."""
FINENESS = 0.02
"""Or than this part of the delay."""
MANY = 4096
"""Where there are more sources, it is not looked again before time has gone on by as much."""


class ProbableRule:
    """The bound up to which nothing is under way with probability ``p``, by the estimates and by experience.

    Estimates are corrected by a factor, the *caution*: an event that comes too late shows which consumptions were
    wrong, and each raises it; each right one lowers it a little. So in the long run the share of wrong ones stays
    below 1 − p even where delays follow no law that the estimates know.
    """

    def __init__(self, p: float) -> None:
        self.allowed = 1 - p
        self.estimates = Estimates()
        self.caution = FIRST_CAUTION
        self.newest = NEVER
        self.reached = NEVER
        self.delay = 0
        self.looked = NEVER
        self.recent: Ints = np.zeros(0, np.int64)
        self.wrong: NDArray[np.bool_] = np.zeros(0, bool)

    def meet(self, met: Met) -> None:
        """Learns delays and rates."""
        self.newest = max(self.newest, int(met.last.max()))
        self.estimates.meet(met)

    def notice(self, source: int, at: int, came: int) -> None:
        """Learns a delay."""
        self.newest = max(self.newest, at)
        self.estimates.notice(np.array([source]), np.zeros(1, np.int64), np.array([at]), np.array([came]))

    def bound(self, sources: Sources, now: int) -> Bound:
        """What is stable, and what is so with enough probability."""
        place = sources.stable()
        if place.hi == FAR or now == NEVER:
            return Bound(place, place.hi)
        self.reached = max(self.reached, place.hi, self._probable(sources, now))
        return Bound(up_to(self.reached), self.reached) if self.reached > place.hi else Bound(place, place.hi)

    def _probable(self, sources: Sources, now: int) -> int:
        """The latest end before which nothing is under way, with enough probability."""
        least = max(self.reached, sources.lowest.least()[0])
        if len(sources) > MANY and now - self.looked < max(FINEST, FINENESS * self.delay):
            return least
        self.looked = now
        most = max(self.newest, self.estimates.furthest(sources, now))
        if most <= least:
            return least
        outlook = self.estimates.outlook(sources, now)
        risk = -math.log1p(-self.allowed * math.exp(-self.caution))
        if outlook.under_way(most) <= risk:
            return most
        # The last delay is a good guess, and so is a little less or more than it.
        guesses = [now - round(self.delay * part) for part in (1.0, 0.95, 1.05, 2.0)]
        least = max(least, now - LONGEST)
        while most - least > max(FINEST, FINENESS * (now - most)):
            inside = [guess for guess in guesses if least < guess < most]
            middle = inside[0] if inside else (least + most) // 2
            if outlook.under_way(middle) <= risk:
                least = middle
            else:
                most = middle
        self.delay = now - least
        return least

    def judge(self, consumed: Ints, late: Ints) -> None:
        """Raises or lowers the caution; what came late was under way when all that is behind it was consumed."""
        if len(late):
            first = int(np.searchsorted(self.recent, late.min(), side="right"))
            errors = int(np.count_nonzero(~self.wrong[first:]))
            self.wrong[first:] = True
            self.caution += LEARNING * errors
        self.caution -= LEARNING * AIM * self.allowed * len(consumed)
        self.caution = min(max(self.caution, 0.0), MOST_CAUTION)
        if len(consumed):
            self.recent = np.concatenate([self.recent, consumed])[-REMEMBERED:]
            self.wrong = np.concatenate([self.wrong, np.zeros(len(consumed), bool)])[-REMEMBERED:]

    def forget(self, source: int) -> None:
        """A source has left."""
        self.estimates.forget(source)

    def save(self) -> dict[str, Any]:
        """All that was learnt."""
        numbers = {name: getattr(self, name) for name in ("caution", "newest", "reached", "delay", "looked")}
        arrays = {"recent": self.recent, "wrong": self.wrong.astype(np.int64), "tails": self.estimates.tails.counts}
        return numbers | arrays | self.estimates.columns | {"began": self.estimates.began}

    def load(self, state: dict[str, Any]) -> None:
        """The same."""
        for name in ("caution", "newest", "reached", "delay"):
            setattr(self, name, state[name])
        self.looked = state.get("looked", NEVER)
        self.recent, self.wrong = state["recent"], state["wrong"].astype(bool)
        self.estimates.load(state)
