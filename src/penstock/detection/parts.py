"""The parts of composites as they stand in a table: their primitive constituents, each with its path.

The path of a part names the composites that it belongs to inside the row's own, outermost first, so that
nested composites can be built again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.detection.json_columns import data_column, json_column, json_values
from penstock.detection.kinds import Kinds
from penstock.detection.selection import Selection
from penstock.detection.unfolding import INSIDE, Unfolded, unfold
from penstock.detection.values import data_text, present
from penstock.engine.composed import Composed
from penstock.engine.kept import Ints, by_owner, joined
from penstock.engine.texts import spelled, taken_texts
from penstock.events.buffers import column_over
from penstock.events.constants import constant
from penstock.events.event import Event
from penstock.events.table import TIME, EventTable
from penstock.events.times import of_datetime

_NAMED = [("type", pa.string()), ("source", pa.string()), ("id", pa.string())]
_STAMP = [("lo", TIME), ("hi", TIME)]
_AROUND = pa.struct([*_NAMED, *_STAMP, ("data", pa.string())])
_LEAF = pa.struct([*_NAMED, ("seq", pa.int64()), *_STAMP, ("data", pa.string())])
PATH = pa.list_(pa.struct([*_AROUND, ("part", pa.int32())]))
"""The composites around a part; ``part`` is the place of each among the parts of the one around it, from 0."""
PARTS = pa.list_(
    pa.struct([*_NAMED, ("seq", pa.int64()), *_STAMP, ("label", pa.string()), ("data", pa.string()), ("path", PATH)])
)

Row = Mapping[str, Any]
Located = tuple[EventTable, Ints, Ints]
"""Events of a table: which of all these are, and their rows there."""


@dataclass(frozen=True)
class PartWriter:
    """Writes the parts of composites; ``carried`` are the attributes that primitive parts keep, ``None`` for all."""

    kinds: Kinds
    carried: Sequence[str] | None

    def column(self, selection: Selection) -> pa.Array:
        """The primitive constituents of each composite, in the order of matching.

        The label is that of the composite's own pattern, also for what is inside a part of it.
        """
        bounds, owners, rows = selection.parts()
        labels = selection.labels()
        unfolded = unfold(selection.found, owners, rows, bounds, selection.is_flat)
        columns = dict(zip([one.name for one in _LEAF], self._leaves(selection, unfolded), strict=True))
        if len(unfolded.rows) > len(rows) or unfolded.path.shape[1]:
            labels = labels.take(pa.array(unfolded.part))
            bounds = np.searchsorted(unfolded.part, bounds)
        columns |= {"label": labels, "path": self._path(selection, unfolded)}
        fields = list(PARTS.value_type)
        structs = pa.StructArray.from_arrays([columns[one.name] for one in fields], fields=fields)
        return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), structs, type=PARTS)

    def _leaves(self, selection: Selection, unfolded: Unfolded) -> list[pa.Array]:
        """The columns of the leaves, without label and path."""
        if not unfolded.read.leaves:
            return self._events([*selection.found.events.locate(unfolded.rows)], len(unfolded.rows))
        pieces = []
        for owner, chosen in by_owner(unfolded.owners):
            if owner == INSIDE:
                inside = pa.array([self._inside(event) for event in unfolded.read.leaves], _LEAF)
                pieces.append((chosen, inside.take(pa.array(unfolded.rows[chosen]))))
                continue
            located = [*selection.found.events.locate(unfolded.rows[chosen])]
            columns = self._events(located, len(chosen))
            pieces.append((chosen, pa.StructArray.from_arrays(columns, fields=list(_LEAF))))
        return [*_put_together(pieces, _LEAF).flatten()]

    def _events(self, located: list[Located], count: int) -> list[pa.Array]:
        """The columns of events, from the tables that they are in."""
        ids = [(table.field("id"), rows, where) for table, where, rows in located]
        lo = _instants("lo", located, count)
        are_points = all(table.are_points for table, _, _ in located)
        return [
            _names("type", located, count),
            _names("source", located, count),
            taken_texts(ids, count),
            _put_together([(where, _counters(table, rows)) for table, where, rows in located], pa.int64()),
            lo,
            lo if are_points else _instants("hi", located, count),
            _put_together([(where, self._data(table, rows)) for table, where, rows in located], pa.string()),
        ]

    def _data(self, table: EventTable, rows: Ints) -> pa.Array:
        """What rows of events carry; written once for each event where there are more parts than events."""
        there = table.attributes.column_names
        names = there if self.carried is None else [name for name in self.carried if name in there]
        if not names:
            return constant(None, pa.string(), len(rows))
        if len(rows) <= len(table):
            return data_column({name: json_column(table.attribute(name).take(pa.array(rows))) for name in names})
        return data_column({name: json_column(table.attribute(name)) for name in names}).take(pa.array(rows))

    def _inside(self, event: Event) -> dict[str, Any]:
        names = event.attributes if self.carried is None else self.carried
        return _named(event) | {"seq": event.seq, "data": data_text(present(event.attributes, names))}

    def _path(self, selection: Selection, unfolded: Unfolded) -> pa.Array:
        """The composites around each leaf, null where there is none."""
        if not unfolded.path.shape[1]:
            return constant(None, PATH, len(unfolded.rows))
        around = self._around(selection, unfolded)
        places = pa.array(unfolded.around[:, 2].astype(np.int32))
        fields = list(PATH.value_type)
        structs = pa.StructArray.from_arrays([*around.flatten(), places], fields=fields)
        there = unfolded.path >= 0
        bounds = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        entries = structs.take(pa.array(unfolded.path[there]))
        absent = pa.array(np.diff(bounds) == 0)
        return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), entries, type=PATH, mask=absent)

    def _around(self, selection: Selection, unfolded: Unfolded) -> pa.Array:
        """The composites on paths as structs, without their places."""
        pieces = []
        owners, rows = unfolded.around[:, 0], unfolded.around[:, 1]
        for owner, chosen in by_owner(owners):
            if owner == unfolded.read.number:
                read = pa.array([_read(event) for event in unfolded.read.composites], _AROUND)
                pieces.append((chosen, read.take(pa.array(rows[chosen]))))
                continue
            for piece, where, indices in selection.found.definitions[owner].known.locate(rows[chosen]):
                pieces.append((chosen[where], self._made(selection, owner, piece.take(indices))))
        return _put_together(pieces, _AROUND)

    def _made(self, selection: Selection, owner: int, composites: Composed) -> pa.Array:
        name, count = selection.found.definitions[owner].name, len(composites)
        texts = {
            attribute: json_values(selection.found.values(owner, attribute, composites))
            for attribute in self.kinds.names(name)
        }
        columns = [
            constant(name, pa.string(), count),
            constant(f"penstock/{name}", pa.string(), count),
            composites.ids(),
            column_over(composites.lo, TIME),
            column_over(composites.hi, TIME),
            data_column(texts) if texts else pa.nulls(count, pa.string()),
        ]
        return pa.StructArray.from_arrays(columns, fields=list(_AROUND))


def _put_together(pieces: list[tuple[Ints, pa.Array]], kind: pa.DataType) -> pa.Array:
    """Rows of several pieces, each where it belongs."""
    if not pieces:
        return pa.array([], kind)
    if len(pieces) == 1:
        return pieces[0][1]
    if all(rows.null_count == len(rows) for _, rows in pieces):
        return constant(None, kind, sum(len(rows) for _, rows in pieces))
    where = joined([where for where, _ in pieces])
    places = np.empty(len(where), np.int64)
    places[where] = np.arange(len(where))
    return pa.concat_arrays([rows for _, rows in pieces]).take(pa.array(places))


def _names(field: str, located: list[Located], count: int) -> pa.Array:
    """Types or sources, which tables have in dictionaries."""
    columns = [table.given(field) for table, _, _ in located]
    if all(len(column.dictionary) == 1 and column.dictionary[0].as_py() == "" for column in columns):
        return constant("", pa.string(), count)
    if len(located) == 1:
        return spelled(columns[0], located[0][2])
    pieces = zip(columns, located, strict=True)
    return taken_texts(
        [(one.dictionary, np.asarray(one.indices)[rows].astype(np.int64), where) for one, (_, where, rows) in pieces],
        count,
    )


def _instants(field: str, located: list[Located], count: int) -> pa.Array:
    if len(located) == 1:
        [(table, _, rows)] = located
        return column_over(table.numbers(field).take(rows), TIME)
    instants = np.empty(count, np.int64)
    for table, where, rows in located:
        instants[where] = table.numbers(field)[rows]
    return column_over(instants, TIME)


def _counters(table: EventTable, rows: Ints) -> pa.Array:
    seq = table.field("seq")
    return constant(None, seq.type, len(rows)) if seq.null_count == len(seq) else seq.take(pa.array(rows))


def _named(event: Event) -> dict[str, Any]:
    return {"type": event.type, "source": event.source, "id": event.id, "lo": event.lo, "hi": event.hi}


def _read(event: Event) -> dict[str, Any]:
    return _named(event) | {"data": data_text(present(event.attributes))}


def nested(rows: Iterable[Row], depth: int = 0) -> tuple[Event, ...]:
    """The parts of a composite as events, from their rows in a table; composites among them have parts again.

    >>> from datetime import datetime, UTC
    >>> at = datetime(1970, 1, 1, tzinfo=UTC)
    >>> leaf = {"type": "A", "source": "s", "id": "1", "seq": None, "lo": at, "hi": at, "data": None}
    >>> met = {"type": "Met", "source": "penstock/Met", "id": "77", "lo": at, "hi": at, "data": None, "part": 0}
    >>> [(event.type, len(event.parts)) for event in nested([leaf | {"path": [met]}, leaf | {"path": None}])]
    [('Met', 1), ('A', 0)]
    """
    events = []
    for _, members in groupby(enumerate(rows), lambda member: _place(member[0], member[1], depth)):
        inside = [row for _, row in members]
        path = inside[0]["path"] or ()
        if len(path) > depth:
            events.append(_event(path[depth], None, nested(inside, depth + 1)))
        else:
            events.append(_event(inside[0], inside[0]["seq"], ()))
    return tuple(events)


def _place(index: int, row: Row, depth: int) -> tuple[bool, int]:
    """What the rows of one part have in common, and no others beside them."""
    path = row["path"] or ()
    return (True, path[depth]["part"]) if len(path) > depth else (False, index)


def _event(row: Row, seq: int | None, parts: tuple[Event, ...]) -> Event:
    lo, hi = of_datetime(row["lo"]), of_datetime(row["hi"])
    data = json.loads(row["data"]) if row["data"] else {}
    return Event(row["type"], row["source"], row["id"], lo, hi, seq, data, parts)
