"""The rule of each policy: how far the input may be consumed, from what the sources have shown and when."""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

import numpy as np

from penstock.ordering.bounds import Bound, up_to
from penstock.ordering.meeting import Met
from penstock.ordering.places import FAR, NEVER, Ints, Place
from penstock.ordering.policies import BestEffort, Delay, Guaranteed, Policy
from penstock.ordering.probable import ProbableRule
from penstock.ordering.sources import Sources

State = dict[str, Any]


class Rule(Protocol):
    """What the stage tells and asks."""

    def meet(self, met: Met) -> None:
        """Events came."""

    def notice(self, source: int, at: int, came: int) -> None:
        """A heartbeat came."""

    def bound(self, sources: Sources, now: int) -> Bound:
        """How far the input may be consumed now."""

    def judge(self, consumed: Ints, late: Ints) -> None:
        """What was consumed, in order, and which events turned out to be too late for it, by their ends."""

    def forget(self, source: int) -> None:
        """A source has left."""

    def save(self) -> State:
        """What must be kept, as numbers, lists and arrays."""

    def load(self, state: State) -> None:
        """Goes on from what was kept."""


class _Plain:
    """A rule that learns nothing from what comes."""

    def meet(self, met: Met) -> None:
        """Nothing."""

    def notice(self, source: int, at: int, came: int) -> None:
        """Nothing."""

    def judge(self, consumed: Ints, late: Ints) -> None:
        """Nothing."""

    def forget(self, source: int) -> None:
        """Nothing."""

    def save(self) -> State:
        """Nothing."""
        return {}

    def load(self, state: State) -> None:
        """Nothing."""


class StableRule(_Plain):
    """``guaranteed``: what every source has passed."""

    def bound(self, sources: Sources, now: int) -> Bound:
        """How far all sources have come."""
        place = sources.stable()
        return Bound(place, place.hi)


class WaitingRule(_Plain):
    """``guaranteed(max_wait)``: what every source has passed, and what has waited long enough.

    It keeps, for each batch, the arrivals at which something later than all before came, and how late that was. A
    heartbeat counts as well, so that timers do not wait for ever either.
    """

    def __init__(self, max_wait: int) -> None:
        self.max_wait = max_wait
        self.waiting: deque[tuple[Ints, Ints]] = deque()
        self.newest = NEVER
        self.due = NEVER

    def meet(self, met: Met) -> None:
        """Notes what is later than all before."""
        if met.came_together():
            self._note(met.came[-1:], np.array([met.last.max()]))
            return
        order = np.argsort(met.came, kind="stable")
        self._note(met.came[order], met.ends[order])

    def notice(self, source: int, at: int, came: int) -> None:
        """Notes how far a source says that it is."""
        self._note(np.array([came]), np.array([at + 1]))

    def _note(self, came: Ints, ends: Ints) -> None:
        highest = np.maximum.accumulate(np.append(self.newest, ends))
        records = np.flatnonzero(highest[1:] > highest[:-1])
        highest = highest[1:]
        if len(records):
            self.newest = int(highest[-1])
            came = np.maximum(came[records], self.waiting[-1][0][-1] if self.waiting else NEVER)
            self.waiting.append((came, highest[records]))

    def bound(self, sources: Sources, now: int) -> Bound:
        """What is stable, and what was there ``max_wait`` ago."""
        place = sources.stable()
        while self.waiting and self.waiting[0][0][0] + self.max_wait <= now:
            came, ends = self.waiting.popleft()
            count = int(np.searchsorted(came, now - self.max_wait, side="right"))
            self.due = max(self.due, int(ends[count - 1]))
            if count < len(came):
                self.waiting.appendleft((came[count:], ends[count:]))
                break
        return Bound(max(place, up_to(self.due)), max(place.hi, self.due))

    def save(self) -> State:
        """What waits, and what has waited long enough."""
        came, ends = (np.concatenate([np.zeros(0, np.int64), *(pair[n] for pair in self.waiting)]) for n in (0, 1))
        return {"came": came, "ends": ends, "newest": self.newest, "due": self.due}

    def load(self, state: State) -> None:
        """The same."""
        self.newest, self.due = state["newest"], state["due"]
        self.waiting = deque([(state["came"], state["ends"])] if len(state["came"]) else [])


class DelayRule(_Plain):
    """``delay(d)``: what is older by ``d`` than the newest stamp or arrival."""

    def __init__(self, d: int) -> None:
        self.d = d
        self.newest = NEVER

    def meet(self, met: Met) -> None:
        """Takes note of the newest."""
        self.newest = max(self.newest, int(met.last.max()))

    def notice(self, source: int, at: int, came: int) -> None:
        """Takes note of the newest."""
        self.newest = max(self.newest, at)

    def bound(self, sources: Sources, now: int) -> Bound:
        """What is older than the newest by more than ``d``."""
        newest = max(self.newest, now)
        passed = newest - self.d if newest > NEVER + self.d else NEVER
        return Bound(Place(passed, NEVER, b""), passed)

    def save(self) -> State:
        """The newest stamp."""
        return {"newest": self.newest}

    def load(self, state: State) -> None:
        """The same."""
        self.newest = state["newest"]


class ArrivalRule(_Plain):
    """``best_effort``: everything, at once; timers when an event or all sources are past them."""

    def __init__(self) -> None:
        self.newest = NEVER

    def meet(self, met: Met) -> None:
        """Takes note of the newest event."""
        self.newest = max(self.newest, int(met.last.max()))

    def bound(self, sources: Sources, now: int) -> Bound:
        """No bound for events."""
        stable = sources.lowest.least()[0]
        return Bound(up_to(FAR), max(self.newest, stable if stable < FAR else NEVER))

    def save(self) -> State:
        """The newest event."""
        return {"newest": self.newest}

    def load(self, state: State) -> None:
        """The same."""
        self.newest = state["newest"]


def rule_of(policy: Policy) -> Rule:
    """The rule of a policy.

    >>> from penstock.ordering.policies import delay
    >>> rule_of(delay("5 s")).bound(Sources(), 7_000_000).progress
    2000000
    """
    if isinstance(policy, BestEffort):
        return ArrivalRule()
    if isinstance(policy, Delay):
        return DelayRule(policy.d)
    if isinstance(policy, Guaranteed):
        return StableRule() if policy.max_wait is None else WaitingRule(policy.max_wait)
    return ProbableRule(policy.p)
