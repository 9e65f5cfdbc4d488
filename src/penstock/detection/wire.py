"""Composites as they travel between detectors: CloudEvents with all that another detector needs to go on exactly.

Beside what `penstock detect` writes, each part has the labels that it was matched under, on every level, and a
composite that a timer completed says which: ``place`` is ``Definition/Timer``. Where an event completed it, its place
is that of its last part. ``sequence`` is its number among those completed there: contexts care who was first. Numbers
keep their kind: 2.0 stays a float.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock.detection.selection import Selection
from penstock.engine import vm
from penstock.engine.composed import PRIMITIVE, Composed, labels_of
from penstock.engine.kept import Ints
from penstock.errors import DataError
from penstock.events.cloudevents import attributes_of, from_cloudevent, to_part
from penstock.events.digest import DIGITS
from penstock.events.event import Event
from penstock.events.fields import fields_of
from penstock.events.found import Composite, Part
from penstock.events.instant import field_instant
from penstock.events.times import datetime_of, format_time, of_datetime


def to_record(composite: Composite, place: str | None = None, number: int = 0) -> dict[str, Any]:
    """A composite as it travels.

    >>> door = Event("Open", "door-1", "17", 5, 5)
    >>> record = to_record(Composite("Entry", 5, 5, {"d": 2.0}, (Part(door, frozenset("x")),)))
    >>> record["data"]["d"], record["data"]["parts"][0]["label"]
    (2.0, 'x')
    """
    end = format_time(composite.hi)
    record = {"specversion": "1.0", "type": composite.type, "source": composite.source, "id": composite.id}
    record |= {"time": end, "timelo": format_time(composite.lo), "timehi": end}
    if number:
        record["sequence"] = str(number)
    if place is not None:
        record["place"] = place
    parts = [_part(part) for part in composite.parts]
    return record | {"data": {**_attributes(composite), "parts": parts}}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part.symbol, Composite):
        record = to_record(part.symbol)
        del record["specversion"]
    else:
        record = to_part(part.symbol)
    if not part.labels:
        return record
    return {**record, "label": ",".join(sorted(part.labels)), "data": record.get("data", {})}


def _attributes(composite: Composite) -> dict[str, Any]:
    plain = {name: value for name, value in composite.attributes.items() if value is not None}
    return {
        name: value if isinstance(value, _PLAIN) else format_time(of_datetime(value)) for name, value in plain.items()
    }


_PLAIN = bool | int | float | str


def from_record(record: Mapping[str, Any], known: Container[str]) -> tuple[Composite, str | None]:
    """A composite that came, and the timer that completed it, if one did; ``known`` are the types of composites.

    >>> door = Event("Open", "door-1", "17", 5, 5)
    >>> entry = Composite("Entry", 5, 5, {"d": 2.0}, (Part(door, frozenset("x")),))
    >>> from_record(to_record(entry, "Entry/T"), {"Entry"}) == (entry, "Entry/T")
    True
    """
    place = record.get("place") if isinstance(record, Mapping) else None
    if place is not None and not isinstance(place, str):
        raise DataError(f"field 'place': expected text, found {place!r:.60}")
    return _composite(record, known), place


def _composite(record: Any, known: Container[str]) -> Composite:
    fields = fields_of(record)
    lo, hi = (field_instant(name, at, None, None) for name, at in zip(fields.span, (fields.lo, fields.hi), strict=True))
    if fields.type not in known:
        raise DataError(f"composites of type `{fields.type}` are not awaited here")
    parts = fields.data.get("parts")
    if not isinstance(parts, list | tuple) or not parts:
        raise DataError(f"composite {fields.id!r} has no parts", hint="a composite travels with all its parts")
    inside = tuple(_read_part(part, known) for part in parts)
    return Composite(fields.type, lo, hi, attributes_of(fields.data), inside)


def _read_part(record: Any, known: Container[str]) -> Part:
    labels = record.get("label") if isinstance(record, Mapping) else None
    names = frozenset(labels.split(",")) if isinstance(labels, str) and labels else frozenset()
    is_composite = isinstance(record, Mapping) and record.get("type") in known
    return Part(_composite(record, known) if is_composite else from_cloudevent(record), names)


def as_text(record: Mapping[str, Any]) -> str:
    """A record as text that is held until its place has come."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


