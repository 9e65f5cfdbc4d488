"""Instants: RFC 3339 text and other ways to write them, as integer microseconds since the epoch, UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

from penstock.errors import DataError, nearest

SECOND = 1_000_000
DAY = 86_400 * SECOND
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST = -62_135_596_800 * SECOND
"""The first instant of the year 1."""
LATEST = 253_402_300_800 * SECOND - 1
"""The last instant of the year 9999."""
TIME_UNITS = {"s": Fraction(SECOND), "ms": Fraction(1000), "us": Fraction(1), "ns": Fraction(1, 1000)}
"""Microseconds in each unit in which a file may count its times."""

NO_ZONE = "add the zone, as in 2026-03-01T10:00:00Z, or say which one is meant with --zone (zone= in Python)"
"""What to do about a time without a zone."""
_FORM = "a time looks like 2026-03-01T10:00:00Z or 2026-03-01T10:00:00.5+01:00 (RFC 3339)"
_RFC_3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))?"
)
_MICROSECOND = timedelta(microseconds=1)
_EPOCH_DAY = EPOCH.toordinal()


@lru_cache(maxsize=4096)
def parse_time(text: str, zone: str | None = None, round_up: bool = False) -> int:
    """Read an RFC 3339 time; ``zone`` is an IANA name for times that say none.

    A fraction finer than a microsecond is rounded down, or up with ``round_up``.

    >>> parse_time("1970-01-01T00:00:01.5Z")
    1500000
    >>> parse_time("1970-01-01T01:00:00", zone="Europe/Berlin")
    0
    >>> parse_time("1970-01-01 00:00:00.0000001Z", round_up=True)
    1
    """
    match = _RFC_3339.fullmatch(text.strip())
    if match is None:
        raise DataError(f"{text!r} is not a time", hint=_FORM)
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if minute > 59 or hour > 23 or second > 60:
        raise DataError(f"{text!r} is not a time of day", hint=_FORM)
    try:
        days = date(year, month, day).toordinal() - _EPOCH_DAY
    except ValueError as error:
        raise DataError(f"{text!r} is not a date: {error}", hint=_FORM) from None
    local = days * DAY + ((hour * 60 + minute) * 60 + second) * SECOND + _fraction(match[7], round_up)
    if match[8]:
        return in_range(local, text)
    if match[9]:
        return in_range(local - _offset(match, text), text)
    if zone is None:
        raise DataError(f"{text!r} has no zone", hint=NO_ZONE)
    naive = datetime(year, month, day, hour, minute, min(second, 59))
    return in_range(local - _microseconds(naive.replace(tzinfo=zone_of(zone)).utcoffset()), text)


def _fraction(digits: str | None, round_up: bool) -> int:
    if not digits:
        return 0
    finer = digits[6:].strip("0")
    return int(digits[:6].ljust(6, "0")) + (1 if finer and round_up else 0)


def _offset(match: re.Match[str], text: str) -> int:
    hours, minutes = int(match[10]), int(match[11])
    if hours > 23 or minutes > 59:
        raise DataError(f"{text!r} has an offset that no zone has", hint=_FORM)
    return (hours * 60 + minutes) * 60 * SECOND * (-1 if match[9] == "-" else 1)


def _microseconds(delta: timedelta | None) -> int:
    return 0 if delta is None else delta // _MICROSECOND


def in_range(instant: int, text: object) -> int:
    """The instant itself if it lies in the years 1 to 9999, otherwise an error about ``text``.

    >>> in_range(0, "0")
    0
    """
    if EARLIEST <= instant <= LATEST:
        return instant
    raise DataError(
        f"{text!r} is outside the years 1 to 9999",
        hint="for numbers, say what they count with --time-unit s, ms, us or ns (time_unit= in Python)",
    )


def format_time(microseconds: int) -> str:
    """Write an instant in RFC 3339, UTC, with three or six digits of fraction where it has one.

    >>> format_time(0), format_time(1_500_000), format_time(-1)
    ('1970-01-01T00:00:00Z', '1970-01-01T00:00:01.500Z', '1969-12-31T23:59:59.999999Z')
    """
    seconds, fraction = divmod(in_range(microseconds, microseconds), SECOND)
    text = (EPOCH + timedelta(seconds=seconds)).isoformat()[:19]
    if not fraction:
        return text + "Z"
    if fraction % 1000 == 0:
        return f"{text}.{fraction // 1000:03d}Z"
    return f"{text}.{fraction:06d}Z"


@cache
def zone_of(name: str) -> ZoneInfo:
    """The time zone of that IANA name.

    >>> zone_of("Europe/Berlin").key
    'Europe/Berlin'
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        close = nearest(name, available_timezones())
        hint = f"did you mean {close!r}?" if close else "zones have IANA names such as Europe/Berlin or UTC"
        raise DataError(f"{name!r} is not a time zone", hint=hint) from None


