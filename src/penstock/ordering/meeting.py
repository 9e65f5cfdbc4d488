"""What events that arrive show of their sources."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.ordering.batch import Batch
from penstock.ordering.held import Run
from penstock.ordering.kernel import meet_sources
from penstock.ordering.places import NEVER, Ints
from penstock.ordering.sources import Sources

_DETECTOR = "penstock/"


@dataclass(frozen=True)
class Met:
    """Events that came: the sources met, each once, and for each event which of them it is, its end and arrival.

    For each source ``counts`` has how many of the events are its own, ``first`` and ``last`` have their least and
    greatest ends, ``before`` and ``begun`` the end and beginning of what it had shown before, and ``unknown`` whether
    nothing was known of it.
    """

    sources: Ints
    codes: NDArray[np.integer]
    ends: Ints
    came: Ints
    counts: Ints
    first: Ints
    last: Ints
    before: Ints
    begun: Ints
    unknown: NDArray[np.bool_]

    def came_together(self) -> bool:
        """Whether all arrived at one instant."""
        return bool((self.came == self.came[-1]).all())

    def disordered(self, beginnings: Ints) -> NDArray[np.bool_] | None:
        """Which events are earlier than what their sources had shown before, if any may be."""
        if not (self.first <= self.before).any():
            return None
        before = self.before[self.codes]
        earlier: NDArray[np.bool_] = self.ends < before
        tied = np.flatnonzero(self.ends == before)
        earlier[tied] = beginnings[tied] < self.begun[self.codes[tied]]
        return earlier


def meet(run: Run, sources: Sources) -> Met:
    """Learns what the events of a batch, all of them in a run, show of their sources."""
    codes, names = run.batch.sources
    if len(names) == 1:
        return _meet_one(run, sources, run.batch.source(0))
    return _meet_many(run.batch, sources, codes, names)


def _meet_many(batch: Batch, sources: Sources, codes: Ints, names: pa.Array) -> Met:
    ends, beginnings = batch.ends, batch.beginnings
    found = np.zeros((5, len(names)), np.int64)
    meet_sources(codes, ends, beginnings, batch.came, *found)
    used = np.flatnonzero(found[0])
    if len(used) < len(names):
        places = np.zeros(len(names), np.int64)
        places[used] = np.arange(len(used))
        codes, found = places[codes], found[:, used]
    counts, first, last, last_begun, heard = found
    numbers = sources.numbers_of(names, used)
    before, begun = sources.lowest.ends(numbers), sources.lowest.beginnings(numbers)
    unknown = (sources.counts["events"][numbers] == 0) & ~sources.registered[numbers] & (before == NEVER)
    sources.counts["events"][numbers] += counts
    sources.show(numbers, last, np.where(_is_detector(names, used), NEVER, last_begun), heard)
    return Met(numbers, codes, ends, batch.came, counts, first, last, before, begun, unknown)


def _meet_one(run: Run, sources: Sources, name: str) -> Met:
    """The same where all events are of one source."""
    batch = run.batch
    numbers = sources.numbers([name])
    number = numbers.item(0)
    before, begun = sources.lowest.at(number)
    seen = sources.counts["events"]
    is_unknown = seen.item(number) == 0 and not sources.registered.item(number) and before == NEVER
    seen[number] += len(batch)
    end, beginning, _ = batch.place(run.rows.item(-1))
    sources.show_one(number, end, NEVER if name.startswith(_DETECTOR) else beginning, batch.latest)
    counts, first, last, shown, started = (np.array([n]) for n in (len(batch), run.ends.item(0), end, before, begun))
    codes = np.zeros(len(batch), np.int64)
    return Met(
        numbers, codes, batch.ends, batch.came, counts, first, last, shown, started, np.array([is_unknown])
    )  # fmt: skip


def _is_detector(names: pa.Array, used: Ints) -> NDArray[np.bool_]:
    """Which of some sources are detectors: several composites of one may end together, in any order."""
    return np.asarray(pc.starts_with(names, _DETECTOR).take(pa.array(used)))
