"""Detection while a scenario runs: what comes in is taken, and how far detection has come can be asked at any time.

There is one protocol, so that a scenario does not know where its patterns are detected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from penstock.algebra.pattern import Pattern
from penstock.detection.composites import Composites
from penstock.detection.detector import Detector
from penstock.testing.simulator import Arrival


@dataclass(frozen=True)
class Progress:
    """How far detection has come.

    Attributes:
        consumed: Events that were put in order and consumed.
        live: Runs that wait.
        late: Events that came after their place had passed.
        composites: What was detected so far.
        delay: How long a consumed event waited until it was stable, on average, in microseconds of the scenario.
    """

    consumed: int = 0
    live: int = 0
    late: int = 0
    composites: int = 0
    delay: float = 0.0


class Live(Protocol):
    """Detects while events come in."""

    def take(self, arrival: Arrival) -> None:
        """Events and heartbeats came in."""

    def progress(self) -> Progress:
        """How far it is."""

    def finish(self) -> Composites:
        """Nothing more comes: all that was detected."""

    def stop(self) -> None:
        """Ends what was started, whether or not it was finished."""


class InProcess:
    """Detection in this process, under the ``guaranteed`` policy.

    >>> from penstock import parse
    >>> from penstock.testing.simulator import SECOND, SimulatedSource, simulate
    >>> detection = InProcess(parse("[A(k = $k)] ; [B(k = $k)] within 5 s"), ["a", "b"])
    >>> for arrival in simulate([SimulatedSource("a"), SimulatedSource("b")], seconds=20, seed=1).arrivals(SECOND):
    ...     detection.take(arrival)
    >>> len(detection.finish()) == detection.progress().composites > 0
    True
    """

    def __init__(self, pattern: Pattern, sources: list[str]) -> None:
        self._detector = Detector(pattern, sources=sources)
        self._found: list[pa.Table] = []

    def take(self, arrival: Arrival) -> None:
        """Events come first: a heartbeat promises nothing of what was sent before it."""
        self._keep(self._detector.feed(arrival.table, arrival=arrival.at))
        if arrival.heartbeats:
            promised = {beat.source: beat.at for beat in arrival.heartbeats}
            self._keep(self._detector.heartbeats(promised, arrival=arrival.at))

    def _keep(self, found: Composites) -> None:
        if len(found):
            self._found.append(found.table)

    def progress(self) -> Progress:
        """What the detector counts."""
        told = self._detector.counters
        return Progress(told.consumed, told.live, told.late, told.matched, told.delay)

    def finish(self) -> Composites:
        """Whatever is still held is consumed."""
        last = self._detector.finish()
        return Composites(pa.concat_tables([*self._found, last.table], promote_options="permissive"))

    def stop(self) -> None:
        """Nothing was started."""
