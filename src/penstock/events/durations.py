"""Durations as people write them, ``1 h 30 min``, and as integers in microseconds."""

from __future__ import annotations

import re
from fractions import Fraction

from penstock.errors import DataError, nearest

UNITS = {"d": 86_400_000_000, "h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
"""The units in which durations are written, from the longest."""

_WORDS = {
    "d": ("day", "days"),
    "h": ("hr", "hrs", "hour", "hours"),
    "min": ("mins", "minute", "minutes"),
    "s": ("sec", "secs", "second", "seconds"),
    "ms": ("millisecond", "milliseconds"),
    "us": ("microsecond", "microseconds"),
}
_MICROSECONDS = UNITS | {word: UNITS[unit] for unit, words in _WORDS.items() for word in words}
_TERM = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([^\W\d_]+)\s*")
_HINT = "write a number and a unit, such as 1 h 30 min; units are d, h, min, s, ms and us"
_LONGEST = 2**63 - 1


def unit_microseconds(word: str) -> int | None:
    """How many microseconds a unit stands for, or None if it is no unit of time.

    >>> unit_microseconds("min"), unit_microseconds("Hours"), unit_microseconds("month")
    (60000000, 3600000000, None)
    """
    return _MICROSECONDS.get(word.lower())


def parse_duration(text: str) -> int:
    """Read a duration, several added up, as whole microseconds.

    >>> parse_duration("1 h 30 min"), parse_duration("0.5 ms"), parse_duration("2 minutes")
    (5400000000, 500, 120000000)
    >>> parse_duration("5 mn")
    Traceback (most recent call last):
    penstock.errors.DataError: '5 mn' is not a duration: 'mn' is not a unit of time
    hint: did you mean 'min'? units are d, h, min, s, ms and us
    """
    total, position = Fraction(0), 0
    while position < len(text) or not text:
        term = _TERM.match(text, position)
        if term is None:
            raise DataError(f"{text!r} is not a duration", hint=_HINT)
        total += Fraction(term[1]) * _unit(text, term[2])
        position = term.end()
    return _whole(text, total)


def nearest_unit(word: str) -> str | None:
    """The unit that a word which is none may have been meant to be.

    >>> nearest_unit("m"), nearest_unit("minuets"), nearest_unit("x")
    ('min', 'minutes', None)
    """
    return "min" if word.lower() == "m" else nearest(word.lower(), _MICROSECONDS)


def _unit(text: str, word: str) -> int:
    unit = unit_microseconds(word)
    if unit is None:
        close = nearest_unit(word)
        hint = f"did you mean {close!r}? units are d, h, min, s, ms and us" if close else _HINT
        raise DataError(f"{text!r} is not a duration: {word!r} is not a unit of time", hint=hint)
    return unit


def _whole(text: str, total: Fraction) -> int:
    if total.denominator != 1:
        raise DataError(f"{text!r} is not a whole number of microseconds", hint="microseconds are the finest unit")
    if total <= 0:
        raise DataError(f"{text!r} is not a positive duration", hint="a duration is longer than nothing")
    if total > _LONGEST:
        raise DataError(f"{text!r} is too long", hint="the longest duration is about 292,000 years")
    return int(total)


def format_duration(microseconds: int) -> str:
    """Write a duration so that `parse_duration` reads the same one.

    >>> format_duration(5_400_000_000), format_duration(1_000_001)
    ('1 h 30 min', '1 s 1 us')
    """
    terms = []
    for name, size in UNITS.items():
        count, microseconds = divmod(microseconds, size)
        if count:
            terms.append(f"{count} {name}")
    return " ".join(terms) or "0 us"