@dataclass
class Unpacking:
    """Composites as objects, from what an engine found; ``carried`` are the attributes that events keep."""

    selection: Selection
    carried: Sequence[str] | None
    _known: dict[tuple[int, int], Composite | Event] = field(default_factory=dict)

    def composites(self) -> tuple[list[Composite], Ints]:
        """All that were selected, in the order of results, and at which places (see `FoundDefinition`)."""
        whole: list[Composite] = []
        numbers = {one.name: number for number, one in enumerate(self.selection.found.definitions)}
        for one in self.selection.definitions:
            self._gather(one.composites)
            whole += self._objects(numbers[one.name], one.composites)
        order = self.selection.order
        places = [one.places for one in self.selection.definitions if one.places is not None]
        return [whole[row] for row in order.tolist()], np.concatenate([np.zeros((0, 2), np.int64), *places])[order]

    def _gather(self, composites: Composed) -> None:
        """Makes objects of all that composites are made of, inside first."""
        found = self.selection.found
        fresh = {row for row in composites.leaves.tolist() if (PRIMITIVE, row) not in self._known}
        events = np.array(sorted(fresh), np.int64)
        for table, where, rows in found.events.locate(events) if len(events) else ():
            for number, event in zip(events[where].tolist(), table.events_at(rows), strict=True):
                self._known[PRIMITIVE, number] = self._carrying(event)
        for owner in np.unique(composites.owners[composites.owners >= 0]).tolist():
            rows = np.unique(composites.rows[composites.owners == owner])
            for piece, where, inside in found.definitions[owner].known.locate(rows):
                some = piece.take(inside)
                self._gather(some)
                for number, one in zip(rows[where].tolist(), self._objects(owner, some), strict=True):
                    self._known[owner, number] = one

    def _carrying(self, event: Event) -> Event:
        if self.carried is None:
            return event
        kept = {name: event.attributes[name] for name in self.carried if name in event.attributes}
        return Event(event.type, event.source, event.id, event.lo, event.hi, event.seq, kept, event.parts)

    def _objects(self, owner: int, composites: Composed) -> list[Composite]:
        definition = self.selection.found.definitions[owner]
        labels = {mask: frozenset(labels_of(mask, list(definition.labels))) for mask in set(composites.labels.tolist())}
        symbols = zip(composites.owners.tolist(), composites.rows.tolist(), composites.labels.tolist(), strict=True)
        parts = [Part(self._known[which, row], labels[mask]) for which, row, mask in symbols]
        bounds = composites.offsets.tolist()
        stamps = zip(composites.lo.tolist(), composites.hi.tolist(), strict=True)
        kinds, bits = composites.kinds.tolist(), composites.bits.tolist()
        ids = np.ascontiguousarray(composites.words).tobytes().decode()
        made = [
            Composite(
                definition.name,
                lo,
                hi,
                self._values(definition.attributes, kinds[row], bits[row]),
                tuple(parts[bounds[row] : bounds[row + 1]]),
            )
            for row, (lo, hi) in enumerate(stamps)
        ]
        for row, one in enumerate(made):
            vars(one)["id"] = ids[row * DIGITS : (row + 1) * DIGITS]  # the engine has computed it
        return made

    def _values(self, names: Sequence[str], kinds: list[int], bits: list[int]) -> dict[str, Any]:
        triples = zip(names, kinds, bits, strict=True)
        return {name: self._value(kind, value) for name, kind, value in triples if kind != vm.NULL}

    def _value(self, kind: int, bits: int) -> Any:
        if kind == vm.BOOLEAN:
            return bool(bits)
        if kind == vm.TEXT:
            return self.selection.found.texts[bits].as_py()
        if kind == vm.TIME:
            return datetime_of(bits)
        return float(np.int64(bits).view(np.float64)) if kind == vm.FLOAT else bits
