"""What a node says of itself: that it lives, what it hosts, how fast that goes, and what waits for which source."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from penstock.network.running import Running

_SHOWN = 5


@dataclass(frozen=True)
class DetectorReport:
    """A detector at work: totals, how long a batch takes (milliseconds, median and 99 %), who holds it up.

    ``held`` are events that wait for their place, ``waits`` the sources that they wait for, ``away`` the inputs whose
    brokers cannot be reached.
    """

    name: str
    events: int = 0
    found: int = 0
    late: int = 0
    rejected: int = 0
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


def report_of(name: str, site: str, at: int, running: Iterable[Running], counts: Mapping[str, int]) -> NodeReport:
    """What a node says now."""
    detectors = sorted((detector_report(one) for one in running), key=lambda one: one.name)
    return NodeReport(name, site, at, round(time.process_time(), 3), tuple(detectors), dict(counts))


def detector_report(running: Running) -> DetectorReport:
    """How a detector does."""
    work, measures = running.work, running.measures
    status, counters = work.detecting.status(), work.detecting.counters
    took = np.array(measures.took or [0.0]) * 1000
    return DetectorReport(
        name=running.name,
        events=measures.events,
        found=measures.found,
        late=measures.late,
        rejected=sum(work.rejected.values()),
        held=status.held,
        live=counters.live,
        delay=round(counters.delay / 1000, 3),
        p50=round(float(np.percentile(took, 50)), 3),
        p99=round(float(np.percentile(took, 99)), 3),
        waits=tuple(status.holding[:_SHOWN]) if status.held else (),
        away=tuple(running.waits),
        reasons=dict(work.rejected.most_common(_SHOWN)),
    )
