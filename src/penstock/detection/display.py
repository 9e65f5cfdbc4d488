"""Composites for people: when, what, with which parameters, made of what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from html import escape

from penstock.detection.values import json_text, json_value
from penstock.errors import visible
from penstock.events.event import Event, Value
from penstock.events.times import datetime_of

_PARTS = 8


@dataclass(frozen=True)
class Line:
    """One composite in words; its day and time are in the zone that was asked for."""

    day: str
    time: str
    type: str
    parameters: str
    parts: str

    def __str__(self) -> str:
        words = (f"{self.day} {self.time}", self.type, self.parameters, self.parts)
        return "  ".join(word for word in words if word)


def lines_of(composites: Iterable[Event], zone: tzinfo = UTC) -> Iterator[Line]:
    """Each composite in words.

    >>> pair = Event("Pair", "penstock/Pair", "x", 0, 90_000_000, attributes={"door": "D1"}, parts=(
    ...     Event("Open", "", "1", 0, 0), Event("Close", "", "2", 90_000_000, 90_000_000)))
    >>> print(*lines_of([pair]))
    1970-01-01 00:00:00 – 00:01:30  Pair  door=D1  Open@00:00:00 Close@00:01:30
    """
    for event in composites:
        lo, hi = (datetime_of(at).astimezone(zone) for at in (event.lo, event.hi))
        time = _clock(lo, lo) + (f" – {_clock(hi, lo)}" if hi != lo else "")
        words = [f"{name}={_value(value)}" for name, value in event.attributes.items()]
        parts = " ".join(_parts(event, lo, zone))
        yield Line(str(lo.date()), time, visible(event.type), visible(" ".join(words)), visible(parts))


def _value(value: Value) -> str:
    return value if isinstance(value, str) else json_text(json_value(value)).strip('"')


def _parts(event: Event, day: datetime, zone: tzinfo) -> Iterator[str]:
    for part in event.parts[:_PARTS]:
        yield f"{part.type}@{_clock(datetime_of(part.hi).astimezone(zone), day)}"
    if len(event.parts) > _PARTS:
        yield f"… +{len(event.parts) - _PARTS}"


def _clock(at: datetime, day: datetime) -> str:
    """The time of day, with the date where it is another than the row's, and a fraction where it has one."""
    clock = at.time().isoformat("milliseconds" if at.microsecond % 1000 == 0 else "microseconds")
    clock = clock.removesuffix(".000")
    return clock if at.date() == day.date() else f"{at.date()} {clock}"


def html_table(composites: Iterable[Event], more: str) -> str:
    """A table for a notebook; ``more`` is said below it.

    >>> html_table([Event("Met", "", "1", 0, 0)], "").count("<tr>")
    2
    """
    head = _row("th", ("time (UTC)", "type", "parameters", "parts"))
    lines = lines_of(composites)
    rows = [_row("td", (f"{one.day} {one.time}", one.type, one.parameters, one.parts)) for one in lines]
    below = f"<p>{escape(more)}</p>" if more else ""
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>{below}"


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
