"""Columns of results: one for each parameter and selected value, typed by what is in it.

Whole numbers and others together are floats. Any other mixture (text for one type of composite, numbers for
another) is a column of JSON text, and its field says so.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa

from penstock.detection.json_columns import json_values
from penstock.engine import vm
from penstock.engine.texts import Values
from penstock.events.table import TIME
from penstock.events.times import datetime_of

MIXED = {b"penstock": b"json"}
"""What the field of a column says in which values of several kinds are JSON text."""


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


def typed_column(name: str, values: Values) -> tuple[pa.Field, pa.Array]:
    """The field and the column of an attribute with these values.

    >>> import numpy as np
    >>> texts = pa.array(["one"])
    >>> kinds, bits = np.array([vm.INTEGER, vm.NULL, vm.TEXT], np.int8), np.array([1, 0, 0])
    >>> typed_column("v", Values(kinds, bits, texts))[1].to_pylist()
    ['1', None, '"one"']
    >>> typed_column("v", Values(kinds[:2], bits[:2], texts))[1].to_pylist()
    [1, None]
    """
    kinds = values.there
    if len(kinds) > 1 and kinds != [vm.INTEGER, vm.FLOAT]:
        return pa.field(name, pa.string(), metadata=MIXED), json_values(values)
    column = values.column() if kinds else pa.nulls(len(values), pa.string())
    return pa.field(name, column.type), column


def column_values(field: pa.Field, column: pa.ChunkedArray) -> list[Any]:
    """The values of an attribute's column, as they were.

    >>> column_values(pa.field("v", pa.string(), metadata=MIXED), pa.chunked_array([['1', '"one"']]))
    [1, 'one']
    """
    if field.type == TIME:
        return [None if at is None else datetime_of(at) for at in column.cast(pa.int64()).to_pylist()]
    values: list[Any] = column.to_pylist()
    if field.metadata == MIXED:
        return [None if text is None else json.loads(text) for text in values]
    return values
