"""What a node says of itself: that it lives, what it hosts, how fast that goes, and what waits for which source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DetectorReport:
    """A detector at work: totals, how long a batch takes (milliseconds, median and 99 %), who holds it up.

    ``lost`` are messages that streams had let go of before they were read, ``held`` events that wait for their place,
    ``waits`` the sources that they wait for, ``away`` the inputs whose brokers cannot be reached.
    """

    name: str
    events: int = 0
    found: int = 0
    late: int = 0
    rejected: int = 0
    lost: int = 0
    held: int = 0
    live: int = 0
    delay: float = 0.0
    p50: float = 0.0
    p99: float = 0.0
    waits: tuple[str, ...] = ()
    away: tuple[str, ...] = ()
    reasons: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeReport:
    """A node; ``at`` is when it said so, in microseconds of its own clock, ``cpu`` the seconds of work it has done."""

    name: str
    site: str
    at: int = 0
    cpu: float = 0.0
    detectors: tuple[DetectorReport, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
