"""JSON lines without anything unusual as an `EventTable`, parsed by Arrow, column by column.

Whatever Arrow would take otherwise than Python's parser, and whatever there is to complain of, is unusual and left to
`penstock.events.jsonlines`, which reads line by line.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json

from penstock.errors import DataError
from penstock.events.buffers import arrow_buffer
from penstock.events.constants import constant
from penstock.events.convert import as_names, as_text
from penstock.events.instants import Instants, of_column, of_texts
from penstock.events.mapping import Columns
from penstock.events.stamps import stamps
from penstock.events.table import EventTable, make_table
from penstock.events.texts import has_empty
from penstock.events.uniform import IGNORED, has_known_keys

_SAMPLE = 1000
_BLOCK = 1 << 22
_OPEN, _CLOSE, _END = b"{}\n"
_EXACT = 2.0**53
"""Whole numbers below this are the same as floats; of a float beyond it nobody knows whether it was written as one."""
_WHOLE = r"^-?[0-9]+$"


class _UnusualError(Exception):
    """The lines are to be read one by one."""


def ordinary_table(content: bytes, columns: Columns) -> EventTable | None:
    """The events of lines that all have an object of ordinary values; None if any has something else.

    >>> ordinary_table(b'{"type": "A", "time": 5, "data": {"v": 1}}', Columns()).record(0).attributes
    {'v': 1}
    >>> ordinary_table(b'{"type": "A"}', Columns())
    """
    if columns.renames:
        return None
    try:
        return _table(_parsed(content, _texts_of(content)), columns)
    except (_UnusualError, DataError, pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, RecursionError):
        return None


def _texts_of(content: bytes) -> dict[str, Any]:
    """The keys that have text in the first records, and those of their data: Arrow must not take it for times."""
    texts: dict[str, Any] = {}
    data: dict[str, Any] = {}
    for line in content[:_BLOCK].split(b"\n", _SAMPLE)[:_SAMPLE]:
        record = json.loads(line)
        inner = record.get("data") if isinstance(record, dict) else None
        if not isinstance(record, dict) or not isinstance(inner, dict | None):
            raise _UnusualError
        texts |= {key: pa.string() for key, value in record.items() if isinstance(value, str)}
        data |= {key: pa.string() for key, value in (inner or {}).items() if isinstance(value, str)}
    return texts | ({"data": pa.struct(data)} if data else {})


def _parsed(content: bytes, texts: dict[str, Any]) -> pa.Table:
    lines = _count(content)
    options = pa_json.ParseOptions(explicit_schema=pa.schema(texts), unexpected_field_behavior="infer")
    data = pa_json.read_json(pa.BufferReader(arrow_buffer(content)), pa_json.ReadOptions(block_size=_BLOCK), options)
    if data.num_rows != lines:
        raise _UnusualError
    return data


def _count(content: bytes) -> int:
    """The number of lines, if each of them is from one brace to another, so that no object goes over several."""
    if not content.isascii():
        content.decode()
    letters = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(letters == _END)
    first, last = np.append(0, ends + 1), np.append(ends - 1, len(letters) - 1)
    if not len(letters) or first[-1] == len(letters) or last[0] < 0:
        raise _UnusualError
    if (letters[first] != _OPEN).any() or (letters[last] != _CLOSE).any():
        raise _UnusualError
    return len(first)


def _table(data: pa.Table, columns: Columns) -> EventTable:
    names = set(data.column_names)
    values = {name: data[name].combine_chunks() for name in names}
    for name in names & IGNORED:
        _require(values[name].type in (pa.string(), pa.null()))
    _require(has_known_keys(names - {"sequence"}) and not {"seq", "sequence"} <= names)
    fields = {"type": _type(values["type"]), **_stamps(values, columns)}
    if "source" in names:
        fields["source"] = as_names("source", _named(values["source"]))
    if "id" in names:
        fields["id"] = _id(values["id"])
    for name in names & {"seq", "sequence"}:
        fields["seq"] = _counted(values[name])
    if columns.clock_error:
        fields["uncertain"] = constant(True, pa.bool_(), data.num_rows)
    return make_table(fields, _attributes(data["data"]) if "data" in names else {})


def _require(is_ordinary: bool) -> None:
    if not is_ordinary:
        raise _UnusualError


def _named(column: pa.Array) -> pa.Array:
    _require(column.type in (pa.string(), pa.int64(), pa.null()))
    return column


def _type(column: pa.Array) -> pa.Array:
    texts = as_text("type", _named(column))
    _require(not has_empty(texts))
    return texts


def _id(column: pa.Array) -> pa.Array:
    texts = as_text("id", _named(column))
    return texts if not has_empty(texts) else pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _counted(column: pa.Array) -> pa.Array:
    if column.type == pa.string():
        _require(pc.all(pc.match_substring_regex(column, _WHOLE)).as_py() is not False)
    return _named(column).cast(pa.int64())


def _stamps(values: dict[str, pa.Array], columns: Columns) -> dict[str, pa.Array]:
    low = _instants(values["time" if "time" in values else "lo"], columns)
    high = _instants(values["hi"], columns) if "hi" in values else low
    bad: list[int] = []
    lo, hi = stamps(
        low, high, columns.clock_error, lambda row: (("lo", "hi"), None, None), lambda row, _: bad.append(row)
    )
    _require(not bad)
    return {"lo": pa.array(lo), "hi": pa.array(hi)}


def _refuse(row: int, error: DataError) -> NoReturn:
    raise _UnusualError


def _instants(column: pa.Array, columns: Columns) -> Instants:
    _require(not column.null_count and column.type in (pa.int64(), pa.float64(), pa.string()))
    if column.type == pa.string():
        return of_texts(column, columns.time_unit, columns.zone)
    return of_column(_exact(column), columns.time_unit, columns.zone)


def _attributes(data: pa.ChunkedArray) -> dict[str, pa.Array]:
    if data.type == pa.null():
        return {}
    _require(pa.types.is_struct(data.type))
    columns = {data.type.field(place).name: part.combine_chunks() for place, part in enumerate(data.flatten())}
    return {name: _attribute(column) for name, column in columns.items() if column.null_count < len(column)}


def _attribute(column: pa.Array) -> pa.Array:
    _require(column.type in (pa.bool_(), pa.int64(), pa.float64(), pa.string()))
    return _exact(column)


def _exact(column: pa.Array) -> pa.Array:
    """The column, if its floats may be nothing but floats."""
    if column.type == pa.float64():
        _require(pc.all(pc.less(pc.abs(column), _EXACT)).as_py() is not False)
    return column
