"""Which columns of a table give which fields of its events."""

from __future__ import annotations

from collections.abc import Collection

from penstock.errors import DataError, nearest
from penstock.events.mapping import Columns

_OWN = {
    "type": ("type",),
    "source": ("source",),
    "id": ("id",),
    "seq": ("seq", "sequence"),
    "time": ("time",),
    "lo": ("lo", "timelo"),
    "hi": ("hi", "timehi"),
    "arrival": ("arrival",),
    "timekind": ("timekind",),
    "retracted": ("retracted",),
    "parts": ("parts",),
}
"""The columns that are a field without being mapped."""
_TIMES = ("time", "lo", "hi")


def field_columns(there: Collection[str], columns: Columns) -> dict[str, str]:
    """The column for each field that the table has, by the mapping or by its name.

    A mapped time takes the place of all of the table's own. The end of an interval may be mapped alone:
    then the table's own ``lo`` or ``time`` is where it begins.

    >>> field_columns(["alarm_id", "time", "room"], Columns(type_from="alarm_id"))
    {'type': 'alarm_id', 'time': 'time'}
    """
    names = _mapped(there, columns)
    mapped_times = any(field in names for field in _TIMES)
    for field, own in _OWN.items():
        if field in names or (field in _TIMES and mapped_times) or (field == "type" and columns.type is not None):
            continue
        found = next((name for name in own if name in there), None)
        if found is not None:
            names[field] = found
    return names


def _mapped(there: Collection[str], columns: Columns) -> dict[str, str]:
    begin = columns.time_from
    if begin is None and columns.time_to is not None:
        begin = next((name for name in ("lo", "timelo", "time") if name in there), None)
    return {field: _existing(name, there) for field, name in columns.given(begin).items() if name is not None}


def _existing(column: str, there: Collection[str]) -> str:
    if column in there:
        return column
    close = nearest(column, there)
    listed = f"the columns are {', '.join(there)}"
    raise DataError(f"there is no column {column!r}", hint=f"did you mean {close!r}? {listed}" if close else listed)


def absent(field: str, options: str, there: Collection[str]) -> DataError:
    """The error about a table that has no column for a field which every event needs.

    >>> print(absent("type", "--type-from COLUMN", ["alarm_id"]))
    there is no column 'type'
    hint: say where it is with --type-from COLUMN (columns={'type': …} in Python); the columns are alarm_id
    """
    return DataError(
        f"there is no column {field!r}",
        hint=f"say where it is with {options} (columns={{{field!r}: …}} in Python); the columns are {', '.join(there)}",
    )


def is_own(field: str, column: str) -> bool:
    """Whether a column is a field by its name alone, so that it is no attribute.

    >>> is_own("seq", "sequence"), is_own("type", "alarm_id")
    (True, False)
    """
    return column in _OWN[field]
