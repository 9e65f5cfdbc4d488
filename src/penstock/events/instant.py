"""One time as Python code gives it: an integer, a float, a ``datetime`` or RFC 3339 text."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from penstock.errors import DataError
from penstock.events.fields import FieldError, plain, shown
from penstock.events.times import of_datetime, of_number, parse_time


def instant(value: Any, unit: str | None = None, zone: str | None = None, round_up: bool = False) -> int:
    """The instant in microseconds; numbers count ``unit`` (microseconds unless given).

    >>> instant(5, "ms"), instant("1970-01-01T00:00:00.005Z")
    (5000, 5000)
    """
    value = plain(value)
    if isinstance(value, str):
        return parse_time(value, zone, round_up)
    if isinstance(value, datetime) and value == value:
        return of_datetime(value, zone, round_up)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return of_number(value, unit, round_up)
    raise DataError(
        f"{shown(value)} is not a time",
        hint="a time is a number, a datetime, or text such as 2026-03-01T10:00:00Z",
    )


def field_instant(
    field: str, value: Any, unit: str | None = None, zone: str | None = None, round_up: bool = False
) -> int:
    """The same, with errors that name the field.

    >>> field_instant("time", "1970-01-01T00:00:01Z")
    1000000
    """
    try:
        return instant(value, unit, zone, round_up)
    except DataError as error:
        raise FieldError(field, error.message, hint=error.hint) from None


def swapped(span: tuple[str, str], lo: Any, hi: Any) -> FieldError:
    """The error about an interval that ends before it begins.

    >>> print(swapped(("lo", "hi"), 5, 4))
    field 'lo': 5 is after 'hi', which is 4
    hint: an interval ends when it begins or later; perhaps the two are swapped
    """
    return FieldError(
        span[0],
        f"{shown(lo)} is after {span[1]!r}, which is {shown(hi)}",
        hint="an interval ends when it begins or later; perhaps the two are swapped",
    )


def disagrees(time: Any, span: tuple[str, str], hi: Any) -> FieldError:
    """The error about a ``time`` that is not the end of the interval.

    >>> print(disagrees(3, ("lo", "hi"), 4))
    field 'time': 3 is not the end of the interval, 'hi', which is 4
    hint: leave out 'time', or make it equal to 'hi'
    """
    return FieldError(
        "time",
        f"{shown(time)} is not the end of the interval, {span[1]!r}, which is {shown(hi)}",
        hint=f"leave out 'time', or make it equal to {span[1]!r}",
    )
