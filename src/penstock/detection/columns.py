"""Columns of results: one for each parameter and selected value, typed by what is in it.

Whole numbers and others together are floats. Any other mixture (text for one type of composite, numbers for
another) is a column of JSON text, and its field says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from penstock.detection.values import json_text, json_value
from penstock.events.table import TIME
from penstock.events.times import datetime_of, of_datetime

_MIXED = {b"penstock": b"json"}
_KINDS: dict[frozenset[type], pa.DataType] = {
    frozenset(): pa.string(),
    frozenset({bool}): pa.bool_(),
    frozenset({int}): pa.int64(),
    frozenset({float}): pa.float64(),
    frozenset({int, float}): pa.float64(),
    frozenset({str}): pa.string(),
    frozenset({datetime}): TIME,
}


def column_name(attribute: str) -> str:
    """The column for an attribute; ``id`` is the composite's own, so one called so has an underscore more.

    >>> column_name("room"), column_name("id"), column_name("id_")
    ('room', 'id_', 'id__')
    """
    return f"{attribute}_" if re.fullmatch(r"id_*", attribute) else attribute


def attribute_name(column: str) -> str:
    """The attribute in a column.

    >>> attribute_name("room"), attribute_name("id_")
    ('room', 'id')
    """
    return column[:-1] if re.fullmatch(r"id_+", column) else column


def typed_column(name: str, values: Sequence[Any]) -> tuple[pa.Field, pa.Array]:
    """The field and the column of an attribute with these values, None where it is absent.

    >>> typed_column("v", [1, None, 2.5])[1].to_pylist()
    [1.0, None, 2.5]
    >>> typed_column("v", [1, "one"])[1].to_pylist()
    ['1', '"one"']
    """
    there = frozenset(_kind(value) for value in values if value is not None)
    if there not in _KINDS:
        texts = [None if value is None else json_text(json_value(value)) for value in values]
        return pa.field(name, pa.string(), metadata=_MIXED), pa.array(texts, pa.string())
    kind = _KINDS[there]
    if kind == TIME:
        values = [None if value is None else of_datetime(value) for value in values]
    elif kind == pa.float64():
        values = [None if value is None else float(value) for value in values]
    return pa.field(name, kind), pa.array(values, kind)


def _kind(value: Any) -> type:
    return datetime if isinstance(value, datetime) else type(value)


def column_values(field: pa.Field, column: pa.ChunkedArray) -> list[Any]:
    """The values of an attribute's column, as they were.

    >>> field, column = typed_column("v", [1, "one"])
    >>> column_values(field, pa.chunked_array([column]))
    [1, 'one']
    """
    if field.type == TIME:
        return [None if at is None else datetime_of(at) for at in column.cast(pa.int64()).to_pylist()]
    values: list[Any] = column.to_pylist()
    if field.metadata == _MIXED:
        return [None if text is None else json.loads(text) for text in values]
    return values