def of_datetime(value: datetime, zone: str | None = None, round_up: bool = False) -> int:
    """The instant of a ``datetime``, which must know its zone unless one is given.

    >>> from datetime import datetime, timezone
    >>> of_datetime(datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc))
    1000000
    """
    finer = getattr(value, "nanosecond", 0)
    if value.utcoffset() is None:
        if zone is None:
            raise DataError(f"{value.isoformat(' ')!r} has no zone", hint=NO_ZONE)
        value = value.replace(tzinfo=zone_of(zone))
    instant = (value - EPOCH) // _MICROSECOND + (1 if finer and round_up else 0)
    return in_range(instant, value.isoformat(" "))


def of_number(value: int | float | Decimal, unit: str | None = None, round_up: bool = False) -> int:
    """The instant that a number counts, in ``unit`` (microseconds unless given).

    A float means the shortest decimal that is written like it, so 0.1 s is 100 ms exactly.

    >>> of_number(1289241911.72836, "s"), of_number(1500, "ns"), of_number(1500, "ns", round_up=True)
    (1289241911728360, 1, 2)
    """
    if value != value or value in (float("inf"), float("-inf")):
        raise DataError(f"{value!r} is not a time", hint=_FORM)
    scaled = Fraction(repr(value) if isinstance(value, float) else value) * unit_of(unit)
    return in_range(-(-scaled // 1) if round_up else scaled // 1, value)


def unit_of(unit: str | None) -> Fraction:
    """Microseconds in a unit of `TIME_UNITS`; microseconds unless one is given.

    >>> unit_of("ms")
    Fraction(1000, 1)
    """
    try:
        return TIME_UNITS[unit or "us"]
    except KeyError:
        raise DataError(f"{unit!r} is not a unit for times", hint="the units are s, ms, us and ns") from None


def next_clock_time(after: int, hour: int, minute: int, second_us: int, zone: ZoneInfo) -> int:
    """The first instant strictly after ``after`` at which clocks in ``zone`` show that time.

    ``second_us`` are the seconds in microseconds. A time that clocks show twice counts twice; one that they
    skip is taken with the offset before the change.

    >>> format_time(next_clock_time(0, 19, 0, 0, zone_of("UTC")))
    '1970-01-01T19:00:00Z'
    """
    in_day = (hour * 60 + minute) * 60 * SECOND + second_us
    first = after // DAY - 2
    for day in range(first, first + 6):
        later = [at for at in _clock_times(day * DAY + in_day, zone) if at > after]
        if later:
            return min(later)
    raise DataError(f"no {hour:02d}:{minute:02d} comes after {format_time(after)}", hint="times end with the year 9999")


def _clock_times(local: int, zone: ZoneInfo) -> list[int]:
    """The instants at which clocks show a local time, given as if it were UTC."""
    if not EARLIEST <= local <= LATEST:
        return []
    wall = (EPOCH + timedelta(microseconds=local)).replace(tzinfo=zone)
    first, second = (_microseconds(wall.replace(fold=fold).utcoffset()) for fold in (0, 1))
    offsets = (first, second) if second < first else (first,)
    return [local - offset for offset in offsets]


def datetime_of(microseconds: int) -> datetime:
    """The instant as a ``datetime`` in UTC.

    >>> datetime_of(0)
    datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    return EPOCH + timedelta(microseconds=microseconds)
