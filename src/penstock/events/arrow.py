"""Anything Arrow (tables, batches, readers, pandas, polars, duckdb) as an `EventTable`, column by column.

Columns with the names of fields are fields: ``type``, ``source``, ``id``, ``seq`` or ``sequence``,
``time``, ``lo`` and ``hi`` or ``timelo`` and ``timehi``, ``parts``, ``arrival``, ``timekind``,
``retracted``. Every other column is an attribute, also one that a mapping takes a field from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import DataError
from penstock.events.buffers import column_over
from penstock.events.composite import is_parts_column, parts_column
from penstock.events.constants import constant
from penstock.events.convert import as_attribute, as_flag, as_names, as_text, as_whole, decoded, place_of, said
from penstock.events.fields import FieldError, shown
from penstock.events.infer import inferred
from penstock.events.instant import disagrees
from penstock.events.instants import Instants, Ints, of_column
from penstock.events.mapping import Columns, columns_from
from penstock.events.naming import absent, field_columns, is_own
from penstock.events.origin import BadRows, OnBad, Origin, origin_of
from penstock.events.settling import NAME, unsettled
from penstock.events.stamps import Span, stamps, unread
from penstock.events.table import EventTable, make_table


def from_arrow(
    data: Any,
    columns: Mapping[str, str] | Columns | None = None,
    *,
    type: str | None = None,
    zone: str | None = None,
    clock_error: int = 0,
    time_unit: str | None = None,
    on_bad: OnBad | None = None,
    origin: str | Origin = "row",
    untyped: bool = False,
) -> EventTable:
    """Read events from a table; ``columns`` says which columns give which fields, as a dict or as `Columns`.

    Options and ids are as in `penstock.events.records.from_dicts`. With ``untyped`` all columns are text,
    and the types of attributes are found from their values (`penstock.events.infer`).

    >>> table = pa.table({"alarm_id": [11], "start": [30685], "device": ["d1"]})
    >>> event = from_arrow(table, {"type": "alarm_id", "lo": "start"}, time_unit="s").record(0)
    >>> event.type, event.lo, event.attributes
    ('11', 30685000000, {'alarm_id': 11, 'device': 'd1', 'start': 30685})
    """
    table = _without_index(arrow_table(data))
    options: dict[str, Any] = {"type": type, "zone": zone, "clock_error": clock_error, "time_unit": time_unit}
    given = {name: value for name, value in options.items() if value}
    if isinstance(columns, Columns):
        mapping = replace(columns, **given)
    else:
        mapping = columns_from(columns or {}, table.column_names, **given)
    names = field_columns(table.column_names, mapping)
    if "parts" in names and not is_parts_column(_column(table, names["parts"])):
        names.pop("parts")
    return _Reading(table, names, mapping, BadRows(), untyped).events(origin_of(origin), on_bad)


def _without_index(table: pa.Table) -> pa.Table:
    """The table without the columns that pandas adds for an index that has no name."""
    names = table.column_names
    index = [name for name in names if name.startswith("__index_level_") and name.endswith("__")]
    return table.drop_columns(index) if index else table


def arrow_table(data: Any) -> pa.Table:
    """Whatever it is, as a table whose columns have different names.

    >>> arrow_table(pa.record_batch({"a": [1]})).num_rows
    1
    """
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    elif isinstance(data, pa.RecordBatchReader):
        data = data.read_all()
    elif not isinstance(data, pa.Table):
        if not hasattr(data, "__arrow_c_stream__"):
            raise DataError(
                f"{data.__class__.__name__} is not a table",
                hint="give anything Arrow (pyarrow, pandas, polars, duckdb) or a list of dicts",
            )
        data = _exported(data)
    names = data.column_names
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise DataError(f"there are two columns {repeated!r}", hint="give one of them another name")
    return data


def _exported(data: Any) -> pa.Table:
    """What something gives as Arrow; a column of objects may have values of several kinds, which no column has."""
    try:
        return pa.table(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(
            f"{data.__class__.__name__} has no columns of one kind each: {error.args[0]}",
            hint="give a table whose columns have values of one kind, or a list of dicts",
        ) from None


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = _with_one_dictionary(_with_plain_names(column))
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _with_one_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same column; Arrow does not unify dictionaries with nulls, nor such as have too many names together."""
    try:
        return column.unify_dictionaries()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        chunks = [chunk.dictionary_decode() for chunk in column.chunks]
        return pa.chunked_array(chunks, column.type.value_type)


