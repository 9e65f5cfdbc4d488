"""Events that are held back: sorted runs of rows, merged when there are many, from which the front is taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.events.table import EventTable, concat
from penstock.ordering.names import Words, name_hashes, same_names
from penstock.ordering.places import AHEAD, FAR, Ints, Place, compacted, compared, times, weak_order

SMALL = 1024
"""A table with no more rows is not copied to be rid of those that have gone."""


@dataclass(frozen=True)
class Run:
    """Some rows of a table in the weak order; ``came`` is when each arrived, ``names`` are hashes of source and id.

    ``known`` are the hashes of all rows that the run began with, sorted: who is not among them is not in the run.
    """

    table: EventTable
    rows: Ints
    ends: Ints
    came: Ints
    names: Words
    known: Words

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, count: int) -> EventTable:
        """The events at its front."""
        if count == len(self.table) and bool((self.rows[1:] > self.rows[:-1]).all()):
            return self.table
        return self.table.take(self.rows[:count])

    def after(self, count: int) -> Run:
        """What is left when the front has gone; a table that is mostly gone is let go."""
        rows = self.rows[count:]
        kept = slice(count, None)
        if len(self.table) <= max(SMALL, 2 * len(rows)):
            return Run(self.table, rows, self.ends[kept], self.came[kept], self.names[kept], self.known)
        names = self.names[kept].copy()
        table = compacted(self.table.take(rows))
        return Run(table, np.arange(len(rows)), self.ends[kept].copy(), self.came[kept].copy(), names, np.sort(names))

    def count_to(self, place: Place) -> int:
        """How many of its rows are not ahead of a place."""
        first, last = (int(np.searchsorted(self.ends, place.hi, side)) for side in ("left", "right"))
        if first == last:
            return first
        tied = compared(self.table, place, self.rows[first:last])
        return first + int(np.count_nonzero(tied != AHEAD))


def run_of(table: EventTable, came: Ints) -> Run:
    """A run of all rows of a table.

    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A", "B"], "id": ["1", "2"], "lo": [5, 3], "hi": [5, 3]}
    >>> run_of(make_table(fields, {}), np.array([9, 9])).ends.tolist()
    [3, 5]
    """
    names = name_hashes(table)
    return _ordered(table, came, names, np.sort(names))


def _ordered(table: EventTable, came: Ints, names: Words, known: Words) -> Run:
    rows = weak_order(table)
    return Run(table, rows, times(table, "hi")[rows], came[rows], names[rows], known)


def without_repeated(run: Run) -> tuple[Run, int]:
    """The run with the first of those events that have the same source and id, and how many others there were."""
    if not (run.known[1:] == run.known[:-1]).any():
        return run, 0
    order = np.argsort(run.names, kind="stable")
    later = np.flatnonzero(run.names[order][1:] == run.names[order][:-1]) + 1
    equal = same_names(run.table, run.rows[order[later]], run.table, run.rows[order[later - 1]])
    kept = np.ones(len(run), bool)
    kept[order[later[equal]]] = False
    return chosen(run, kept), int(np.count_nonzero(equal))


def chosen(run: Run, kept: NDArray[np.bool_]) -> Run:
    """Some events of a run."""
    return Run(run.table, run.rows[kept], run.ends[kept], run.came[kept], run.names[kept], run.known)


class Held:
    """The events that wait, as few runs as their number has digits.

    A run is merged with the one before it while that is not much longer, so that an event is merged a few times,
    however many batches bring them.

    >>> from penstock.events.table import make_table
    >>> held = Held()
    >>> for at in (5, 3, 9):
    ...     fields = {"type": ["A"], "id": [str(at)], "lo": [at], "hi": [at]}
    ...     held.add(run_of(make_table(fields, {}), np.array([10])))
    >>> held.take(Place(6, 0, b""), now=12)[0].field("hi").to_pylist(), len(held)
    ([3, 5], 1)
    """

    def __init__(self) -> None:
        self.runs: list[Run] = []

    def __len__(self) -> int:
        return sum(len(run) for run in self.runs)

    def add(self, run: Run) -> None:
        """More events, none of which is there."""
        if len(run):
            self.runs.append(run)

    def unseen(self, run: Run) -> tuple[Run, int]:
        """The events of a run that are not held already, and how many others there were."""
        given = len(run)
        for other in self.runs:
            at = np.minimum(np.searchsorted(other.known, run.names), len(other.known) - 1)
            met = np.flatnonzero(other.known[at] == run.names)
            if len(met):
                run = chosen(run, ~_is_held(run, met, other))
        return run, given - len(run)

    def take(self, place: Place, now: int) -> tuple[EventTable, int]:
        """Removes and returns all events up to a place, in the weak order, and how long they waited in all."""
        parts: list[EventTable] = []
        rest: list[Run] = []
        waited = 0
        for run in self.runs:
            count = run.count_to(place)
            if count:
                parts.append(run.first(count))
                waited += count * now - int(run.came[:count].sum())
            if count < len(run):
                rest.append(run.after(count) if count else run)
        self.runs = _settled(rest)
        table = concat(parts)
        return (table.take(weak_order(table)) if len(parts) > 1 else table), waited

    def count_after(self, place: Place) -> int:
        """How many events are ahead of a place."""
        return sum(len(run) - run.count_to(place) for run in self.runs)

    def forget(self, count: int) -> None:
        """Lets the first events go, at least so many."""
        ends = np.concatenate([run.ends for run in self.runs])
        self.take(Place(int(np.partition(ends, count - 1)[count - 1]), FAR, b""), 0)

    def all(self) -> Run | None:
        """All that is held, as one run."""
        return _merged(self.runs) if self.runs else None


def _settled(runs: list[Run]) -> list[Run]:
    """The same events in few runs."""
    kept: list[Run] = []
    for run in runs:
        kept.append(run)
        while len(kept) > 1 and len(kept[-2]) <= 2 * len(kept[-1]):
            last, before = kept.pop(), kept.pop()
            kept.append(_merged([before, last]))
    return kept


def _merged(runs: list[Run]) -> Run:
    """Several runs as one whose table is in order."""
    table = compacted(concat([run.first(len(run)) for run in runs]))
    came, names = (np.concatenate([getattr(run, name) for run in runs]) for name in ("came", "names"))
    whole = _ordered(table, came, names, np.sort(names))
    return Run(table.take(whole.rows), np.arange(len(whole)), whole.ends, whole.came, whole.names, whole.known)


def _is_held(run: Run, met: Ints, other: Run) -> NDArray[np.bool_]:
    """For each event of a run whether it is in another one, where the hashes of those ``met`` say that it may be."""
    found = np.zeros(len(run), bool)
    order = np.argsort(other.names)
    names = other.names[order]
    if len(names):
        at = np.minimum(np.searchsorted(names, run.names[met]), len(names) - 1)
        hit = names[at] == run.names[met]
        equal = same_names(run.table, run.rows[met[hit]], other.table, other.rows[order[at[hit]]])
        found[met[hit][equal]] = True
    return found
