"""Columns that are not quite what a field's column is, and become so where somebody asks for it.

Types may have codes of a byte each, and an id that is absent may be empty. Where most events do not matter, neither do
their types and ids, and to go over all of them takes as long as much of the detection.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.texts import has_empty

NAME = pa.dictionary(pa.int32(), pa.string())
SHORT_NAME = pa.dictionary(pa.int8(), pa.string())


def settled(name: str, column: pa.Array) -> pa.Array:
    """The column of a field, made of one that was given.

    >>> settled("type", pa.array(["A"], SHORT_NAME)).type == NAME
    True
    >>> settled("id", pa.array(["1", ""])).to_pylist()
    ['1', None]
    """
    if name == "id":
        is_absent = pc.equal(column, "") if has_empty(column) else None
        return column if is_absent is None else pc.if_else(is_absent, pa.scalar(None, pa.string()), column)
    return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), column.dictionary, safe=False)


def unsettled(fields: Mapping[str, pa.Array]) -> list[str]:
    """Of which fields the columns may have to be settled, as far as can be told without going over them.

    >>> unsettled({"type": pa.array(["A"], SHORT_NAME), "id": pa.array(["1"]), "lo": pa.array([1])})
    ['type', 'id']
    """
    return [name for name, column in fields.items() if name == "id" or (name == "type" and column.type == SHORT_NAME)]
