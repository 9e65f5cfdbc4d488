"""Events as Arrow columns: the form in which they are read, ordered and detected."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import DataError
from penstock.events.cloudevents import from_cloudevent
from penstock.events.constants import constant, is_blank, named
from penstock.events.event import Event
from penstock.events.settling import NAME, Given, settled
from penstock.events.times import datetime_of

TIME = pa.timestamp("us", "UTC")
FIELDS = pa.schema(
    [
        ("type", NAME),
        ("source", NAME),
        ("id", pa.string()),
        ("seq", pa.int64()),
        ("lo", pa.int64()),
        ("hi", pa.int64()),
        ("parts", pa.string()),
        ("arrival", pa.int64()),
        ("uncertain", pa.bool_()),
        ("retracted", pa.bool_()),
    ]
)
"""The fields; ``id`` is null until it is made (`identity`), ``parts`` is JSON text, of composites only."""
NAMES = tuple(FIELDS.names)
KINDS = {
    pa.bool_(): "true or false",
    pa.int64(): "a whole number",
    pa.float64(): "a number",
    pa.string(): "text",
    TIME: "a time",
}
"""The types of attribute columns, with their names in errors."""
Where = Callable[[int], str]
Ints = npt.NDArray[np.int64]
_FEW = 8
"""So many rows are sooner read value by value than as columns."""


NOTHING_GIVEN: Mapping[str, Given] = MappingProxyType({})


class EventTable:
    """Events, a row each: their fields, and a typed column for each attribute, in the order of the names.

    ``fixed`` says that the attributes are the columns of a table, so that one that is not there is a mistake;
    otherwise they are free-form, and any event may have others.

    Fields are given as a table, or as a column for each of them. Columns are what is read; the table is made of them
    when it is asked for, since a batch of a few events is read quicker than a table is made. What was ``given`` in
    another form (`settling`) becomes a field's column when that is asked for.

    >>> table = make_table({"type": ["A"], "lo": [1], "hi": [2]}, {"room": pa.array(["R1"])})
    >>> len(table), table.record(0).attributes
    (1, {'room': 'R1'})
    """

    __slots__ = ("_columns", "_fields", "_given", "_latest", "_length", "_numbers", "attributes", "fixed")

    def __init__(
        self,
        fields: pa.Table | dict[str, pa.Array],
        attributes: pa.Table,
        fixed: bool = False,
        given: Mapping[str, Given] = NOTHING_GIVEN,
        latest: int | None = None,
    ) -> None:
        self._latest = latest
        self._length = -1
        self._numbers: dict[str, Ints] = {}
        self._fields: pa.Table | None = None if isinstance(fields, dict) else fields
        self._columns: dict[str, pa.Array] = fields if isinstance(fields, dict) else {}
        self._given = given
        self.attributes = attributes
        self.fixed = fixed

    def __len__(self) -> int:
        if self._length < 0:
            self._length = len(self.field("lo"))
        return self._length

    @property
    def fields(self) -> pa.Table:
        """The fields as a table.

        >>> make_table({"type": ["A"], "lo": [1], "hi": [2]}, {}).fields["hi"].to_pylist()
        [2]
        """
        if self._fields is None:
            self._fields = pa.table([self.field(name) for name in NAMES], schema=FIELDS)
        return self._fields

    def field(self, name: str) -> pa.Array:
        """A field's column as one array.

        >>> make_table({"type": ["A"], "lo": [1], "hi": [2]}, {}).field("hi").to_pylist()
        [2]
        """
        column = self._columns.get(name)
        if column is None:
            given = self._given.get(name)
            column = _one(self.fields[name]) if given is None else settled(name, given)
            self._columns[name] = column
        return column

    def numbers(self, name: str) -> Ints:
        """A field of whole numbers that each event has, as an array.

        >>> make_table({"type": ["A"], "lo": [1], "hi": [2]}, {}).numbers("hi")
        array([2])
        """
        numbers = self._numbers.get(name)
        if numbers is None:
            numbers = self._numbers[name] = np.asarray(self.field(name))
        return numbers

    def given(self, name: str) -> pa.Array:
        """A field's column, or what it is made of if it has not been asked for.

        >>> table = make_table({"type": ["A"], "lo": [1], "hi": [2]}, {}, given={"id": pa.array([""])})
        >>> table.given("id").to_pylist(), table.field("id").to_pylist()
        ([''], [None])
        """
        return self._given[name] if self._is_unread(name) else self.field(name)

    def _is_unread(self, name: str) -> bool:
        return name in self._given and name not in self._columns

    def latest(self, before: int) -> int:
        """When the last event ends, or ``before`` if that is later.

        >>> make_table({"type": ["A", "B"], "lo": [1, 2], "hi": [7, 3]}, {}).latest(before=5)
        7
        """
        if self._latest is None:
            return int(self.numbers("hi").max(initial=before))
        return max(self._latest, before)

    def taken_as_given(self, name: str) -> EventTable:
        """The same events, where it is known that a field's column is what it should be, for all that matter."""
        if not self._is_unread(name):
            return self
        columns = self._columns | {name: self._given[name]}
        return EventTable(columns, self.attributes, self.fixed, self._given, self._latest)

    def with_attributes(self, attributes: pa.Table) -> EventTable:
        """The same events with other attributes.

        >>> table = make_table({"type": ["A"], "lo": [1], "hi": [2]}, {"v": pa.array([7])})
        >>> table.with_attributes(NO_ATTRIBUTES).record(0).attributes
        {}
        """
        if self._fields is None:
            return EventTable(self._columns, attributes, self.fixed, self._given, self._latest)
        return EventTable(self._fields, attributes, self.fixed, latest=self._latest)

    def with_given(self, field: str, column: Given) -> EventTable:
        """The same events, where nothing was said of a field yet, with its column.

        >>> make_table({"type": ["A"], "lo": [1], "hi": [2]}, {}).with_given("id", pa.array(["7"])).record(0).id
        '7'
        """
        columns = {name: self.field(name) for name in NAMES if name != field and name not in self._given}
        return EventTable(columns, self.attributes, self.fixed, {**self._given, field: column}, self._latest)

    def attribute(self, name: str) -> pa.Array:
        """An attribute's column as one array.

        >>> make_table({"type": ["A"], "lo": [1], "hi": [2]}, {"v": pa.array([7])}).attribute("v").to_pylist()
        [7]
        """
        return _one(self.attributes[name])

    def replaced(self, field: str, column: pa.Array) -> EventTable:
        """The same events with another column for one field."""
        columns = {name: self.field(name) for name in NAMES}
        return EventTable(columns | {field: column}, self.attributes, self.fixed)

    def take(
        self,
        indices: Any,
        fields: Mapping[str, pa.Array] = NOTHING_GIVEN,
        attributes: Mapping[str, pa.Array] = NOTHING_GIVEN,
    ) -> EventTable:
        """The rows with these numbers, in that order; of some columns it may be known already what is there.

        >>> table = make_table({"type": ["A", "B"], "lo": [1, 2], "hi": [3, 4]}, {})
        >>> table.take([1], fields={"hi": pa.array([4])}).record(0).hi
        4
        """
        rows = _Rows(indices, len(self))
        return self._each(lambda column: _taken(column, rows), fields, attributes)

    @property
    def are_points(self) -> bool:
        """Whether it is seen at once that all events end where they begin.

        >>> make_table({"type": ["A"], "lo": [1], "hi": [2]}, {}).are_points
        False
        """
        return share_bytes(self.field("lo"), self.field("hi"))

    def slice(self, start: int, length: int | None = None) -> EventTable:
        """The rows from ``start`` on, no more than ``length``, without copying."""
        if not start and (length is None or length >= len(self)):
            return self
        return self._each(lambda column: column.slice(start, length))

    def _each(
        self,
        change: Callable[[pa.Array], pa.Array],
        known: Mapping[str, pa.Array] = NOTHING_GIVEN,
        known_attributes: Mapping[str, pa.Array] = NOTHING_GIVEN,
    ) -> EventTable:
        columns = {name: self.field(name) for name in NAMES if name not in known and not self._is_unread(name)}
        unread = {name: one for name, one in self._given.items() if name not in known and name not in columns}
        given = {name: change(column) for name, column in unread.items()}
        fields = {name: change(column) for name, column in columns.items() if name != "lo" or not self.are_points}
        fields |= known
        fields.setdefault("lo", fields["hi"])
        given |= {name: fields.pop(name) for name in known if name == "type" and known[name].type != NAME}
        attributes = [
            known_attributes[name] if name in known_attributes else change(self.attribute(name))
            for name in self.attributes.column_names
        ]
        return EventTable(fields, pa.table(attributes, schema=self.attributes.schema), self.fixed, given)

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrow would send all bytes behind a column, also those of rows that are not in it.
        return _received, (_sent(self.fields), _sent(self.attributes), self.fixed)

    def record(self, row: int) -> Event:
        """The event in a row, as a Python object.

        >>> make_table({"type": ["A"], "lo": [1], "hi": [2]}, {}).record(0).stamp
        Stamp(lo=1, hi=2)
        """
        return self.slice(row, 1).to_events()[0]

    def events_at(self, rows: Any) -> list[Event]:
        """The events in some rows, as Python objects; of a few, nothing but their values is touched.

        >>> make_table({"type": ["A", "B"], "lo": [1, 2], "hi": [2, 3]}, {}).events_at([1])[0].type
        'B'
        """
        if len(rows) > _FEW:
            return self.take(rows).to_events()
        names, columns = self.attributes.column_names, self.attributes.columns
        events = []
        for row in map(int, rows):
            given = {name: _value(column[row]) for name, column in zip(names, columns, strict=True)}
            present = {name: value for name, value in given.items() if value is not None}
            events.append(_event(*(self.field(name)[row].as_py() for name in NAMES), present))
        return events

    def to_events(self) -> list[Event]:
        """All events as Python objects.

        >>> make_table({"type": ["A"], "lo": [1], "hi": [2]}, {}).to_events()[0].type
        'A'
        """
        data: list[dict[str, Any]] = [{} for _ in range(len(self))]
        for name in self.attributes.column_names:
            for row, value in enumerate(_values(self.attribute(name))):
                if value is not None:
                    data[row][name] = value
        rows = zip(*(self.field(name).to_pylist() for name in NAMES), data, strict=True)
        return [_event(*row) for row in rows]


