"""Small batches by ``Detector.feed``: one event at a time, and a thousand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

import penstock
from penstock.bench.queries import Query
from penstock.bench.results import Measurement
from penstock.bench.streams import Stream
from penstock.bench.ways import OURS

SINGLE = 2_000
SIZES = (1, 1_000)
NOTE = "small batches were left out: there is no penstock.Detector yet"


def detector() -> Callable[..., Any] | None:
    """The class of detectors, if there is one."""
    return getattr(penstock, "Detector", None)


def measure(make: Callable[..., Any], stream: Stream, query: Query) -> list[Measurement]:
    """Events as dicts, fed in batches of each size; the first tenth gets the detector warm and does not count."""
    return [_fed(make(query.pattern), stream, query, size) for size in SIZES]


def _fed(one: Any, stream: Stream, query: Query, size: int) -> Measurement:
    count = min(stream.events, SINGLE if size == 1 else 200 * size)
    events = as_dicts(replace(stream, events=count))
    batches = [events[start : start + size] for start in range(0, count, size)]
    times, found = [], 0
    for batch in batches:
        start = time.perf_counter()
        found += len(one.feed(batch))
        times.append(time.perf_counter() - start)
    found += len(one.finish())
    counted = times[len(times) // 10 :]
    part = replace(stream, events=sum(map(len, batches[len(times) // 10 :])))
    more = {"batch": size, "median": median(counted), "slowest": max(counted)}
    return Measurement("feeding", part, query.name, OURS, sum(counted), found=found, more=more)


def as_dicts(stream: Stream) -> list[dict[str, Any]]:
    """The events as a program would hand them over.

    >>> sorted(as_dicts(Stream("main", 1, 1))[0])
    ['data', 'id', 'source', 'time', 'type']
    """
    rows = stream.table().to_pylist()
    return [
        {"type": row["type"], "source": "s", "id": row["id"], "time": row["time"], "data": {"k": row["k"]}}
        for row in rows
    ]
