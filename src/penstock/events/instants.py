"""Columns of times in any form, as integer microseconds since the epoch, rounded down and up.

A point event at a time between two microseconds gets both as its stamp; the beginning of an interval is
rounded down, its end up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import DataError
from penstock.events.buffers import column_over
from penstock.events.instant import instant
from penstock.events.times import EARLIEST, LATEST, NO_ZONE, datetime_of, in_range, of_datetime, unit_of

Ints = npt.NDArray[np.int64]
RFC_3339 = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
    r"(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)
"""The times that Arrow reads as we do; others are read one by one."""
_WHOLE = r"^-?[0-9]{1,18}$"
_DECIMAL = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,2})?")
_EXACT = 2.0**53
_FEW = 16
"""So many texts are sooner read one by one than as a column."""
_MANY = 1 << 14
"""Of so many numbers the least and the greatest are found in one pass, which takes longer to begin."""
_EXTREMES = pc.get_function("min_max")


@dataclass(frozen=True)
class Instants:
    """Times rounded down and up, and what is wrong with the rows whose time could not be read.

    ``latest`` is the last of all times, if somebody looked for it.
    """

    down: Ints
    up: Ints
    bad: dict[int, DataError] = field(default_factory=dict)
    latest: int | None = None

    def fill(self, rows: Ints, part: Instants) -> None:
        """Put in the times of some of the rows."""
        self.down[rows], self.up[rows] = part.down, part.up
        self.bad.update((int(rows[place]), error) for place, error in part.bad.items())


def _blank(length: int) -> Instants:
    return Instants(np.zeros(length, np.int64), np.zeros(length, np.int64))


def of_values(values: Sequence[Any], unit: str | None = None, zone: str | None = None) -> Instants:
    """The times in a list of integers, floats, ``datetime`` and RFC 3339 texts.

    >>> of_values([5, 6], "ms").down.tolist()
    [5000, 6000]
    """
    kinds = set(map(type, values))
    try:
        if kinds == {int}:
            return _integers(np.array(values, np.int64), unit)
        if kinds == {str} and len(values) > _FEW:
            return _texts(pa.array(values, pa.string()), unit, zone, numbers=False)
    except (OverflowError, UnicodeEncodeError):
        pass  # one of them is no time: find out which
    return _one_by_one(values, lambda value, up: instant(value, unit, zone, up))


def of_texts(column: pa.Array, unit: str | None = None, zone: str | None = None) -> Instants:
    """The times in a column of RFC 3339 texts without nulls.

    >>> import pyarrow
    >>> of_texts(pyarrow.array(["1970-01-01T00:00:01Z"])).down.tolist()
    [1000000]
    """
    return _texts(column, unit, zone, numbers=False)


def of_column(column: pa.Array, unit: str | None = None, zone: str | None = None) -> Instants:
    """The times in a column of numbers, time stamps, dates or text (RFC 3339, or digits).

    >>> import pyarrow
    >>> of_column(pyarrow.array([1.5, None]), "s").down.tolist()
    [1500000, 0]
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not column.null_count:
        return _present(column, unit, zone)
    valid = np.asarray(column.is_valid())
    result = _blank(len(column))
    result.fill(np.flatnonzero(valid), _present(column.drop_null(), unit, zone))
    missing = np.flatnonzero(~valid).tolist()
    result.bad.update((row, DataError("is missing", hint="every event has a time")) for row in missing)
    return result


def _present(column: pa.Array, unit: str | None, zone: str | None) -> Instants:
    kind = column.type
    if pa.types.is_integer(kind):
        return _integers(_as_int64(column), unit, np.asarray(column))
    if pa.types.is_floating(kind):
        return _floats(np.asarray(column.cast(pa.float64())), unit)
    if pa.types.is_timestamp(kind):
        return _timestamps(column, zone)
    if pa.types.is_date(kind):
        return _timestamps(column.cast(pa.timestamp("ms")), zone)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _texts(column.cast(pa.string()), unit, zone, numbers=True)
    if pa.types.is_decimal(kind):
        return _one_by_one(column.to_pylist(), lambda value, up: instant(value, unit, zone, up))
    if pa.types.is_null(kind):
        return _blank(len(column))
    raise DataError(f"{kind} is no kind of time", hint="times are numbers, time stamps, dates or RFC 3339 text")


def are_digits(column: pa.Array) -> bool:
    """Whether all texts, of which there is one at least, are numbers written with a few digits only.

    >>> are_digits(pa.array(["5", "-12"])), are_digits(pa.array(["5.0"]))
    (True, False)
    """
    return column.null_count < len(column) and pc.all(pc.match_substring_regex(column, _WHOLE)).as_py() is True


def _as_int64(column: pa.Array) -> Ints:
    """Whole numbers of any width; what does not fit is far outside the years that we know anyway."""
    if pa.types.is_uint64(column.type):
        most = pa.scalar(2**63 - 1, pa.uint64())
        column = pc.if_else(pc.greater(column, most), most, column)
    return np.asarray(column.cast(pa.int64()))


