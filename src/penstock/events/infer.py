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
    trimmed = pc.utf8_trim_whitespace(column)
    cells = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)
    if cells.null_count == len(cells):
        return column
    converted = None
    if _all(cells, _WHOLE):
        converted = _whole(cells)
    elif _all(cells, _NUMBER):
        converted = cells.cast(pa.float64())
    elif _all(cells, _FLAG):
        converted = pc.equal(pc.utf8_lower(cells), "true")
    elif _all(cells, _TIME):
        converted = _times(cells)
    return column if converted is None else converted


def _all(cells: pa.Array, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(cells, pattern)).as_py() is True


def _whole(cells: pa.Array) -> pa.Array | None:
    try:
        return pc.replace_substring_regex(cells, r"^\+", "").cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _times(cells: pa.Array) -> pa.Array | None:
    times = of_column(cells)
    absent = np.asarray(cells.is_null())
    if any(not absent[row] for row in times.bad):
        return None
    return pa.array(times.down, mask=absent).cast(TIME)
