"""Composites that were detected elsewhere, held among events until their place has come, and put there.

A composite belongs to the place of the event that completed it, whether that event is heard here or not; or to the
place of a timer, after all events of its instant.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.detection.wire import as_text, from_record
from penstock.engine.delivery import NOBODY, Delivered
from penstock.engine.memory import Ints
from penstock.errors import DataError
from penstock.events.fields import whole
from penstock.events.found import Composite
from penstock.events.stamp import weak_key
from penstock.events.table import EventTable, make_table

Key = tuple[Any, ...]
_NOTHING: Ints = np.zeros(0, np.int64)


def held_rows(
    records: Sequence[Mapping[str, Any]], source: str, known: Mapping[str, frozenset[str]], timers: Container[str]
) -> EventTable:
    """Records of composites as rows that can be held and ordered; their bodies are kept as text.

    ``known`` are the types of composites and their labels, ``timers`` the names of timers: what cannot be taken in
    later is refused now.
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("type", "source", "id", "seq", "lo", "hi", "parts")}
    for record in records:
        composite, place = from_record(record, known)
        if place is not None and place not in timers:
            raise DataError(f"no timer {place!r} is known here", hint="place is Definition/Timer")
        _check_labels(composite, known)
        number = whole("sequence", record.get("sequence")) or 0
        row = (composite.type, source, composite.id, number, composite.lo, composite.hi, as_text(record))
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return make_table(columns, {})


def _check_labels(composite: Composite, known: Mapping[str, frozenset[str]]) -> None:
    for part in composite.parts:
        for label in sorted(part.labels - known[composite.type]):
            raise DataError(f"composites of type `{composite.type}` have no label {label!r}")
        if isinstance(part.symbol, Composite):
            _check_labels(part.symbol, known)


def arranged(table: EventTable, known: frozenset[str], ranks: Mapping[str, int]) -> tuple[EventTable, Delivered]:
    """Ordered rows with composites of known types at their places, and these; ``ranks`` are those of timers by name."""
    where = _delivered(table) if known else _NOTHING
    if not len(where):
        return table, NOBODY
    records = [from_record(json.loads(text), known) for text in table.field("parts").take(pa.array(where)).to_pylist()]
    timers = [-1 if place is None else ranks[place] for _, place in records]
    composites = {row: composite for row, (composite, _) in zip(where.tolist(), records, strict=True)}
    fired = dict(zip(where.tolist(), timers, strict=True))
    order, anchors = _order(table, composites, fired)
    rows = np.flatnonzero(np.isin(order, where))
    chosen = order[rows].tolist()
    return table.take(order), Delivered(
        rows,
        anchors[rows],
        np.array([fired[row] for row in chosen], np.int64),
        [composites[row] for row in chosen],
    )


def _delivered(table: EventTable) -> Ints:
    """The rows that are composites from elsewhere."""
    parts = table.field("parts")
    if parts.null_count == len(parts):
        return _NOTHING
    return np.flatnonzero(np.asarray(pc.starts_with(parts, "{").fill_null(False)))


def _order(table: EventTable, composites: Mapping[int, Composite], fired: Mapping[int, int]) -> tuple[Ints, Ints]:
    """The rows in the order of their places, and for each the first one at its place."""
    ends = table.numbers("hi")
    order, anchors = np.arange(len(table)), np.arange(len(table))
    starts = np.concatenate([[0], np.flatnonzero(np.diff(ends)) + 1, [len(ends)]])
    groups = np.unique(np.searchsorted(starts, list(composites), side="right") - 1)
    for group in groups.tolist():
        first, last = int(starts[group]), int(starts[group + 1])
        keys = _keys(table, first, last, composites, fired)
        numbers = table.field("seq").slice(first, last - first).to_pylist()
        rows = sorted(
            range(first, last),
            key=lambda row: (keys[row - first], (row in composites, numbers[row - first] or 0), row),
        )
        order[first:last] = rows
        for place, row in enumerate(rows[1:], first + 1):
            if row in composites and keys[row - first] == keys[order[place - 1] - first]:
                anchors[place] = anchors[place - 1]
    return order, anchors


def _keys(
    table: EventTable, first: int, last: int, composites: Mapping[int, Composite], fired: Mapping[int, int]
) -> list[Key]:
    some = table.slice(first, last - first)
    columns = (some.field(name).to_pylist() for name in ("hi", "lo", "source", "seq", "id"))
    keys: list[Key] = [(0, *weak_key(*one)) for one in zip(*columns, strict=True)]
    for row in range(first, last):
        if row in composites and fired[row] >= 0:
            keys[row - first] = (1, fired[row])
        elif row in composites:
            keys[row - first] = (0, *max(leaf.weak_key for leaf in composites[row].leaves()))
    return keys
