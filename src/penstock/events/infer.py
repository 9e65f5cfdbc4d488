"""Types for columns of text, as CSV files have them, from all values of the column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.instants import of_column
from penstock.events.table import TIME

_WHOLE = r"^[+-]?[0-9]+$"
_NUMBER = r"^([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[nN][aA][nN])$"
_FLAG = r"^(?i:true|false)$"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"


def inferred(column: pa.Array) -> pa.Array:
    """The column as integers, floats, flags or times with a zone if all its values are such, else as text.

    Empty cells are absent. Integers that do not fit into 64 bits stay text, so that nothing of them is lost.

    >>> inferred(pa.array(["1", None, "2.5"])).to_pylist()
    [1.0, None, 2.5]
    >>> inferred(pa.array(["R1", "2"])).to_pylist()
    ['R1', '2']
    """
    cells = _cells(column)
    if cells.null_count == len(cells):
        return column
    converted = None
    if _all(cells, _WHOLE):
        converted = _whole(cells)
    elif _all(cells, _NUMBER):
        converted = _floats(cells)
    elif _all(cells, _FLAG):
        converted = pc.equal(pc.utf8_lower(cells), "true")
    elif _all(cells, _TIME):
        converted = _times(cells)
    return column if converted is None else converted


def likely_kind(column: pa.Array) -> pa.DataType | None:
    """The type that a column which begins with these values has if the rest of it has such values too.

    If it is text, it stays text whatever comes. None if nothing can be said.

    >>> likely_kind(pa.array(["1", None])), likely_kind(pa.array(["1", "x"])), likely_kind(pa.array([""]))
    (DataType(int64), DataType(string), None)
    """
    cells = _cells(column)
    kind = inferred(column).type
    is_open = cells.null_count == len(cells) or (kind == pa.string() and _all(cells, _NUMBER))
    return None if is_open else kind


def _cells(column: pa.Array) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def _all(cells: pa.Array, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(cells, pattern)).as_py() is True


def _whole(cells: pa.Array) -> pa.Array | None:
    try:
        return _unsigned(cells).cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _floats(cells: pa.Array) -> pa.Array:
    """Floats; one that is no number is absent, as everywhere."""
    numbers = _unsigned(cells).cast(pa.float64())
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)


def _unsigned(cells: pa.Array) -> pa.Array:
    """Without the plus signs that Arrow does not read."""
    return pc.replace_substring_regex(cells, r"^\+", "")


def _times(cells: pa.Array) -> pa.Array | None:
    times = of_column(cells)
    absent = np.asarray(cells.is_null())
    if any(not absent[row] for row in times.bad):
        return None
    return pa.array(times.down, mask=absent).cast(TIME)
