"""Columns of blobs in fewer bytes, as what is moved costs by the byte: in Java, on disk, and between processes.

Whole numbers are written as their distance from the least of a batch, codes of dictionaries as short as they fit, and
texts of one length without saying where each begins. A column that is written otherwise than it was says so itself.
Nothing here knows Spark.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.events.constants import MOST_BYTES

LEAST = b"least"
"""Where a column of distances says what they are distances from."""
_DISTANCES = (np.uint8, np.uint16, np.uint32)
_CODES = (pa.int8(), pa.int16())


def narrowed(table: pa.Table) -> pa.Table:
    """The table in fewer bytes; `widened` makes it again what it was.

    >>> table = pa.table({"hi": [1_000_000, 1_000_200], "id": ["aa", "ab"]})
    >>> [str(kind) for kind in narrowed(table).schema.types]
    ['uint8', 'fixed_size_binary[2]']
    >>> widened([narrowed(table)]) == table
    True
    """
    columns = [_narrowed(field, _one(column)) for field, column in zip(table.schema, table.columns, strict=True)]
    schema = pa.schema([field for field, _ in columns], table.schema.metadata)
    return pa.table([column for _, column in columns], schema=schema)


def may_narrow(schema: pa.Schema) -> bool:
    """Whether there are columns that `narrowed` may write in fewer bytes if it gets fewer of their rows."""
    return any(kind in (pa.int64(), pa.string()) for kind in schema.types)


def widened(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables that were `narrowed`, which have the same columns, one behind the other.

    >>> some = [narrowed(pa.table({"hi": [5, 6]})), narrowed(pa.table({"hi": [700_000]}))]
    >>> widened(some)["hi"].to_pylist()
    [5, 6, 700000]
    """
    return pa.table({name: joined([piece_of(table, name) for table in tables]) for name in tables[0].column_names})


Piece = tuple[pa.Field, pa.Array]
"""A column of a table that was narrowed, and what it says of itself."""


def piece_of(table: pa.Table, name: str) -> Piece:
    """A column of a table."""
    return table.schema.field(name), _one(table[name])


def first_of(piece: Piece) -> int:
    """The first of a column of whole numbers."""
    field, column = piece
    return int(column[0].as_py()) + _least(field)


def joined(pieces: Sequence[Piece]) -> pa.Array:
    """One column of several; each is written once, where it belongs."""
    if all(_are_whole(*piece) for piece in pieces):
        return _whole_numbers(pieces)
    columns = [column for _, column in pieces]
    if all(_are_texts(column) for column in columns):
        return _texts(columns)
    if any(pa.types.is_dictionary(column.type) for column in columns):
        return _names(columns)
    return pa.concat_arrays([_widened(*piece) for piece in pieces])


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


def _least(field: pa.Field) -> int:
    return int(field.metadata[LEAST]) if field.metadata and LEAST in field.metadata else 0


def _are_whole(field: pa.Field, column: pa.Array) -> bool:
    return not column.null_count and (column.type == pa.int64() or _is_distance(field))


def _is_distance(field: pa.Field) -> bool:
    return bool(field.metadata and LEAST in field.metadata)


def _whole_numbers(pieces: Sequence[Piece]) -> pa.Array:
    numbers = np.empty(sum(len(column) for _, column in pieces), np.int64)
    end = 0
    for field, column in pieces:
        start, end = end, end + len(column)
        np.add(np.asarray(column), np.int64(_least(field)), out=numbers[start:end], dtype=np.int64)
    return pa.array(numbers)


def _are_texts(column: pa.Array) -> bool:
    return not column.null_count and (column.type == pa.string() or pa.types.is_fixed_size_binary(column.type))


def _texts(columns: Sequence[pa.Array]) -> pa.Array:
    """Texts, some of which may be of one length."""
    bounds = [_bounds(column) for column in columns]
    sizes = [int(some[-1] - some[0]) for some in bounds]
    if sum(sizes) > MOST_BYTES:
        return pa.concat_arrays([_text(column) for column in columns])
    ends, content = np.empty(sum(map(len, columns)) + 1, np.int32), np.empty(sum(sizes), np.uint8)
    rows = written = 0
    for column, some, size in zip(columns, bounds, sizes, strict=True):
        np.subtract(some, some[0] - written, out=ends[rows : rows + len(some)], casting="unsafe")
        if size:
            data = np.frombuffer(column.buffers()[-1], np.uint8, size, int(some[0]))
            content[written : written + size] = data
        rows, written = rows + len(column), written + size
    return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(content))


def _bounds(column: pa.Array) -> npt.NDArray[np.int64] | npt.NDArray[np.int32]:
    """Where texts begin and end."""
    start, count = column.offset, len(column) + 1
    if pa.types.is_fixed_size_binary(column.type):
        return np.arange(start, start + count) * int(column.type.byte_width)
    if not len(column):
        return np.zeros(1, np.int32)
    return np.frombuffer(column.buffers()[1], np.int32, count, start * 4)


def _names(columns: Sequence[pa.Array]) -> pa.Array:
    """Names by codes, which are the same for all of them then."""
    wide = [pa.DictionaryArray.from_arrays(one.indices.cast(pa.int32()), one.dictionary, safe=False) for one in columns]
    return _one(pa.chunked_array(wide).unify_dictionaries())


def _widened(field: pa.Field, column: pa.Array) -> pa.Array:
    """A column as it was before it was narrowed."""
    if _is_distance(field):
        return _whole_numbers([(field, column)])
    return _text(column) if pa.types.is_fixed_size_binary(column.type) else column


def _text(column: pa.Array) -> pa.Array:
    return _texts([column]) if pa.types.is_fixed_size_binary(column.type) else column
