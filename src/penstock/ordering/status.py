"""What the ordering stage says of itself: how far it is, what it holds, which source it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from penstock.ordering.places import NEVER, Ints
from penstock.ordering.tails import Floats


@dataclass(frozen=True)
class Counters:
    """How many events there were of each kind, and how long those consumed waited in all, in microseconds.

    ``out_of_order``: consumed although one that comes after it was (``best_effort`` only). ``disordered``: sent after
    a later one of the same source.

    >>> Counters(consumed=2, waited=10).mean_wait
    5.0
    """

    consumed: int = 0
    late: int = 0
    duplicate: int = 0
    out_of_order: int = 0
    disordered: int = 0
    waited: int = 0

    @property
    def mean_wait(self) -> float:
        """How long a consumed event waited on average, in microseconds."""
        return self.waited / self.consumed if self.consumed else 0.0


@dataclass(frozen=True)
class SourceStatus:
    """One source: what it has shown, when it was heard, and what came of it.

    ``shown`` is the end of its last stamp, or of its last heartbeat; ``None`` if there was none. ``delay`` is the usual
    time from an event to its arrival, in microseconds, where it is estimated.
    """

    name: str
    shown: int | None
    heard: int | None
    events: int
    late: int
    disordered: int
    delay: float | None


@dataclass(frozen=True)
class Status:
    """How far the input has come and why it is not further. Of sources there are columns, since they may be many.

    ``progress`` is exclusive: everything before it is settled. ``holding`` are the sources that nothing can go on
    without, unless the policy stops to wait for them; ``held`` events wait.
    """

    policy: str
    progress: int
    now: int
    held: int
    counters: Counters
    names: list[str]
    shown: Ints
    heard: Ints
    events: Ints
    late: Ints
    disordered: Ints
    delays: Floats | None
    holding: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def slowest(self, most: int = 10) -> Iterator[SourceStatus]:
        """The sources that have shown least, first those that hold everything up.

        >>> import numpy as np
        >>> from penstock.ordering.policies import guaranteed
        >>> from penstock.ordering.stage import Ordering
        >>> stage = Ordering(guaranteed(), ["door-1", "badge-7"])
        >>> ready = stage.heartbeat("door-1", at=5, arrival=6)
        >>> [(source.name, source.shown) for source in stage.status().slowest()]
        [('badge-7', None), ('door-1', 5)]
        """
        count = min(most, len(self))
        chosen = np.argpartition(self.shown, count - 1)[:count] if 0 < count < len(self) else np.arange(len(self))
        for at in sorted(chosen.tolist(), key=lambda at: (int(self.shown[at]), self.names[at])):
            delay = None if self.delays is None or np.isnan(self.delays[at]) else float(self.delays[at])
            yield SourceStatus(
                name=self.names[at],
                shown=_instant(self.shown[at]),
                heard=_instant(self.heard[at]),
                events=int(self.events[at]),
                late=int(self.late[at]),
                disordered=int(self.disordered[at]),
                delay=delay,
            )


def _instant(at: int) -> int | None:
    return None if at == NEVER else int(at)