def _with_plain_names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of names, of which a dictionary may have views, as polars gives them; little can be done with those."""
    if not pa.types.is_string_view(column.type.value_type):
        return column
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(pa.string())) for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, pa.string()))


@dataclass(frozen=True)
class _Reading:
    """A table being read, with the column for each field."""

    data: pa.Table
    names: dict[str, str]
    columns: Columns
    bad: BadRows
    untyped: bool

    def events(self, origin: Origin, on_bad: OnBad | None) -> EventTable:
        lo, hi, latest = self._stamps()
        begin = column_over(lo)
        end = begin if hi is lo else column_over(hi)
        fields = {"type": self._types(), "lo": begin, "hi": end, **self._optional()}
        own = {column for field, column in self.names.items() if is_own(field, column)}
        names = [name for name in self.data.column_names if name not in own]
        attributes = {} if self.untyped else {name: self._attribute(name) for name in names}
        left_out = self.bad.settle(origin, on_bad)
        if self.untyped:
            attributes = {name: _column(self.data, name) for name in names}
        if left_out:
            kept = pa.array(np.delete(np.arange(self.data.num_rows), left_out))
            fields = {name: column.take(kept) for name, column in fields.items()}
            attributes = {name: column.take(kept) for name, column in attributes.items()}
        if self.untyped:  # a cell of a bad row says nothing about the type of its column
            attributes = {name: inferred(column) for name, column in attributes.items()}
        given = {name: fields.pop(name) for name in unsettled(fields)}
        return make_table(fields, attributes, fixed=True, given=given, latest=None if left_out else latest)

    def _attribute(self, name: str) -> pa.Array:
        return as_attribute(name, _column(self.data, name), self.columns.zone, self.bad.add)

    def _types(self) -> pa.Array:
        if self.columns.type is not None:
            return constant(self.columns.type, NAME, self.data.num_rows)
        if "type" not in self.names:
            raise absent("type", "--type-from COLUMN or --type NAME", self.data.column_names)
        name = self.names["type"]
        types = as_names(name, _column(self.data, name), shorter=True)
        missing = place_of("", types.dictionary)
        for row in np.flatnonzero(np.asarray(types.indices) == missing).tolist() if missing >= 0 else ():
            self.bad.add(row, FieldError(name, "is missing", hint="every event has a type"))
        return types

    def _stamps(self) -> tuple[Ints, Ints, int | None]:
        """Beginnings and ends, and the last of these if it is known."""
        names = self.names
        low = names.get("lo", names.get("hi", names.get("time")))
        if low is None:
            raise absent("time", "--time-from COLUMN", self.data.column_names)
        high = names.get("hi", low)
        starts = self._instants(low)
        ends = starts if high == low else self._instants(high)

        def span(row: int) -> Span:
            return (low, high), said(self.data[low][row]), said(self.data[high][row])

        lo, hi = stamps(starts, ends, self.columns.clock_error, span, self.bad.add)
        if "time" in names and high != names["time"]:
            self._check_times(names["time"], high, ends.up)
        return lo, hi, ends.latest if hi is ends.up else None

    def _instants(self, name: str) -> Instants:
        try:
            return of_column(_column(self.data, name), self.columns.time_unit, self.columns.zone)
        except DataError as error:
            raise DataError(f"column {name!r}: {error.message}", hint=error.hint) from None

    def _check_times(self, name: str, high: str, ends: Ints) -> None:
        """Where there are both an interval and a ``time``, that is its end."""
        times = self._instants(name)
        unread(times.bad, lambda row: name, self.bad.add)
        for row in np.flatnonzero(times.up != ends).tolist():
            self.bad.add(row, disagrees(said(self.data[name][row]), (name, high), said(self.data[high][row])))

    def _optional(self) -> dict[str, pa.Array]:
        """The fields that an event may do without."""
        fields = {"uncertain": self._uncertain()}
        for field, read in (
            ("source", self._source),
            ("id", self._id),
            ("seq", lambda name: as_whole(name, _column(self.data, name), self.bad.add)),
            ("arrival", self._arrival),
            ("retracted", lambda name: as_flag(name, _column(self.data, name))),
            (
                "parts",
                lambda name: parts_column(name, _column(self.data, name), self.columns.zone, self.bad.add),
            ),
        ):
            if field in self.names:
                fields[field] = read(self.names[field])
        return fields

    def _source(self, name: str) -> pa.Array:
        return as_names(name, _column(self.data, name))

    def _id(self, name: str) -> pa.Array:
        return as_text(name, _column(self.data, name))

    def _arrival(self, name: str) -> pa.Array:
        column = _column(self.data, name)
        present = np.asarray(column.is_valid())
        times = self._instants(name)
        unread({row: error for row, error in times.bad.items() if present[row]}, lambda row: name, self.bad.add)
        return pa.array(times.up, mask=~present)

    def _uncertain(self) -> pa.Array:
        length = self.data.num_rows
        if "timekind" not in self.names or self.columns.clock_error:
            return constant(self.columns.clock_error > 0, pa.bool_(), length)
        name = self.names["timekind"]
        kinds = decoded(_column(self.data, name)).cast(pa.string()).fill_null("")
        known = np.asarray(pc.is_in(kinds, pa.array(["", "uncertain", "duration"])))
        for row in np.flatnonzero(~known).tolist():
            problem = f"{shown(kinds[row].as_py())} is no kind of interval"
            self.bad.add(row, FieldError(name, problem, hint="it is 'uncertain' or 'duration'"))
        return pc.equal(kinds, "uncertain")
