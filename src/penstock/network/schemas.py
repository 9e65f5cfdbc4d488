"""Whether events are of the types that were registered: unknown types, missing attributes, other kinds of values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import DataError, nearest
from penstock.events.event import Value
from penstock.events.table import TIME, EventTable
from penstock.network.directory import EventType

PYTHON: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "float": (float, int),
    "text": (str,),
    "time": (datetime, str),
}
"""What a value of each kind may be in Python. Times come back from JSON as text."""
_COLUMNS: Mapping[str, tuple[pa.DataType, ...]] = {
    "boolean": (pa.bool_(),),
    "integer": (pa.int64(),),
    "float": (pa.float64(), pa.int64()),
    "text": (pa.string(),),
    "time": (TIME, pa.string()),
}
_WORDS = {
    "boolean": "true or false",
    "integer": "a whole number",
    "float": "a number",
    "text": "text",
    "time": "a time",
}


def unknown_type(name: str, types: Iterable[str]) -> DataError:
    """The error about a type that nobody has registered.

    >>> print(unknown_type("Opne", ["Open"]))
    the type 'Opne' is not registered
    hint: did you mean Open?
    """
    close = nearest(name, types)
    return DataError(f"the type {name!r} is not registered", hint=f"did you mean {close}?" if close else "register it")


def check_attributes(type: EventType, attributes: Mapping[str, Value]) -> None:
    """An error if an event of a type has not the attributes that the type says.

    >>> check_attributes(EventType("Open", {"door": "text"}), {"door": 3})
    Traceback (most recent call last):
    penstock.errors.DataError: attribute 'door' of Open is 3, not text
    >>> check_attributes(EventType("Open", {"door": "text"}), {})
    Traceback (most recent call last):
    penstock.errors.DataError: an event of type Open has no attribute 'door'
    hint: Open has door (text)
    """
    for name, kind in type.attributes.items():
        if name not in attributes:
            raise DataError(f"an event of type {type.name} has no attribute {name!r}", hint=_said(type))
        value = attributes[name]
        if not isinstance(value, PYTHON[kind]) or (isinstance(value, bool) and kind != "boolean"):
            raise DataError(f"attribute {name!r} of {type.name} is {value!r}, not {_WORDS[kind]}")
    for name in attributes:
        if type.attributes and name not in type.attributes:
            raise DataError(f"events of type {type.name} have no attribute {name!r}", hint=_said(type))


def _said(type: EventType) -> str:
    return f"{type.name} has {', '.join(f'{name} ({kind})' for name, kind in type.attributes.items())}"


def acceptable(
    table: EventTable,
    types: Mapping[str, EventType],
    on_bad: Callable[[DataError, int], None],
    heard: Collection[str] | None = None,
) -> EventTable:
    """The events of a table that are of their types; of others it is told why they are not, and how many.

    ``heard`` are the types that are expected at all; a type that nobody has registered may have any attributes.

    >>> from penstock.events.records import from_dicts
    >>> events = from_dicts([{"type": "Open", "id": "1", "time": 5}])
    >>> bad = []
    >>> len(acceptable(events, {"Open": EventType("Open", {"door": "text"})}, lambda error, n: bad.append(n))), bad
    (0, [1])
    """
    column = table.field("type")
    names = column.dictionary.to_pylist()
    wanted = [(number, types[name]) for number, name in enumerate(names) if name in types and types[name].attributes]
    strange = [] if heard is None else [number for number, name in enumerate(names) if name not in heard]
    if not (wanted or strange) or not len(table):
        return table
    if not strange and all(_has_throughout(table, type) for _, type in wanted):
        return table
    codes = np.asarray(column.indices)
    good = np.ones(len(table), bool)
    for number in strange:
        bad = codes == number
        if bad.any():
            on_bad(unknown_type(names[number], types), int(np.count_nonzero(bad)))
            good &= ~bad
    for number, type in wanted:
        rows = codes == number
        for name, kind in type.attributes.items():
            bad = rows & good & ~_has(table, name, kind)
            if bad.any():
                error = DataError(f"attribute {name!r} of {type.name} is missing or not {_WORDS[kind]}")
                on_bad(error, int(np.count_nonzero(bad)))
                good &= ~bad
    return table if good.all() else table.take(np.flatnonzero(good))


def _has_throughout(table: EventTable, type: EventType) -> bool:
    """Whether all rows have the attributes of a type; rows of other types, too."""
    columns = dict(zip(table.attributes.column_names, table.attributes.columns, strict=True))
    return all(
        name in columns and not columns[name].null_count and columns[name].type in _COLUMNS[kind]
        for name, kind in type.attributes.items()
    )


def _has(table: EventTable, name: str, kind: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows have an attribute of a kind."""
    if name not in table.attributes.column_names or table.attribute(name).type not in _COLUMNS[kind]:
        return np.zeros(len(table), bool)
    present: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.asarray(pc.is_valid(table.attribute(name)))
    return present
