"""Columns that are not quite what a field's column is, and become so where somebody asks for it.

Types may have codes of a byte each, and an id that is absent may be empty. Where most events do not matter, neither do
their types and ids, and to go over all of them takes as long as much of the detection. For the same reason ids may be
yet to be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.texts import has_empty

NAME = pa.dictionary(pa.int32(), pa.string())
SHORT_NAME = pa.dictionary(pa.int8(), pa.string())


class LateTexts(Protocol):
    """A column of texts that are read only where they are taken; none of them is null or empty."""

    type: pa.DataType
    null_count: int

    def __len__(self) -> int: ...

    def slice(self, start: int, length: int | None = None) -> LateTexts:
        """The same from a row on."""

    def take(self, rows: pa.Array) -> pa.Array:
        """The texts of some rows."""

    def whole(self) -> pa.Array:
        """All of them."""


Given: TypeAlias = pa.Array | LateTexts


def settled(name: str, column: Given) -> pa.Array:
    """The column of a field, made of one that was given.

    >>> settled("type", pa.array(["A"], SHORT_NAME)).type == NAME
    True
    >>> settled("id", pa.array(["1", ""])).to_pylist()
    ['1', None]
    """
    if not isinstance(column, pa.Array):
        column = column.whole()
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
