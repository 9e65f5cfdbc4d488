"""Columns of blobs in fewer bytes, as what is moved costs by the byte: in Java, on disk, and between processes.

Whole numbers are written as their distance from the least of a batch, codes of dictionaries as short as they fit, and
texts of one length without saying where each begins. A column that is written otherwise than it was says so itself.
Nothing here knows Spark.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

LEAST = b"least"
"""Where a column of distances says what they are distances from."""
_DISTANCES = (np.uint8, np.uint16, np.uint32)
_CODES = (pa.int8(), pa.int16())


def narrowed(table: pa.Table) -> pa.Table:
    """The table in fewer bytes; `widened` makes it again what it was.

    >>> table = pa.table({"hi": [1_000_000, 1_000_200], "id": ["aa", "ab"]})
    >>> [str(kind) for kind in narrowed(table).schema.types]
    ['uint8', 'fixed_size_binary[2]']
    >>> widened(narrowed(table)) == table
    True
    """
    columns = [_narrowed(field, _one(column)) for field, column in zip(table.schema, table.columns, strict=True)]
    schema = pa.schema([field for field, _ in columns], table.schema.metadata)
    return pa.table([column for _, column in columns], schema=schema)


def widened(table: pa.Table) -> pa.Table:
    """The table that was `narrowed`."""
    return pa.table(
        {field.name: _widened(field, _one(column)) for field, column in zip(table.schema, table.columns, strict=True)}
    )


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _narrowed(field: pa.Field, column: pa.Array) -> tuple[pa.Field, pa.Array]:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = _coded(column)
    elif not len(column) or column.null_count:
        pass
    elif kind == pa.int64():
        return _distances(field, np.asarray(column))
    elif kind == pa.string():
        column = _of_one_length(column)
    return field.with_type(column.type), column


def _coded(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same codes in the shortest numbers that all codes of the dictionary fit in."""
    for kind in _CODES:
        if len(column.dictionary) <= 1 << (kind.bit_width - 1):
            return pa.DictionaryArray.from_arrays(column.indices.cast(kind), column.dictionary, safe=False)
    return column


def _distances(field: pa.Field, numbers: npt.NDArray[np.int64]) -> tuple[pa.Field, pa.Array]:
    least, most = int(numbers.min()), int(numbers.max())
    for kind in _DISTANCES:
        if most - least <= np.iinfo(kind).max:
            column = pa.array((numbers - least).astype(kind))
            return field.with_type(column.type).with_metadata({LEAST: str(least)}), column
    return field, pa.array(numbers)


def _of_one_length(column: pa.Array) -> pa.Array:
    """Texts as bytes of a fixed length, if that is the same for all of them."""
    _, places, content = column.buffers()
    offsets = np.frombuffer(places, np.int32, len(column) + 1, column.offset * 4)
    length = int(offsets[1] - offsets[0])
    if not length or not (np.diff(offsets) == length).all():
        return column
    start, size = int(offsets[0]), length * len(column)
    return pa.Array.from_buffers(pa.binary(length), len(column), [None, content.slice(start, size)])


def _widened(field: pa.Field, column: pa.Array) -> pa.Array:
    kind = column.type
    if field.metadata and LEAST in field.metadata:
        numbers = np.asarray(column).astype(np.int64)
        numbers += int(field.metadata[LEAST])
        return pa.array(numbers)
    if pa.types.is_fixed_size_binary(kind):
        return _texts(column)
    if pa.types.is_dictionary(kind) and kind.index_type != pa.int32():
        return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), column.dictionary, safe=False)
    return column


def _texts(column: pa.Array) -> pa.Array:
    length, start = column.type.byte_width, column.offset
    places = np.arange(start, start + len(column) + 1, dtype=np.int32) * np.int32(length)
    return pa.Array.from_buffers(pa.string(), len(column), [None, pa.py_buffer(places), column.buffers()[1]])