def _integers(values: Ints, unit: str | None, given: npt.NDArray[Any] | None = None) -> Instants:
    """The instants that numbers say; ``given`` are the numbers as they were, if not all are said exactly."""
    said = values if given is None else given
    scale = unit_of(unit)
    if scale.denominator > 1:
        return _in_range(values // scale.denominator, -(-values // scale.denominator), said)
    if scale == 1:
        return _in_range(values, values, said)
    most = LATEST // scale.numerator + 1
    scaled = np.clip(values, -most, most) * scale.numerator
    return _in_range(scaled, scaled, said)


def _in_range(down: Ints, up: Ints, given: npt.NDArray[Any]) -> Instants:
    bad: dict[int, DataError] = {}
    if down is up and len(down) > _MANY:  # in one pass
        extremes = _EXTREMES.call([column_over(down)])
        first, last = extremes["min"].as_py(), extremes["max"].as_py()
        if first >= EARLIEST and last <= LATEST:
            return Instants(down, up, bad, last)
    elif len(down) == 1:
        if down.item() >= EARLIEST and up.item() <= LATEST:
            return Instants(down, up, bad)
    elif not len(down) or (down.min() >= EARLIEST and up.max() <= LATEST):
        return Instants(down, up, bad)
    for row in np.flatnonzero((down < EARLIEST) | (up > LATEST)).tolist():
        try:
            in_range(LATEST + 1, given[row].item())
        except DataError as error:
            bad[row] = error
    return Instants(down, up, bad)


def _floats(values: npt.NDArray[np.float64], unit: str | None) -> Instants:
    """Floats that are written with whole microseconds are exact; the others are rounded one by one."""
    scale = float(unit_of(unit))
    with np.errstate(invalid="ignore", over="ignore"):
        nearest = np.rint(values * scale)
        exact = (nearest / scale == values) & (np.abs(nearest) < _EXACT)
    whole = np.where(exact, nearest, 0).astype(np.int64)
    result = _in_range(whole, whole.copy(), values)
    rows = np.flatnonzero(~exact)
    result.fill(rows, _one_by_one(values[rows].tolist(), lambda value, up: instant(value, unit, None, up)))
    return result


def _timestamps(column: pa.Array, zone: str | None) -> Instants:
    result = _integers(np.asarray(column.cast(pa.int64())), column.type.unit)
    if column.type.tz is not None:
        return result
    if zone is None:
        texts = column.cast(pa.string()).to_pylist()
        result.bad.update((row, DataError(f"{text!r} has no zone", hint=NO_ZONE)) for row, text in enumerate(texts))
        return result
    return Instants(_from_local(result.down, zone), _from_local(result.up, zone), result.bad)


def _from_local(local: Ints, zone: str) -> Ints:
    """Instants from what clocks in the zone showed, given as if it were UTC."""
    distinct, places = np.unique(np.clip(local, EARLIEST, LATEST), return_inverse=True)
    there = (of_datetime(datetime_of(wall).replace(tzinfo=None), zone) for wall in distinct.tolist())
    return np.fromiter(there, np.int64, len(distinct))[places]


def _texts(column: pa.Array, unit: str | None, zone: str | None, numbers: bool) -> Instants:
    column = pc.utf8_trim_whitespace(column)
    result = _blank(len(column))
    left = np.ones(len(column), bool)
    for pattern, read in ((RFC_3339, _rfc_3339), (_WHOLE, lambda part: _digits(part, unit)))[: 1 + numbers]:
        rows = np.flatnonzero(np.asarray(pc.match_substring_regex(column, pattern)))
        try:
            result.fill(rows, read(column.take(rows)))
            left[rows] = False
        except pa.ArrowInvalid:
            continue  # one of them is no date: find out which
    rows = np.flatnonzero(left)
    texts = column.take(rows).to_pylist()
    result.fill(rows, _one_by_one(texts, lambda text, up: _text(text, unit, zone, up, numbers)))
    return result


def _rfc_3339(texts: pa.Array) -> Instants:
    values = np.asarray(texts.cast(pa.timestamp("us", "UTC")).cast(pa.int64()))
    return _integers(values, "us")


def _digits(texts: pa.Array, unit: str | None) -> Instants:
    return _integers(np.asarray(texts.cast(pa.int64())), unit)


def _text(text: str, unit: str | None, zone: str | None, up: bool, numbers: bool) -> int:
    if numbers and _DECIMAL.fullmatch(text):
        return instant(Decimal(text), unit, zone, up)
    return instant(text, unit, zone, up)


def _one_by_one(values: Sequence[Any], read: Callable[[Any, bool], int]) -> Instants:
    result = _blank(len(values))
    for row, value in enumerate(values):
        try:
            result.down[row], result.up[row] = read(value, False), read(value, True)
        except DataError as error:
            result.bad[row] = error
    return result
