"""Composites as a subscriber calls them: types, attributes and labels get their own names back, and ids with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.detection.wire import from_record
from penstock.events.event import Event
from penstock.events.found import Composite, Part
from penstock.network.plan import Listening, Names


def delivered(record: Mapping[str, Any], listening: Listening) -> Event:
    """The event that a subscription gets, from the record that a detector has published.

    >>> from penstock.detection.wire import to_record
    >>> shared = Composite("c1", 5, 5, {"p1": 7}, (Part(Event("A", "s", "1", 5, 5), frozenset()),))
    >>> names = {"c1": Names("Met", {"p1": "room"})}
    >>> event = delivered(to_record(shared), Listening("sub", ("d",), ("c1",), names))
    >>> event.type, event.attributes["room"]
    ('Met', 7)
    """
    composite, _ = from_record(record, listening.definitions)
    return _event(renamed(composite, listening.definitions))


def _event(composite: Composite) -> Event:
    parts = (_event(one.symbol) if isinstance(one.symbol, Composite) else one.symbol for one in composite.parts)
    attributes = dict(composite.attributes)
    return Event(
        composite.type,
        composite.source,
        composite.id,
        composite.lo,
        composite.hi,
        attributes=attributes,
        parts=tuple(parts),
    )


def renamed(composite: Composite, definitions: Mapping[str, Names]) -> Composite:
    """A composite, and those among its parts, under other names."""
    names = definitions[composite.type]
    given = composite.attributes
    ordered = [*names.attributes, *(one for one in given if one not in names.attributes)]
    attributes = {names.attributes.get(one, one): given[one] for one in ordered if one in given}
    parts = tuple(_part(part, names, definitions) for part in composite.parts)
    return Composite(names.type, composite.lo, composite.hi, attributes, parts)


def _part(part: Part, names: Names, definitions: Mapping[str, Names]) -> Part:
    labels = frozenset(names.labels.get(label, label) for label in part.labels)
    if isinstance(part.symbol, Composite):
        return Part(renamed(part.symbol, definitions), labels)
    return replace(part, labels=labels)
