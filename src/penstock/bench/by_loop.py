"""What one would write in plain Python: a loop over the events, with a dict of what waits for each key."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.bench.matches import Matches
from penstock.bench.queries import Query, Shape

Event = tuple[str, str, int, int]
"""Type, id, time and key."""
Found = list[list[Event]]


class Loop:
    """The loops over lists of Python objects."""

    def load(self, table: pa.Table) -> list[Event]:
        """The events as tuples."""
        columns = [table[name].to_pylist() for name in ("type", "id", "time", "k")]
        return list(zip(*columns, strict=True))

    def read(self, path: Path) -> list[Event]:
        """The events of a file, as tuples."""
        if path.suffix == ".parquet":
            return self.load(pq.read_table(path))
        with path.open(newline="") as file:
            rows = csv.reader(file)
            next(rows)
            return [(type, id, int(time), int(key)) for type, id, time, key in rows]

    def find(self, events: Sequence[Event], query: Query) -> Found:
        """The parts of each match."""
        if query.shape == Shape.CHAIN:
            return _chain(events, query.types, query.window)
        if query.shape == Shape.REPETITION:
            return _repetition(events, query.types, query.window)
        return _absence(events, query.types, query.window)

    def matches(self, found: Found) -> Matches:
        """The same as arrays."""
        lengths = [len(parts) for parts in found]
        every = [part for parts in found for part in parts]
        ids = np.array([int(part[1]) for part in every], np.int64)
        return Matches(np.cumsum([0, *lengths]), ids, np.array([part[2] for part in every], np.int64))


def _chain(events: Iterable[Event], types: str, window: int) -> Found:
    found: Found = []
    last = len(types) - 1
    # From the last place to the first, so that a run moves once at an event.
    places = {type: [place for place in range(last, -1, -1) if types[place] == type] for type in types}
    waiting: dict[int, list[Found]] = {}
    for event in events:
        if event[0] not in places:
            continue
        runs = waiting.get(event[3])
        if runs is None:
            if event[0] != types[0]:
                continue
            runs = waiting[event[3]] = [[] for _ in types]
        for place in places[event[0]]:
            if not place:
                runs[1].append([event])
            elif runs[place]:
                alive = [[*parts, event] for parts in runs[place] if event[2] - parts[0][2] <= window]
                runs[place] = []
                if place == last:
                    found += alive
                else:
                    runs[place + 1] += alive
    return found


def _repetition(events: Iterable[Event], types: str, window: int) -> Found:
    found: Found = []
    first, middle, last = tuple(types)
    fresh: dict[int, Found] = {}
    repeating: dict[int, Found] = {}
    for event in events:
        type, _, at, key = event
        if type == first:
            fresh.setdefault(key, []).append([event])
        elif type == middle:
            runs = repeating.pop(key, []) + fresh.pop(key, [])
            if runs:
                repeating[key] = [[*parts, event] for parts in runs if at - parts[0][2] <= window]
        elif type == last and key in repeating:
            found += [[*parts, event] for parts in repeating.pop(key) if at - parts[0][2] <= window]
    return found


def _absence(events: Sequence[Event], types: str, window: int) -> Found:
    found: Found = []
    first, unwanted = tuple(types)
    waiting: dict[int, list[Event]] = {}
    for event in events:
        if event[0] == first:
            waiting.setdefault(event[3], []).append(event)
        elif event[0] == unwanted and event[3] in waiting:
            found += [[start] for start in waiting.pop(event[3]) if event[2] - start[2] > window]
    end = events[-1][2] - window if events else 0
    return found + [[start] for starts in waiting.values() for start in starts if start[2] <= end]


WAY: Any = Loop()
