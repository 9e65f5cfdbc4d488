"""Composites that were detected elsewhere, put where the composites of this engine's own definitions are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock.engine.composed import PRIMITIVE, Composed, Composer
from penstock.engine.kept import Kept
from penstock.engine.memory import Ints
from penstock.engine.pool import Pool
from penstock.engine.values import constant
from penstock.errors import DataError
from penstock.events.cloudevents import to_part
from penstock.events.event import Event
from penstock.events.found import Composite
from penstock.events.records import from_dicts
from penstock.events.table import EventTable
from penstock.events.times import format_time, of_datetime


@dataclass(frozen=True)
class Delivered:
    """Composites of definitions that are detected elsewhere, in the order of their places.

    Each has a row in the table that is fed beside them. ``anchors`` are the rows of their places: that of the event
    that completed it, if it is there; that of the first one at the same place otherwise. ``timers`` are the ranks of
    the timers that completed them, -1 where an event did.
    """

    rows: Ints
    anchors: Ints
    timers: Ints
    composites: Sequence[Composite]

    def boundary(self, count: int, end: int) -> int:
        """The first row from ``end`` on at which a place begins; ``count`` is the number of all rows."""
        if not len(self.rows):
            return end
        anchors = dict(zip(self.rows.tolist(), self.anchors.tolist(), strict=True))
        while end < count and anchors.get(end, end) < end:
            end += 1
        return end


NOBODY = Delivered(*(np.zeros(0, np.int64),) * 3, ())


@dataclass
class _Gathered:
    """The composites of each definition, and the events below, each once."""

    owner_of: Mapping[str, int]
    composites: dict[int, list[Composite]] = field(default_factory=dict)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    leaves: dict[tuple[str, str], Event] = field(default_factory=dict)
    rows: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, composite: Composite) -> None:
        if id(composite) in self.places:
            return
        for part in composite.parts:
            if isinstance(part.symbol, Composite):
                self.add(part.symbol)
            else:
                name = (part.symbol.source, part.symbol.id)
                self.rows.setdefault(name, len(self.rows))
                self.leaves.setdefault(name, part.symbol)
        owner = self.owner_of[composite.type]
        some = self.composites.setdefault(owner, [])
        self.places[id(composite)] = (owner, len(some))
        some.append(composite)


class Deliveries:
    """Takes in what was detected elsewhere."""

    def __init__(
        self, composers: Sequence[Composer], events: Kept[EventTable], stores: Sequence[Kept[Composed]], pool: Pool
    ) -> None:
        self._composers, self._events, self._stores, self._pool = composers, events, stores, pool
        self._owners = {composer.name: number for number, composer in enumerate(composers)}

    def owner(self, composite: Composite) -> int:
        """The number of its definition."""
        return self._owners[composite.type]

    def take(self, composites: Iterable[Composite]) -> Callable[[Composite], int]:
        """Keeps composites with all that they are made of; what is returned says which number each has there."""
        gathered = _Gathered(self._owners)
        for one in composites:
            gathered.add(one)
        first_leaf = self._events.end
        for table in _tables(list(gathered.leaves.values())):
            self._events.add(table)
        starts: dict[int, int] = {}
        for owner in sorted(gathered.composites):
            starts[owner] = self._stores[owner].end
            self._stores[owner].add(self._columns(owner, gathered, first_leaf, starts))

        def number(composite: Composite) -> int:
            owner, place = gathered.places[id(composite)]
            return starts[owner] + place

        return number

    def _columns(self, owner: int, gathered: _Gathered, first_leaf: int, starts: Mapping[int, int]) -> Composed:
        composer, composites = self._composers[owner], gathered.composites[owner]
        owners, rows, labels = [], [], []
        bits = {label: 1 << bit for bit, label in enumerate(composer.labels)}
        for one in composites:
            for part in one.parts:
                if isinstance(part.symbol, Composite):
                    inner, place = gathered.places[id(part.symbol)]
                    owners.append(inner)
                    rows.append(starts[inner] + place)
                else:
                    owners.append(PRIMITIVE)
                    rows.append(first_leaf + gathered.rows[part.symbol.source, part.symbol.id])
                labels.append(sum(bits[label] for label in part.labels))
        shape = (len(composites), len(composer.attributes), 2)
        values = np.array(
            [[self._value(one.attributes.get(name)) for name in composer.attributes] for one in composites], np.int64
        ).reshape(shape)
        return composer.from_columns(
            np.array([one.lo for one in composites], np.int64),
            np.array([one.hi for one in composites], np.int64),
            values[:, :, 0].astype(np.int8),
            np.ascontiguousarray(values[:, :, 1]),
            np.cumsum([0, *(len(one.parts) for one in composites)]),
            np.array(owners, np.int64),
            np.array(rows, np.int64),
            np.array(labels, np.int64),
        )

    def _value(self, value: Any) -> tuple[int, int]:
        if value is None:
            return 0, 0
        plain = isinstance(value, bool | int | float | str)
        return constant(value if plain else format_time(of_datetime(value)), self._pool)


def _tables(events: Sequence[Event]) -> list[EventTable]:
    """Events as a table; as one for each where an attribute is of different kinds."""
    if not events:
        return []
    records = [_record(event) for event in events]
    try:
        return [from_dicts(records)]
    except DataError:
        return [from_dicts([record]) for record in records]


def _record(event: Event) -> dict[str, Any]:
    named = {"type": event.type, "source": event.source, "id": event.id, "seq": event.seq}
    parts = {"parts": [to_part(part) for part in event.parts]} if event.parts else {}
    return named | {"lo": event.lo, "hi": event.hi, "data": {**event.attributes, **parts}}
