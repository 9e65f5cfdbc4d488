"""Runs that had matched something and came to nothing, as a table like that of composites."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.detection.composites import Composites
from penstock.detection.gathering import Gathering
from penstock.detection.kinds import Kinds
from penstock.detection.parts import PartWriter
from penstock.detection.selection import Selection
from penstock.engine.found import Found, FoundDefinition
from penstock.engine.kept import Ints, joined
from penstock.engine.memory import REASONS
from penstock.engine.sorting import rows_in_order
from penstock.engine.texts import Words
from penstock.events.table import TIME

_ADDED = ("reason", "at")
_PLACE = 3
"""Where the added columns stand."""


class IncompleteRuns(Composites):
    """The runs that came to nothing, by the time at which each ended, and then like composites.

    The table has two more columns, ``reason`` and ``at``. The reason is ``failed`` (an event ended the run),
    ``expired`` (its time was over), ``dropped`` (at a limit), ``replaced`` (by a later run, in the context ``recent``)
    or ``open`` (it still waits at the end). A parameter called so has an underscore more.

    >>> from penstock import detect
    >>> events = [{"type": type, "id": str(time), "time": time} for time, type in enumerate("AAC")]
    >>> found = detect(events, "[A] ; [B in {B, C}]", incomplete=True)
    >>> found.incomplete
    <2 incomplete runs: composite 2>
      1970-01-01 00:00:00  composite  reason=failed at=1970-01-01T00:00:00.000002Z  A@00:00:00
      1970-01-01 00:00:00.000001  composite  reason=failed at=1970-01-01T00:00:00.000002Z  A@00:00:00.000001
    """

    thing = "incomplete run"


@dataclass(frozen=True)
class _Keys:
    """What the rows of one batch are ordered by, beyond what is in the table."""

    at: Ints
    reason: Ints
    words: Words
    counts: Ints
    leaves: Ints


class IncompleteGathering:
    """Gathers the incomplete runs of one batch after the other."""

    def __init__(self, kinds: Kinds, writer: PartWriter) -> None:
        self._wanted = kinds.attributes
        self._rows = Gathering(kinds, writer)
        self._keys: list[_Keys] = []

    def add(self, found: Found) -> None:
        """More runs."""
        selection = Selection(replace(found, definitions=tuple(map(_as_found, found.definitions))), self._wanted)
        if not len(selection):
            return
        ended = [run for one in selection.definitions for run in one.incomplete]
        at, reason = (joined([getattr(run, name) for run in ended])[selection.order] for name in ("at", "reason"))
        counts, leaves = selection.leaves()
        self._rows.add(selection)
        self._keys.append(_Keys(at, reason, selection.words(), counts, leaves))

    def runs(self) -> IncompleteRuns:
        """All of them, each once, in order."""
        table = self._rows.table()
        names = [f"{name}_" if name.rstrip("_") in _ADDED else name for name in table.column_names]
        at, reason, words, counts, leaves = (
            joined([getattr(keys, name) for keys in self._keys]) for name in _Keys.__dataclass_fields__
        )
        numbers = sorted(REASONS)
        reasons = pa.array([REASONS[number] for number in numbers], pa.string())
        table = table.rename_columns(names)
        table = table.add_column(_PLACE, "at", pa.array(at).cast(TIME))
        table = table.add_column(_PLACE, "reason", reasons.take(pa.array(np.searchsorted(numbers, reason))))
        if not len(table):
            return IncompleteRuns(table)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        hi, lo = (np.asarray(table[name].cast(pa.int64())) for name in ("hi", "lo"))
        types = np.asarray(pc.rank(table["type"], tiebreaker="dense")).astype(np.int64)
        digits = [np.ascontiguousarray(words[:, number]) for number in range(words.shape[1])]
        order = rows_in_order((at, hi, lo, types), bounds, leaves, [*digits, reason.astype(np.uint64)])
        told = np.column_stack([words.view(np.int64), at, reason])[order]
        is_fresh = np.concatenate([[True], (told[1:] != told[:-1]).any(axis=1)])
        return IncompleteRuns(table.take(pa.array(order[is_fresh])).combine_chunks())


def _as_found(one: FoundDefinition) -> FoundDefinition:
    """The definition with its incomplete runs in the place of its composites."""
    matched = tuple(run.matched for run in one.incomplete)
    return replace(one, made=matched or (one.composites.take(np.zeros(0, np.int64)),))
