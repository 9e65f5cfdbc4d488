"""What a node says of itself, found out from the detectors that it hosts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

import numpy as np

from penstock.network.reports import DetectorReport, NodeReport
from penstock.network.running import Running

_SHOWN = 5
"""Of sources that are waited for, and of reasons for rejections, so many are told."""


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
        late=counters.late,
        rejected=sum(work.rejected.values()),
        lost=running.lost,
        held=status.held,
        live=counters.live,
        delay=round(counters.delay / 1000, 3),
        p50=round(float(np.percentile(took, 50)), 3),
        p99=round(float(np.percentile(took, 99)), 3),
        waits=tuple(status.holding[:_SHOWN]) if status.held else (),
        away=tuple(running.waits),
        reasons=dict(work.rejected.most_common(_SHOWN)),
    )