def _sent(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _received(fields: bytes, attributes: bytes, fixed: bool) -> EventTable:
    return EventTable(pa.ipc.open_stream(fields).read_all(), pa.ipc.open_stream(attributes).read_all(), fixed)


def _event(
    type: str, source: str, id: str | None, seq: int | None, lo: int, hi: int, parts: str | None, *rest: Any
) -> Event:
    arrival, uncertain, retracted, attributes = rest
    inner = tuple(from_cloudevent(part) for part in json.loads(parts)) if parts else ()
    return Event(type, source, id or "", lo, hi, seq, attributes, inner, arrival, uncertain, retracted)


def _value(scalar: pa.Scalar) -> Any:
    is_time = scalar.is_valid and scalar.type == TIME
    return datetime_of(scalar.value) if is_time else scalar.as_py()


def _values(column: pa.Array) -> list[Any]:
    if column.type != TIME:
        values: list[Any] = column.to_pylist()
        return values
    return [None if at is None else datetime_of(at) for at in column.cast(pa.int64()).to_pylist()]


class _Rows:
    """Numbers of rows of a table of so many, as Arrow takes them where some column has to be read."""

    def __init__(self, indices: Any, length: int) -> None:
        self._indices = indices
        self._length = length

    def __len__(self) -> int:
        return len(self._indices)

    @cached_property
    def column(self) -> pa.Array:
        """The numbers as a column; short ones are read faster."""
        if isinstance(self._indices, pa.Array):
            return self._indices
        return pa.array(np.asarray(self._indices, np.int32 if self._length <= _MOST_SHORT else np.int64))


def _taken(column: pa.Array, rows: _Rows) -> pa.Array:
    """The rows of a column; of one that says nothing, or false throughout, without looking at them."""
    if len(column) and column.null_count == len(column):
        return constant(None, column.type, len(rows))
    if column.type == pa.bool_() and not column.null_count and (is_blank(column) or not pc.any(column).as_py()):
        return constant(False, column.type, len(rows))
    if column.type == NAME and not column.null_count and len(column.dictionary) == 1:
        return named(column.dictionary[0].as_py(), len(rows))
    return column.take(rows.column)


def share_bytes(one: pa.Array, other: pa.Array) -> bool:
    """Whether two columns of numbers share their bytes, as beginnings and ends do where all events are points.

    >>> one = pa.array([1, 2])
    >>> share_bytes(one, one), share_bytes(one, pa.array([1, 2]))
    (True, False)
    """
    return bool(one.offset == other.offset and one.buffers()[1].address == other.buffers()[1].address)


def _one(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.unify_dictionaries().chunks)


def make_table(
    fields: Mapping[str, Any],
    attributes: Mapping[str, pa.Array],
    fixed: bool = False,
    given: Mapping[str, Given] = NOTHING_GIVEN,
    latest: int | None = None,
) -> EventTable:
    """Build a table from columns; fields that nothing is said of are absent (no source, no flags).

    ``given`` are columns yet to be settled, ``latest`` is when the last event ends, if that is known.

    >>> make_table({"type": ["A", "B"], "lo": [1, 2], "hi": [1, 2]}, {}).field("source").to_pylist()
    ['', '']
    """
    length = len(fields["lo"])
    columns = {
        name: _column(fields[name], name) if name in fields else absent(name, length)
        for name in NAMES
        if name not in given
    }
    names = sorted(attributes)
    table = pa.table([attributes[name] for name in names], names=names) if names else NO_ATTRIBUTES
    return EventTable(columns, table, fixed, given, latest)


NO_ATTRIBUTES = pa.table({})


def _column(values: Any, name: str) -> pa.Array:
    if name in ("type", "source"):
        column = values if isinstance(values, pa.Array) else pa.array(values, pa.string())
        return column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    return values if isinstance(values, pa.Array) else pa.array(values, FIELDS.field(name).type)


@lru_cache(maxsize=8192)
def absent(field: str, length: int) -> pa.Array:
    """The column of a field that no event has.

    >>> absent("source", 2).to_pylist(), absent("seq", 1).to_pylist()
    (['', ''], [None])
    """
    nothing = {"type": "", "source": "", "uncertain": False, "retracted": False}
    return constant(nothing.get(field), FIELDS.field(field).type, length)


_MOST_SHORT = 2**31 - 1


def concat(tables: Sequence[EventTable], where: Sequence[Where] | None = None) -> EventTable:
    """All events of several tables; ``where`` says in words, for each table, where a row of it comes from.

    An attribute that is an integer in one and a float in another is a float; any other mixture is an error.

    >>> one = make_table({"type": ["A"], "lo": [1], "hi": [1]}, {"v": pa.array([7])})
    >>> two = make_table({"type": ["A"], "lo": [2], "hi": [2]}, {"v": pa.array([7.5])})
    >>> concat([one, two]).attribute("v").to_pylist()
    [7.0, 7.5]
    """
    if not tables:
        return make_table({"type": [], "lo": [], "hi": []}, {})
    if len(tables) == 1:
        return tables[0]
    words = where or [_nth(number) for number in range(1, len(tables) + 1)]
    names = sorted({name for table in tables for name in table.attributes.column_names})
    attributes = {name: _joined(name, tables, words) for name in names}
    fields = pa.concat_tables([table.fields for table in tables]).unify_dictionaries()
    columns = {name: _one(fields[name]) for name in NAMES}
    return make_table(columns, attributes, all(table.fixed for table in tables))


def _nth(number: int) -> Where:
    return lambda row: f"row {row + 1} of table {number}"


def _joined(name: str, tables: Sequence[EventTable], where: Sequence[Where]) -> pa.Array:
    columns = [
        table.attribute(name) if name in table.attributes.column_names else pa.nulls(len(table)) for table in tables
    ]
    kind: pa.DataType | None = None
    first = 0
    for place, column in enumerate(columns):
        if column.null_count < len(column) and column.type != kind:
            if kind is not None and not {kind, column.type} <= {pa.int64(), pa.float64()}:
                pair = [where[p](_first_valid(columns[p])) for p in (first, place)]
                raise mixture(name, kind, pair[0], column.type, pair[1])
            kind, first = (column.type, place) if kind is None else (pa.float64(), first)
    kind = kind or pa.string()
    return pa.concat_arrays([_cast(column, kind) for column in columns])


def _first_valid(column: pa.Array) -> int:
    return int(pc.index(column.is_valid(), True).as_py())


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if column.null_count == len(column):
        return pa.nulls(len(column), kind)
    return column.cast(kind, safe=False)


def mixture(name: str, kind: pa.DataType, where: str, other: pa.DataType, there: str) -> DataError:
    """The error about an attribute that is of different kinds in two records.

    >>> print(mixture("v", pa.int64(), "record 1", pa.string(), "record 4").message)
    attribute 'v' is a whole number in record 1 and text in record 4
    """
    return DataError(
        f"attribute {name!r} is {KINDS[kind]} in {where} and {KINDS[other]} in {there}",
        hint="only whole numbers and floats may be mixed; give one of the two another name",
    )
