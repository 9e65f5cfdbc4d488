"""Columns of attributes from the data of many records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import pyarrow as pa

from penstock.errors import DataError
from penstock.events.cloudevents import attribute, is_parts
from penstock.events.fields import FieldError
from penstock.events.stamps import Note
from penstock.events.table import TIME, mixture

_KINDS: dict[type, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    datetime: TIME,
}
_NOTHING = type(None)
SURROGATES = "a surrogate such as \\ud83d needs the other half of its pair"
"""What to do about text that is none."""


def attribute_values(data: Sequence[Mapping[str, Any]], zone: str | None, note: Note) -> dict[str, list[Any]]:
    """Each attribute's values, None where absent; records with one that is no value are noted.

    >>> attribute_values([{"room": "R1"}, {"temp": 3, "room": None}], None, lambda row, error: None)
    {'room': ['R1', None], 'temp': [None, 3]}
    """
    names = dict.fromkeys(chain.from_iterable(data))
    columns = {}
    for name in names:
        values = [record.get(name) for record in data]
        if is_encodable(str(name)):
            columns[str(name)] = values if _is_plain(values) else _checked(str(name), values, zone, note)
        else:
            rows = [row for row, record in enumerate(data) if name in record]
            for row in rows:
                note(row, DataError(f"the attribute name {name!a} is no Unicode text", hint=SURROGATES))
    return columns


def is_encodable(text: str) -> bool:
    """Whether the text can be written in UTF-8: JSON can name halves of characters, which cannot.

    >>> is_encodable("é"), is_encodable("\\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_plain(values: list[Any]) -> bool:
    """Whether all are of the kinds that need no conversion, and none is out of bounds."""
    kinds = set(map(type, values)) - {_NOTHING}
    try:
        if kinds == {int}:
            pa.array(values, pa.int64())
        if kinds == {str}:
            pa.array(values, pa.string())
    except (OverflowError, UnicodeEncodeError):
        return False
    return kinds in ({bool}, {int}, {float}, {str})


def _checked(name: str, values: list[Any], zone: str | None, note: Note) -> list[Any]:
    checked = []
    for row, value in enumerate(values):
        kept = None
        try:
            kept = None if is_parts(name, value) else _encodable(name, attribute(name, value, zone))
        except DataError as error:
            note(row, error)
        checked.append(kept)
    return checked


def _encodable(name: str, value: Any) -> Any:
    if isinstance(value, str) and not is_encodable(value):
        raise FieldError(f"data.{name}", f"{value!a} is no Unicode text", hint=SURROGATES)
    return value


def attribute_columns(
    columns: Mapping[str, Sequence[Any]], rows: Iterable[int], where: Callable[[int], str]
) -> dict[str, pa.Array]:
    """Typed columns of the values in these rows; an attribute that no row has gets none.

    >>> attribute_columns({"v": [1, None, 2.5]}, [0, 1, 2], str)["v"].to_pylist()
    [1.0, None, 2.5]
    """
    kept = list(rows)
    arrays = {}
    for name, values in columns.items():
        array = _array(name, [values[row] for row in kept], lambda place: where(kept[place]))
        if array is not None:
            arrays[name] = array
    return arrays


def _array(name: str, values: list[Any], where: Callable[[int], str]) -> pa.Array | None:
    kinds = set(map(type, values)) - {_NOTHING}
    if not kinds:
        return None
    if kinds == {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64(), from_pandas=True)
    if len(kinds) > 1:
        raise _mixture(name, values, where)
    return pa.array(values, _KINDS[kinds.pop()], from_pandas=True)


def _mixture(name: str, values: list[Any], where: Callable[[int], str]) -> DataError:
    first: dict[pa.DataType, int] = {}
    for place, value in enumerate(values):
        if value is not None:
            first.setdefault(_KINDS[type(value)], place)
    numbers = {pa.int64(), pa.float64()}
    (kind, place), *others = first.items()
    other = next(other for other, _ in others if not {kind, other} <= numbers)
    return mixture(name, kind, where(place), other, where(first[other]))
