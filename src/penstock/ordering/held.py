"""Events that are held back: sorted runs of rows, merged when there are many, from which the front is taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.events.table import EventTable, concat
from penstock.events.texts import Words
from penstock.ordering.batch import Batch, same_names
from penstock.ordering.gathering import gathered, keys_at, places_of
from penstock.ordering.places import AHEAD, FAR, Ints, Place, compacted, compared, rising, settle_ties, weak_order

SMALL = 1024
"""A table with no more rows is not copied to be rid of those that have gone."""
MANY = 16
"""So many runs are too many."""
NOTHING = concat([])


@dataclass(frozen=True)
class Run:
    """Some rows of a batch in the weak order, and their ends."""

    batch: Batch
    rows: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def table(self) -> EventTable:
        """The whole batch, also what is not in the run."""
        return self.batch.table

    def events(self) -> EventTable:
        """Its events, in order."""
        if len(self) == len(self.batch) and (len(self) == 1 or bool((self.rows[1:] > self.rows[:-1]).all())):
            return self.table
        return gathered([self.table], self.rows)

    def waited(self, now: int) -> int:
        """How long its events have waited in all; sums of instants would not fit."""
        if len(self) == 1:
            return now - self.batch.came.item(self.rows.item())
        return int((now - self.batch.came[self.rows]).sum())

    def first(self, count: int) -> Run:
        """Its front."""
        return self if count == len(self) else Run(self.batch, self.rows[:count], self.ends[:count])

    def after(self, count: int) -> Run:
        """What is left when the front has gone."""
        return Run(self.batch, self.rows[count:], self.ends[count:]).lean()

    def lean(self) -> Run:
        """The same; a table whose rows have mostly gone is let go."""
        if len(self.batch) <= max(SMALL, 2 * len(self)):
            return self
        return Run(self.batch.take(self.rows), np.arange(len(self)), self.ends.copy())

    def where(self, kept: NDArray[np.bool_]) -> Run:
        """Some of its events, as a mask over its rows says."""
        return Run(self.batch, self.rows[kept], self.ends[kept])

    def count_to(self, place: Place) -> int:
        """How many of its rows are not ahead of a place."""
        end = self.ends.item(-1)
        if end < place.hi or (end == place.hi and self.batch.place(self.rows.item(-1)) <= place):
            return len(self)
        first, last = (int(np.searchsorted(self.ends, place.hi, side)) for side in ("left", "right"))
        if first == last:
            return first
        tied = compared(self.table, place, self.rows[first:last])
        return first + int(np.count_nonzero(tied != AHEAD))


def run_of(batch: Batch) -> Run:
    """A run of all rows of a batch.

    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A", "B"], "id": ["1", "2"], "lo": [5, 3], "hi": [5, 3]}
    >>> run_of(Batch(make_table(fields, {}), np.array([9, 9]))).ends.tolist()
    [3, 5]
    """
    if len(batch) == 1:
        return Run(batch, _FIRST, batch.ends)
    return Run(batch, *weak_order(batch.table))


_FIRST: Ints = np.zeros(1, np.int64)


def without_repeated(run: Run) -> tuple[Run, int]:
    """The run with the first of those events that have the same source and id, and how many others there were."""
    if len(run) < 2 or not (run.batch.known[1:] == run.batch.known[:-1]).any():
        return run, 0
    names = run.batch.names[run.rows]
    order = np.argsort(names, kind="stable")
    later = np.flatnonzero(names[order][1:] == names[order][:-1]) + 1
    equal = same_names(run.batch, run.rows[order[later]], run.batch, run.rows[order[later - 1]])
    kept = np.ones(len(run), bool)
    kept[order[later[equal]]] = False
    return run.where(kept), int(np.count_nonzero(equal))


class Held:
    """The events that wait, in few runs.

    Runs are merged when there are many of about the same length, so that an event is copied a few times, however many
    batches bring them.

    >>> from penstock.events.table import make_table
    >>> held = Held()
    >>> for at in (5, 3, 9):
    ...     fields = {"type": ["A"], "id": [str(at)], "lo": [at], "hi": [at]}
    ...     held.add(run_of(Batch(make_table(fields, {}), np.array([10]))))
    >>> held.take(held.counts_to(Place(6, 0, b"")), now=12)[0].field("hi").to_pylist(), len(held)
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
            if _share(run.batch.known, other.batch.known):
                run = run.where(~_is_held(run, other))
        return run, given - len(run)

    def settle(self) -> None:
        """Merges runs where there are many."""
        self.runs = _settled(self.runs)

    def counts_to(self, place: Place) -> list[int]:
        """How many events of each run are not ahead of a place."""
        return [run.count_to(place) for run in self.runs]

    def take(self, counts: list[int], now: int) -> tuple[EventTable, int]:
        """Removes and returns so many of each run, in the weak order, and how long they waited in all."""
        parts = self._split(counts)
        waited = sum(part.waited(now) for part in parts)
        if len(parts) < 2:
            return (parts[0].events() if parts else NOTHING), waited
        return gathered([part.table for part in parts], _places(parts)[0]), waited

    def forget(self, count: int) -> None:
        """Lets the first events go, at least so many."""
        ends = np.concatenate([run.ends for run in self.runs])
        last = int(np.partition(ends, count - 1)[count - 1])
        self._split(self.counts_to(Place(last, FAR, b"")))

    def _split(self, counts: list[int]) -> list[Run]:
        """Removes the front of each run and returns those that are not empty."""
        parts: list[Run] = []
        rest: list[Run] = []
        for run, count in zip(self.runs, counts, strict=True):
            if count:
                parts.append(run.first(count))
            if count < len(run):
                rest.append(run.after(count) if count else run)
        self.runs = _settled(rest)
        return parts

    def all(self) -> Run | None:
        """All that is held, as one run."""
        return _merged(self.runs) if self.runs else None


