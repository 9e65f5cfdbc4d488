"""Event types with the kinds of their attributes, and events of a type."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime

from penstock.errors import DataError
from penstock.events.event import Event, Value
from penstock.events.instant import instant
from penstock.network.directory import KINDS, EventType
from penstock.network.schemas import check_attributes

_PYTHON: Mapping[object, str] = {bool: "boolean", int: "integer", float: "float", str: "text", datetime: "time"}
"""Kinds may be given as Python's own types."""


def event_type(name: str, attributes: Mapping[str, object]) -> EventType:
    """A type, from the kinds of its attributes.

    >>> event_type("Open", {"door": str, "at": "time"})
    EventType(name='Open', attributes={'door': 'text', 'at': 'time'})
    >>> event_type("Open", {"door": list})
    Traceback (most recent call last):
    penstock.errors.DataError: attribute 'door' of Open cannot be <class 'list'>
    hint: an attribute is boolean, integer, float, text or time
    """
    kinds: dict[str, str] = {}
    for attribute, kind in attributes.items():
        said = _PYTHON.get(kind, kind) if isinstance(kind, type) else kind
        if not isinstance(said, str) or said not in KINDS:
            raise DataError(
                f"attribute {attribute!r} of {name} cannot be {kind}",
                hint=f"an attribute is {', '.join(KINDS[:-1])} or {KINDS[-1]}",
            )
        kinds[attribute] = said
    return EventType(name, kinds)


def event_of(
    type: EventType,
    attributes: Mapping[str, Value],
    *,
    source: str,
    time: int | str | datetime,
    id: str | None = None,
    seq: int | None = None,
    clock_error: int = 0,
) -> Event:
    """An event of a type, checked; a clock error makes its stamp an interval.

    >>> door = EventType("Open", {"door": "text"})
    >>> event_of(door, {"door": "D1"}, source="door-1", time=50, id="1", clock_error=5).stamp
    Stamp(lo=45, hi=55)
    """
    check_attributes(type, attributes)
    at = instant(time, None, None)
    return Event(
        type.name,
        source,
        id or uuid.uuid4().hex,
        at - clock_error,
        at + clock_error,
        seq,
        dict(attributes),
        uncertain=clock_error > 0,
    )
