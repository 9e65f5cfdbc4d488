"""Rows of several tables as one table, copied once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from penstock.engine.taking import WORD, flat
from penstock.errors import DataError
from penstock.events.constants import constant
from penstock.events.table import NAMES, TIME, EventTable, concat
from penstock.ordering.kernel import ROW, ROWS, copy_texts, measure_texts, take_half_words, take_words
from penstock.ordering.places import KEYS, Ints

_WORDS = {pa.int64(), pa.float64(), TIME}
_MOST = 2**31 - 1


def places_of(rows: Sequence[Ints]) -> Ints:
    """Places for the rows of several tables, those of the first one first.

    >>> [place >> ROWS for place in places_of([np.array([5]), np.array([7, 2])]).tolist()]
    [0, 1, 1]
    """
    return np.concatenate([some + (number << ROWS) for number, some in enumerate(rows)])


def gathered(tables: Sequence[EventTable], places: Ints) -> EventTable:
    """The events at some places of some tables, in that order.

    >>> from penstock.events.table import make_table
    >>> one, two = (make_table({"type": [name], "lo": [1], "hi": [1]}, {}) for name in "AB")
    >>> rows = np.array([0])
    >>> gathered([one, two], places_of([rows, rows])[::-1]).field("type").to_pylist()
    ['B', 'A']
    """
    schema = tables[0].attributes.schema
    if not all(table.attributes.schema.equals(schema) for table in tables[1:]):
        return concat(tables).take(_rows([len(table) for table in tables], places))
    fields = {name: _column([table.field(name) for table in tables], places) for name in NAMES}
    attributes = [_column([table.attribute(name) for table in tables], places) for name in schema.names]
    fixed = all(table.fixed for table in tables)
    return EventTable(fields, pa.table(attributes, schema=schema), fixed)


def keys_at(tables: Sequence[EventTable], places: Ints) -> dict[str, pa.Array]:
    """What the weak order compares of the events at some places."""
    return {name: _column([table.field(name) for table in tables], places) for name in KEYS}


def _rows(lengths: Sequence[int], places: Ints) -> Ints:
    """The rows of all tables one after the other that places are."""
    starts = np.cumsum([0, *lengths[:-1]])
    rows: Ints = starts[places >> ROWS] + (places & ROW)
    return rows


def _column(columns: list[pa.Array], places: Ints) -> pa.Array:
    kind = columns[0].type
    if any(column.null_count for column in columns):
        return _by_arrow(columns, places)
    if pa.types.is_dictionary(kind):
        return _names(columns, places)
    if kind == pa.string():
        return _texts(columns, places)
    if kind in _WORDS:
        out = np.empty(len(places), np.int64)
        take_words(places, _addresses(columns, 8), out)
        return pa.Array.from_buffers(kind, len(places), [None, pa.py_buffer(out)], null_count=0)
    return _by_arrow(columns, places)


def _by_arrow(columns: list[pa.Array], places: Ints) -> pa.Array:
    """For columns of any kind; of those that say nothing, or false throughout, no row is looked at."""
    kind, count = columns[0].type, len(places)
    if all(column.null_count == len(column) for column in columns):
        return constant(None, kind, count)
    if kind == pa.bool_() and not any(column.null_count or column.true_count for column in columns):
        return constant(False, kind, count)
    return pa.concat_arrays(columns).take(pa.array(_rows([len(column) for column in columns], places)))


def _names(columns: list[pa.DictionaryArray], places: Ints) -> pa.DictionaryArray:
    """Types or sources; tables that were one have their names in common."""
    if any(not is_same(column.dictionary, columns[0].dictionary) for column in columns[1:]):
        columns = pa.chunked_array(columns).unify_dictionaries().chunks
    out = np.empty(len(places), np.int32)
    take_half_words(places, _addresses([column.indices for column in columns], 4), out)
    return pa.DictionaryArray.from_arrays(pa.array(out), columns[0].dictionary)


def _texts(columns: list[pa.Array], places: Ints) -> pa.Array:
    bounds, ends = _addresses(columns, 4), np.zeros(len(places) + 1, np.int32)
    size = measure_texts(places, bounds, ends)
    if size > _MOST:
        raise DataError("events that are ready have more text than a column can hold", hint="feed smaller batches")
    letters = [flat(column)[1] for column in columns]
    data = np.empty(size + WORD, np.uint8)
    sizes = np.array([len(some) for some in letters])
    copy_texts(places, bounds, np.array([some.ctypes.data for some in letters]), sizes, ends, data)
    return pa.StringArray.from_buffers(len(places), pa.py_buffer(ends), pa.py_buffer(data))


def _addresses(columns: Sequence[pa.Array], width: int) -> Ints:
    """Where the values of columns are in memory, or the bounds of their texts."""
    return np.array([column.buffers()[1].address + width * column.offset for column in columns])


def is_same(one: pa.Array, other: pa.Array) -> bool:
    """Whether two columns of text are the same memory.

    >>> names = pa.array(["a"])
    >>> is_same(names, names), is_same(names, pa.array(["a"]))
    (True, False)
    """
    if len(one) != len(other) or one.offset != other.offset:
        return False
    pairs = zip(one.buffers()[1:], other.buffers()[1:], strict=True)
    return all(a is not None and b is not None and a.address == b.address for a, b in pairs)
