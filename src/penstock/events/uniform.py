"""Dicts that all have the same keys and nothing unusual in them, as an `EventTable`, column by column.

This is what most programs give. Whatever is not so is left to `penstock.events.records`, which looks at each record and
can say what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import chain
from operator import itemgetter
from typing import Any, NoReturn

import pyarrow as pa

from penstock.errors import DataError
from penstock.events.constants import constant, named
from penstock.events.instants import Instants, of_values
from penstock.events.mapping import Columns
from penstock.events.stamps import stamps
from penstock.events.table import EventTable, make_table

_REQUIRED = ({"type", "time"}, {"type", "lo", "hi"})
IGNORED = {"specversion", "subject", "datacontenttype", "dataschema"}
"""The keys of CloudEvents that say nothing about the event."""
_OPTIONAL = {"source", "id", "seq", "data"} | IGNORED
_PLAIN: dict[type, pa.DataType] = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
_NOTHING = type(None)
_FEW = 1024


class _UnusualError(Exception):
    """The records are to be looked at one by one."""


def uniform_table(records: Sequence[Any], columns: Columns) -> EventTable | None:
    """The events of records that are all alike and good; None if any of them is not.

    >>> uniform_table([{"type": "Open", "time": 5, "data": {"door": "D1"}}], Columns()).record(0).attributes
    {'door': 'D1'}
    >>> uniform_table([{"type": "Open", "time": "soon"}], Columns())
    """
    if not records or columns.renames or set(map(type, records)) != {dict} or not has_known_keys(records[0].keys()):
        return None
    if set(map(len, records)) != {len(records[0])}:
        return None
    try:
        return _table({key: list(map(itemgetter(key), records)) for key in records[0] if key not in IGNORED}, columns)
    except (_UnusualError, KeyError, OverflowError, UnicodeEncodeError):
        return None


def has_known_keys(keys: Set[Any]) -> bool:
    """Whether these are the keys of an ordinary record: a type, a time or an interval, and what is often beside them.

    >>> has_known_keys({"type", "time", "data"}), has_known_keys({"type", "time", "lo", "hi"})
    (True, False)
    """
    return any(required <= keys <= required | _OPTIONAL for required in _REQUIRED)


def _table(values: dict[str, list[Any]], columns: Columns) -> EventTable:
    if "" in values["type"] or "" in values.get("id", ()):
        raise _UnusualError
    fields: dict[str, Any] = {"type": _names(values["type"]), **_stamps(values, columns)}
    if "source" in values:
        fields["source"] = _names(values["source"])
    if "id" in values:
        fields["id"] = _texts(values["id"])
    if "seq" in values and (seq := _column(values["seq"], {int})) is not None:
        fields["seq"] = seq
    if columns.clock_error:
        fields["uncertain"] = constant(True, pa.bool_(), len(fields["type"]))
    return make_table(fields, _attributes(values["data"]) if "data" in values else {})


def _names(values: list[Any]) -> pa.Array:
    """Types or sources; a few that are the same are a column that is known already."""
    if len(values) > _FEW or values.count(values[0]) < len(values) or type(values[0]) is not str:
        return _texts(values)
    return named(values[0], len(values))


def _texts(values: list[Any]) -> pa.Array:
    if set(map(type, values)) != {str}:
        raise _UnusualError
    return pa.array(values, pa.string())


def _stamps(values: dict[str, list[Any]], columns: Columns) -> dict[str, pa.Array]:
    low = _instants(values["time" if "time" in values else "lo"], columns)
    high = _instants(values["hi"], columns) if "hi" in values else low
    lo, hi = stamps(low, high, columns.clock_error, lambda row: (("lo", "hi"), None, None), _refuse)
    begin = pa.array(lo)
    return {"lo": begin, "hi": begin if hi is lo else pa.array(hi)}


def _instants(values: list[Any], columns: Columns) -> Instants:
    instants = of_values(values, columns.time_unit, columns.zone)
    if instants.bad:
        raise _UnusualError
    return instants


def _refuse(row: int, error: DataError) -> NoReturn:
    raise _UnusualError


def _attributes(data: list[Any]) -> dict[str, pa.Array]:
    if set(map(type, data)) != {dict}:
        raise _UnusualError
    names = dict.fromkeys(chain.from_iterable(data))
    if set(map(type, names)) - {str}:
        raise _UnusualError
    "".join(names).encode()
    arrays = {name: _column([record.get(name) for record in data], {*_PLAIN}) for name in names}
    return {name: array for name, array in arrays.items() if array is not None}


def _column(values: list[Any], kinds: set[type]) -> pa.Array | None:
    """The values as a column, None if there are none; they are all of one kind."""
    found = set(map(type, values)) - {_NOTHING}
    if not found:
        return None
    if len(found) > 1 or not found <= kinds:
        raise _UnusualError
    return pa.array(values, _PLAIN[found.pop()], from_pandas=True)