def _settled(runs: list[Run]) -> list[Run]:
    """The same events in few runs: where there are many, the short ones at the end become one."""
    if len(runs) < MANY:
        return runs
    first, length = len(runs) - 1, len(runs[-1])
    while first and len(runs[first - 1]) <= 2 * length:
        first -= 1
        length += len(runs[first])
    return [*runs[:first], _merged(runs[first:])]


def _places(runs: list[Run]) -> tuple[Ints, Ints, Ints]:
    """The places of several runs' rows in the weak order, their ends, and their numbers if runs follow each other."""
    order, ends = rising(np.concatenate([run.ends for run in runs]))
    places = places_of([run.rows for run in runs])
    settle_ties(order, ends, lambda rows: keys_at([run.table for run in runs], places[rows]))
    return places[order], ends, order


def _merged(runs: list[Run]) -> Run:
    """Several runs as one."""
    places, ends, order = _places(runs)
    came, names = (
        np.concatenate([getattr(run.batch, name)[run.rows] for run in runs])[order] for name in ("came", "names")
    )
    batch = Batch(compacted(gathered([run.table for run in runs], places)), came)
    batch.names = names
    return Run(batch, np.arange(len(order)), ends)


def _share(some: Words, others: Words) -> bool:
    """Whether two sorted arrays have something in common; looking up sorted numbers is fast."""
    few, many = (some, others) if len(some) < len(others) else (others, some)
    if len(few) == 1:
        place = int(np.searchsorted(many, few[0]))
        return place < len(many) and bool(many[place] == few[0])
    at = np.minimum(np.searchsorted(many, few), len(many) - 1)
    return bool(len(few) and (many[at] == few).any())


def _is_held(run: Run, other: Run) -> NDArray[np.bool_]:
    """For each event of a run whether it is in another one."""
    found = np.zeros(len(run), bool)
    names = other.batch.names[other.rows]
    order = np.argsort(names)
    mine = run.batch.names[run.rows]
    at = np.minimum(np.searchsorted(names[order], mine), len(names) - 1)
    met = np.flatnonzero(names[order[at]] == mine)
    equal = same_names(run.batch, run.rows[met], other.batch, other.rows[order[at[met]]])
    found[met[equal]] = True
    return found
