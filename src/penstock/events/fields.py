"""The fields of one record, a CloudEvent or a dict of our own form, before its times are converted.

Our own form has ``seq``, ``lo`` and ``hi`` where CloudEvents have the extensions ``sequence``, ``timelo``
and ``timehi``; either name is understood in either form. Other extensions of a CloudEvent are ignored. A
record that has neither ``specversion`` nor ``data`` but a key that is no field is refused: its attributes
stand in the wrong place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.errors import DataError

FIELDS = frozenset(
    {"type", "source", "id", "time", "seq", "sequence", "lo", "hi", "timelo", "timehi", "timekind", "arrival"}
    | {"retracted", "data", "specversion", "datacontenttype", "dataschema", "subject"}
)
"""The keys of a record that have a meaning of their own."""
_SPANS = (("lo", "hi"), ("timelo", "timehi"))
_ENDS = frozenset(name for span in _SPANS for name in span)
_WHOLE = re.compile(r"-?[0-9]+")


class FieldError(DataError):
    """What is wrong with one field of a record; whoever knows the record says where it is.

    >>> print(FieldError("time", "'soon' is not a time"))
    field 'time': 'soon' is not a time
    """

    def __init__(self, field: str, problem: str, *, hint: str | None = None) -> None:
        super().__init__(f"field {field!r}: {problem}", hint=hint)
        self.field = field
        self.problem = problem

    def renamed(self, field: str) -> FieldError:
        """The same about a field that the record calls by another name."""
        return FieldError(field, self.problem, hint=self.hint)


class Fields(NamedTuple):
    """A record's fields; times are as they were given, ``time`` only where it must agree with ``hi``."""

    type: str
    source: str
    id: str | None
    seq: int | None
    span: tuple[str, str]
    lo: Any
    hi: Any
    time: Any
    arrival: Any
    uncertain: bool
    retracted: bool
    data: Mapping[str, Any]


def fields_of(record: Mapping[str, Any]) -> Fields:
    """Take a record apart and check everything but its times and attributes.

    >>> fields_of({"type": "Open", "time": 5, "data": {"door": "D1"}})[:6]
    ('Open', '', None, None, ('time', 'time'), 5)
    """
    if type(record) is not dict and not isinstance(record, Mapping):
        raise DataError(f"expected an object, found {shown(record)}", hint="an event has a type and a time")
    get = record.get
    data = get("data")
    if data is None:
        data = {}
        _check_keys(record)
    elif type(data) is not dict and not isinstance(data, Mapping):
        raise FieldError(
            "data",
            f"expected an object with the attributes, found {shown(data)}",
            hint='write attributes as {"name": value}',
        )
    kind = get("timekind")
    if kind not in (None, "uncertain", "duration"):
        raise FieldError("timekind", f"{shown(kind)} is no kind of interval", hint="it is 'uncertain' or 'duration'")
    seq = get("seq")
    span, lo, hi, time = _times(record)
    return Fields(
        _type(get("type")),
        text_of("source", get("source")) or "",
        text_of("id", get("id")) or None,
        whole("seq", seq) if seq is not None else whole("sequence", get("sequence")),
        span,
        lo,
        hi,
        time,
        get("arrival"),
        kind == "uncertain",
        _flag(get("retracted")),
        data,
    )


def _check_keys(record: Mapping[str, Any]) -> None:
    if "data_base64" in record:
        raise FieldError("data_base64", "binary data has no attributes", hint="put attributes under 'data'")
    if "specversion" in record:
        return
    for key in record:
        if key not in FIELDS:
            raise FieldError(str(key), "is no field of an event", hint=f"put attributes under 'data': {{{key!r}: …}}")


def _type(value: Any) -> str:
    text = text_of("type", value)
    if not text:
        raise FieldError(
            "type",
            "is missing",
            hint="every event has a type; --type-from or --type give one to foreign records",
        )
    return text


def text_of(field: str, value: Any) -> str | None:
    """A field that is text; a whole number stands for its digits.

    >>> text_of("source", "door-1"), text_of("id", 17), text_of("id", None)
    ('door-1', '17', None)
    """
    if value is None or type(value) is str:
        return value
    if isinstance(value, str):
        return str(value)
    number = plain(value)
    if type(number) is int:
        return str(number)
    raise FieldError(field, f"expected text, found {shown(value)}", hint=f'write {field} as text, as in "{field}-1"')


def whole(field: str, value: Any) -> int | None:
    """A field that counts: an integer of 64 bits, or its digits as text.

    >>> whole("seq", 7), whole("sequence", "7"), whole("seq", None)
    (7, 7, None)
    """
    if value is None:
        return None
    number = plain(value)
    if isinstance(number, str) and _WHOLE.fullmatch(number):
        number = int(number)
    if type(number) is int and -(2**63) <= number < 2**63:
        return number
    raise FieldError(
        field,
        f"expected a whole number of 64 bits, found {shown(value)}",
        hint="leave it out if the source does not count",
    )


def _flag(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise FieldError("retracted", f"expected true or false, found {shown(value)}", hint="leave it out for false")


def _times(record: Mapping[str, Any]) -> tuple[tuple[str, str], Any, Any, Any]:
    get = record.get
    time = get("time")
    for span in () if _ENDS.isdisjoint(record) else _SPANS:
        lo, hi = get(span[0]), get(span[1])
        if lo is not None and hi is not None:
            return span, lo, hi, time
        if lo is not None or hi is not None:
            missing, there = span if lo is None else span[::-1]
            raise FieldError(
                missing,
                f"is missing, but there is {there!r}",
                hint="give both ends of an interval, or only 'time'",
            )
    if time is None:
        raise FieldError("time", "is missing", hint="give 'time', or both ends of an interval: 'lo' and 'hi'")
    return ("time", "time"), time, time, None


def plain(value: Any) -> Any:
    """A numpy scalar as the Python value that it stands for; anything else as it is.

    >>> import numpy
    >>> plain(numpy.int32(3)), plain("x")
    (3, 'x')
    """
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def shown(value: Any) -> str:
    """A value as errors show it: short, and with its kind where it is not a plain one.

    >>> shown("x" * 99)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"
    """
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
