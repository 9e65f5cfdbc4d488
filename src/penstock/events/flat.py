"""Foreign JSON records: keys renamed to fields by a mapping, and attributes beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.events.fields import FIELDS
from penstock.events.mapping import Columns

_TIMES = ("time", "lo", "hi", "timelo", "timehi")


def unflattened(record: Any, columns: Columns) -> Any:
    """The record in our own form. What a field is taken from stays an attribute too, under its own name.

    Keys are looked up in the record and then in its ``data``. A record without ``data`` is flat: what is no
    field is an attribute.

    >>> unflattened({"alarm": 11, "at": 5, "room": "R1"}, Columns(type_from="alarm", time_from="at"))
    {'type': 11, 'time': 5, 'data': {'alarm': 11, 'at': 5, 'room': 'R1'}}
    """
    if not isinstance(record, Mapping):
        return record
    data = record.get("data")
    mapped = _mapped(record, columns)
    own = [key for key in record if key in FIELDS and key not in mapped and key not in _hidden(columns)]
    result = {key: record[key] for key in own}
    for field, key in mapped.items():
        result[field] = record.get(key, data.get(key) if isinstance(data, Mapping) else None)
    if columns.type is not None:
        result["type"] = columns.type
    if data is None:
        result["data"] = {key: value for key, value in record.items() if key not in own and key != "data"}
    return result


def _mapped(record: Mapping[str, Any], columns: Columns) -> dict[str, str]:
    """The fields that are taken from other keys."""
    begin = columns.time_from
    if begin is None and columns.time_to:
        begin = next((name for name in ("lo", "timelo") if name in record), "time")
    return {field: key for field, key in columns.given(begin).items() if key}


def _hidden(columns: Columns) -> tuple[str, ...]:
    """The fields of the record's own that the mapping puts others in the place of."""
    times = _TIMES if columns.time_from or columns.time_to else ()
    return (
        *times,
        *(["sequence"] if columns.seq_from else []),
        *(["type"] if columns.type is not None else []),
    )
