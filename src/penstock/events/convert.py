"""Arrow columns of any type as columns of the five kinds of attributes, or as fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import DataError
from penstock.events.fields import FieldError, whole
from penstock.events.instants import of_column
from penstock.events.settling import NAME, SHORT_NAME
from penstock.events.stamps import Note
from penstock.events.table import TIME
from penstock.events.times import EARLIEST, LATEST

FEW_NAMES = 64
"""So many names are looked at sooner one by one than as a column."""


def is_text(kind: pa.DataType) -> bool:
    """Whether it is one of Arrow's types for text.

    >>> is_text(pa.large_string()), is_text(pa.int8())
    (True, False)
    """
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def decoded(column: pa.Array) -> pa.Array:
    """The column without dictionary or run-end coding.

    >>> decoded(pa.array(["a", "a"]).dictionary_encode()).type
    DataType(string)
    """
    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def as_attribute(name: str, column: pa.Array, zone: str | None, note: Note) -> pa.Array:
    """The column as one of the five kinds; rows with a value that has none are noted.

    Whole numbers of any width are integers; decimals are floats, or integers if they have no fraction;
    dates and times of day are text. Lists, structs, binary data and durations are no attributes.

    >>> as_attribute("v", pa.array([1, 2], pa.uint8()), None, lambda row, error: None).type
    DataType(int64)
    """
    column = decoded(column)
    kind = column.type
    if kind in (pa.bool_(), pa.int64(), pa.string()):
        return column
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if is_text(kind) or pa.types.is_date(kind) or pa.types.is_time(kind):
        return column.cast(pa.string())
    if pa.types.is_floating(kind):
        return _floats(column)
    if pa.types.is_decimal(kind) and kind.scale > 0:
        return _floats(column.cast(pa.float64()))
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return _integers(name, column, note)
    if pa.types.is_timestamp(kind):
        return _times(name, column, zone, note)
    raise DataError(
        f"column {name!r} is {kind}, which is no kind of attribute",
        hint="leave the column out, or take its values apart into columns of their own",
    )


def _floats(column: pa.Array) -> pa.Array:
    column = column.cast(pa.float64())
    if not pc.any(pc.is_nan(column)).as_py():
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)


def _integers(name: str, column: pa.Array, note: Note) -> pa.Array:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        kept = []
        for row, value in enumerate(column.to_pylist()):
            fits = value is None or -(2**63) <= int(value) < 2**63
            kept.append(None if value is None or not fits else int(value))
            if not fits:
                hint = "store the column as text or as floats"
                note(row, FieldError(name, f"{int(value)} does not fit into 64 bits", hint=hint))
        return pa.array(kept, pa.int64())


def _times(name: str, column: pa.Array, zone: str | None, note: Note) -> pa.Array:
    if column.type == TIME and _are_in_range(column):
        return column
    present = np.flatnonzero(np.asarray(column.is_valid()))
    instants = of_column(column.drop_null(), None, zone)
    for place, error in instants.bad.items():
        note(int(present[place]), FieldError(name, error.message, hint=error.hint))
    values = np.zeros(len(column), np.int64)
    values[present] = instants.down
    return pa.array(values, mask=np.asarray(column.is_null())).cast(TIME)


def _are_in_range(column: pa.Array) -> bool:
    ends = pc.min_max(column.cast(pa.int64())).as_py()
    return ends["min"] is None or bool(ends["min"] >= EARLIEST and ends["max"] <= LATEST)


def as_names(name: str, column: pa.Array, shorter: bool = False) -> pa.DictionaryArray:
    """A column of types or sources: text, or whole numbers that stand for their digits; absent ones are empty.

    A dictionary that is there is kept, if it is small and says each thing once; so are ``shorter`` codes, if they may.

    >>> as_names("type", pa.array(["A", None])).to_pylist()
    ['A', '']
    """
    if pa.types.is_dictionary(column.type) and not column.null_count and len(column.dictionary) <= len(column):
        names = as_text(name, column.dictionary)
        if not names.null_count and _are_different(names):
            if column.type == NAME or (shorter and column.type == SHORT_NAME):
                return column
            return pa.DictionaryArray.from_arrays(column.indices.cast(pa.int32()), names, safe=False)
    return as_text(name, column).fill_null("").dictionary_encode()


def _are_different(names: pa.Array) -> bool:
    return len(set(names.to_pylist()) if len(names) <= FEW_NAMES else names.unique()) == len(names)


def place_of(name: str, names: pa.Array) -> int:
    """Where a name stands first, -1 if it does not.

    >>> place_of("B", pa.array(["A", "B"])), place_of("", pa.array(["A"]))
    (1, -1)
    """
    if len(names) > FEW_NAMES:
        return int(pc.index(names, name).as_py())
    listed = names.to_pylist()
    return listed.index(name) if name in listed else -1


def as_text(name: str, column: pa.Array) -> pa.Array:
    """A column of types, sources or ids: text, or whole numbers that stand for their digits.

    >>> as_text("alarm_id", pa.array([11, 7])).to_pylist()
    ['11', '7']
    """
    column = decoded(column)
    kind = column.type
    if pa.types.is_floating(kind):
        column = _floats(column)
        if pc.all(pc.equal(column, pc.floor(column))).as_py() is False:
            raise DataError(f"column {name!r} has fractions", hint="expected text or whole numbers")
        column = column.cast(pa.int64())
    if is_text(kind) or pa.types.is_integer(column.type) or pa.types.is_null(kind):
        return column.cast(pa.string())
    raise DataError(f"column {name!r} is {kind}", hint="expected text or whole numbers")


def as_whole(name: str, column: pa.Array, note: Note) -> pa.Array:
    """A column of counters: whole numbers, or their digits as text.

    >>> as_whole("seq", pa.array(["1", None]), lambda row, error: None).to_pylist()
    [1, None]
    """
    column = decoded(column)
    if pa.types.is_floating(column.type):
        column = _floats(column)
    try:
        return column.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([_whole_or_noted(name, row, value, note) for row, value in enumerate(column.to_pylist())])


def _whole_or_noted(name: str, row: int, value: object, note: Note) -> int | None:
    try:
        return whole(name, value)
    except DataError as error:
        note(row, error)
        return None


def as_flag(name: str, column: pa.Array) -> pa.Array:
    """A column of true and false; an absent one is false.

    >>> as_flag("retracted", pa.array(["true", None])).to_pylist()
    [True, False]
    """
    try:
        return decoded(column).cast(pa.bool_()).fill_null(False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(f"column {name!r} has other values than true and false", hint="write true or false") from None


def said(value: pa.Scalar) -> Any:
    """A value of a column; a time that no calendar has is the number that stands there.

    >>> said(pa.scalar(5)), said(pa.scalar(253402300800, pa.timestamp("s")))
    (5, 253402300800)
    """
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return value.cast(pa.int64()).as_py()
