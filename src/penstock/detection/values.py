"""Attributes in JSON, in one form: the same value is the same text on every machine and in every batch."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from penstock.events.event import Value
from penstock.events.times import format_time, of_datetime

_EXACT = 2.0**53


def json_value(value: Value) -> bool | int | float | str:
    """A value as JSON has it: a whole number without a fraction, a time and what is infinite as text.

    >>> json_value(5.0), json_value(5.5), json_value(float("inf"))
    (5, 5.5, 'Infinity')
    """
    if isinstance(value, datetime):
        return format_time(of_datetime(value))
    if isinstance(value, float):
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return int(value) if value.is_integer() and abs(value) < _EXACT else value
    return value


def present(attributes: Mapping[str, Any], names: Iterable[str] | None = None) -> dict[str, Any]:
    """The attributes that are there (null and what is no number are not), all or those named, in that order.

    >>> present({"a": 1, "b": None, "c": 2}, ["c", "b", "a"])
    {'c': 2, 'a': 1}
    """
    chosen = attributes if names is None else [name for name in names if name in attributes]
    return {name: attributes[name] for name in chosen if _is_there(attributes[name])}


def _is_there(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def json_text(value: Any) -> str:
    """JSON as it is written everywhere in results.

    >>> json_text({"room": "Büro"})
    '{"room": "Büro"}'
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def data_text(attributes: Mapping[str, Value]) -> str | None:
    """Attributes as JSON text; None if there are none.

    >>> data_text({"temp": 14.0}), data_text({})
    ('{"temp": 14}', None)
    """
    if not attributes:
        return None
    return json_text({name: json_value(value) for name, value in attributes.items()})
