"""CloudEvents 1.0 in JSON, structured mode, to and from `Event`.

``sequence`` is read as text or as a number and written as text, because the CloudEvents extension of that
name is text. A time stamp among the attributes is written in RFC 3339; JSON has no times, so it is read
back as text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from penstock.errors import DataError
from penstock.events.event import Event, Value
from penstock.events.fields import FieldError, Fields, fields_of, plain, shown
from penstock.events.instant import disagrees, field_instant, swapped
from penstock.events.times import datetime_of, format_time, of_datetime


def to_cloudevent(event: Event) -> dict[str, Any]:
    """The event as a CloudEvent, its keys always in the same order.

    >>> to_cloudevent(Event("Open", "door-1", "17", 0, 0, seq=4, attributes={"door": "D1"}))
    {'specversion': '1.0', 'type': 'Open', 'source': 'door-1', 'id': '17', 'time': '1970-01-01T00:00:00Z', \
'sequence': '4', 'data': {'door': 'D1'}}
    """
    record: dict[str, Any] = {"specversion": "1.0", **_context(event)}
    if event.uncertain and not event.stamp.is_point:
        record["timekind"] = "uncertain"
    if event.arrival is not None:
        record["arrival"] = format_time(event.arrival)
    if event.retracted:
        record["retracted"] = True
    return record | _data(event)


def to_part(event: Event) -> dict[str, Any]:
    """The event as it stands among the parts of a composite.

    >>> to_part(Event("Open", "door-1", "17", 0, 1000))
    {'type': 'Open', 'source': 'door-1', 'id': '17', 'time': '1970-01-01T00:00:00.001Z', \
'timelo': '1970-01-01T00:00:00Z', 'timehi': '1970-01-01T00:00:00.001Z'}
    """
    return _context(event) | _data(event)


def _context(event: Event) -> dict[str, Any]:
    end = format_time(event.hi)
    context: dict[str, Any] = {"type": event.type, "source": event.source, "id": event.id, "time": end}
    if event.seq is not None:
        context["sequence"] = str(event.seq)
    if event.lo != event.hi:
        context |= {"timelo": format_time(event.lo), "timehi": end}
    return context


def _data(event: Event) -> dict[str, Any]:
    data: dict[str, Any] = {name: _json_value(value) for name, value in event.attributes.items()}
    if event.is_composite:
        data["parts"] = [to_part(part) for part in event.parts]
    return {"data": data} if data else {}


def _json_value(value: Value) -> bool | int | float | str:
    return format_time(of_datetime(value)) if isinstance(value, datetime) else value


def from_cloudevent(record: Mapping[str, Any], zone: str | None = None) -> Event:
    """Read one CloudEvent; without an id it gets the empty one.

    >>> from_cloudevent({"type": "Open", "source": "door-1", "id": "17", "time": "1970-01-01T00:00:01Z"})
    Event(type='Open', source='door-1', id='17', lo=1000000, hi=1000000, seq=None, attributes={}, parts=(), \
arrival=None, uncertain=False, retracted=False)
    """
    fields = fields_of(record)
    lo, hi = _stamp(fields, zone)
    arrival = fields.arrival
    return Event(
        fields.type,
        fields.source,
        fields.id or "",
        lo,
        hi,
        fields.seq,
        attributes_of(fields.data, zone),
        parts_of(fields.data, zone),
        None if arrival is None else field_instant("arrival", arrival, None, zone, round_up=True),
        fields.uncertain,
        fields.retracted,
    )


def _stamp(fields: Fields, zone: str | None) -> tuple[int, int]:
    lo = field_instant(fields.span[0], fields.lo, None, zone)
    hi = field_instant(fields.span[1], fields.hi, None, zone, round_up=True)
    if lo > hi:
        raise swapped(fields.span, fields.lo, fields.hi)
    if fields.time is not None and field_instant("time", fields.time, None, zone, round_up=True) != hi:
        raise disagrees(fields.time, fields.span, fields.hi)
    return lo, hi


def parts_of(data: Mapping[str, Any], zone: str | None = None) -> tuple[Event, ...]:
    """The parts of a composite, from the list that it carries in its data.

    >>> [part.id for part in parts_of({"parts": [{"type": "A", "id": "1", "time": 0}]})]
    ['1']
    """
    parts = data.get("parts")
    if not isinstance(parts, list | tuple):
        return ()
    events = []
    for number, part in enumerate(parts, 1):
        try:
            events.append(from_cloudevent(part, zone))
        except DataError as error:
            raise FieldError("data.parts", f"part {number}: {error.message}", hint=error.hint) from None
    return tuple(events)


def attributes_of(data: Mapping[str, Any], zone: str | None = None) -> dict[str, Value]:
    """The attributes among a record's data: all that is not absent, and not the parts of a composite.

    >>> attributes_of({"room": "R1", "temp": 17.5, "note": None, "parts": []})
    {'room': 'R1', 'temp': 17.5}
    """
    values = {str(name): attribute(str(name), value, zone) for name, value in data.items() if not is_parts(name, value)}
    return {name: value for name, value in values.items() if value is not None}


def is_parts(name: object, value: object) -> bool:
    """Whether this entry of a record's data is the list of a composite's parts.

    >>> is_parts("parts", []), is_parts("parts", 3)
    (True, False)
    """
    return name == "parts" and isinstance(value, list | tuple)


def attribute(name: str, value: Any, zone: str | None = None) -> Value | None:
    """One attribute's value as one of the five kinds; None where it is absent.

    A float that is no number is absent, a date is text, a decimal number is a float.

    >>> attribute("temp", 17.5), attribute("temp", float("nan"))
    (17.5, None)
    """
    value = plain(value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return _integer(name, value)
    if isinstance(value, float | Decimal):
        return None if math.isnan(value) else float(value)
    if isinstance(value, datetime):
        return _time_stamp(name, value, zone) if value == value else None
    if isinstance(value, date):
        return value.isoformat()
    raise FieldError(
        f"data.{name}",
        f"{shown(value)} is no value for an attribute",
        hint="an attribute is true or false, a number, text or a time; take lists and objects apart",
    )


def _integer(name: str, value: int) -> int:
    if -(2**63) <= value < 2**63:
        return int(value)
    raise FieldError(f"data.{name}", f"{shown(value)} does not fit into 64 bits", hint="write it as text or as a float")


def _time_stamp(name: str, value: datetime, zone: str | None) -> datetime:
    return datetime_of(field_instant(f"data.{name}", value, None, zone))
