"""The parts of composites as they stand in a table: their primitive constituents, each with its path.

The path of a part names the composites that it belongs to inside the row's own, outermost first, so that
nested composites can be built again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa

from penstock.detection.kinds import Kinds
from penstock.detection.values import data_text, present
from penstock.events.event import Event, Value
from penstock.events.found import Composite
from penstock.events.table import TIME
from penstock.events.times import of_datetime

PATH = pa.list_(
    pa.struct(
        [
            ("type", pa.string()),
            ("source", pa.string()),
            ("id", pa.string()),
            ("lo", TIME),
            ("hi", TIME),
            ("data", pa.string()),
            ("part", pa.int32()),
        ]
    )
)
"""The composites around a part; ``part`` is the place of each among the parts of the one around it, from 0."""
PARTS = pa.list_(
    pa.struct(
        [
            ("type", pa.string()),
            ("source", pa.string()),
            ("id", pa.string()),
            ("seq", pa.int64()),
            ("lo", TIME),
            ("hi", TIME),
            ("label", pa.string()),
            ("data", pa.string()),
            ("path", PATH),
        ]
    )
)

Attributes = Mapping[str, Value]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class PartWriter:
    """Writes the parts of composites as rows; ``carry`` chooses the attributes that primitive parts keep."""

    kinds: Kinds
    carry: Callable[[Attributes], Attributes]

    def rows(self, composite: Composite) -> list[Row]:
        """The primitive constituents in the order of matching.

        The label is that of the composite's own pattern, also for what is inside a part of it.
        """
        return [
            row
            for number, part in enumerate(composite.parts)
            for row in self._leaves(part.symbol, number, ",".join(sorted(part.labels)) or None, ())
        ]

    def _leaves(
        self, symbol: Event | Composite, number: int, label: str | None, path: tuple[Row, ...]
    ) -> Iterator[Row]:
        inner = _members(symbol)
        if isinstance(symbol, Event) and not inner:
            yield self._leaf(symbol, label, path)
            return
        around = (*path, self._around(symbol, number))
        for place, member in enumerate(inner):
            yield from self._leaves(member, place, label, around)

    def _leaf(self, event: Event, label: str | None, path: tuple[Row, ...]) -> Row:
        return {
            "type": event.type,
            "source": event.source,
            "id": event.id,
            "seq": event.seq,
            "lo": event.lo,
            "hi": event.hi,
            "label": label,
            "data": data_text(present(self.carry(event.attributes))),
            "path": list(path) or None,
        }

    def _around(self, composite: Event | Composite, number: int) -> Row:
        return {
            "type": composite.type,
            "source": composite.source,
            "id": composite.id,
            "lo": composite.lo,
            "hi": composite.hi,
            "data": data_text(self._attributes(composite)),
            "part": number,
        }

    def _attributes(self, composite: Event | Composite) -> Attributes:
        if isinstance(composite, Event):
            return present(composite.attributes)
        return present(composite.attributes, self.kinds.names(composite.type))


def _members(symbol: Event | Composite) -> Sequence[Event | Composite]:
    return symbol.parts if isinstance(symbol, Event) else [part.symbol for part in symbol.parts]


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
