"""Times of several works beside each other: the best of some rounds, in which all take turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

PATIENCE = 20.0
"""Seconds after which a work has no more rounds."""

Work = Callable[[], Any]
Taken = Callable[[str, Any], None]
"""Told what each work gave in its first round."""


@dataclass(frozen=True)
class Time:
    """The least seconds on the clock and on processors, and how many rounds there were."""

    seconds: float
    cpu: float
    rounds: int


def best_times(works: Mapping[str, Work], rounds: int, taken: Taken) -> dict[str, Time]:
    """The best time of each work. They take turns, so that a busy moment of the machine concerns all of them.

    >>> given = {}
    >>> best_times({"sum": lambda: sum(range(10))}, 3, given.__setitem__)["sum"].rounds, given
    (3, {'sum': 45})
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for number in range(rounds):
        for name, work in works.items():
            if sum(seconds for seconds, _ in times[name]) > PATIENCE:
                continue
            seconds, cpu, value = timed(work)
            times[name].append((seconds, cpu))
            if not number:
                taken(name, value)
            del value
    return {
        name: Time(min(clock for clock, _ in measured), min(cpu for _, cpu in measured), len(measured))
        for name, measured in times.items()
    }


def timed(work: Work) -> tuple[float, float, Any]:
    """Seconds on the clock, seconds on processors, and what the work gave.

    >>> timed(lambda: 5)[2]
    5
    """
    gc.collect()
    start, busy = time.perf_counter(), time.process_time()
    value = work()
    return time.perf_counter() - start, time.process_time() - busy, value
