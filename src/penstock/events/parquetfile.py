"""Parquet files: all at once as an `EventTable`, or in pieces of which only the columns that are needed are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.errors import DataError
from penstock.events.arrow import from_arrow
from penstock.events.convert import is_text
from penstock.events.mapping import Columns
from penstock.events.naming import field_columns
from penstock.events.origin import Numbered, OnBad, Origin
from penstock.events.table import EventTable


def read_parquet(path: Path, columns: Columns, on_bad: OnBad | None = None) -> tuple[EventTable, Origin]:
    """The events of a Parquet file, and where each row stands."""
    origin = Numbered(f"{path}, row")
    try:
        with pq.ParquetFile(path) as file:
            coded = [name for name in _coded(file.schema_arrow, columns) if file.schema_arrow.names.count(name) == 1]
        with pq.ParquetFile(path, read_dictionary=coded) as file:
            data = file.read()
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: this is no Parquet file: {error}", hint="check the file") from None
    try:
        return from_arrow(data, columns, on_bad=on_bad, origin=origin), origin
    except DataError as error:
        if error.message.startswith(str(path)):
            raise
        raise DataError(f"{path}: {error.message}", hint=error.hint) from None


def _coded(schema: pa.Schema, columns: Columns) -> list[str]:
    """The columns that are read as dictionaries: types and sources, which say the same things many times."""
    try:
        names = field_columns(schema.names, columns)
    except DataError:
        return []
    wanted = [names[field] for field in ("type", "source") if field in names]
    return [name for name in wanted if is_text(schema.field(name).type)]


class ParquetPieces:
    """A Parquet file of which pieces are read one after the other, so that the memory it takes does not grow.

    ``attributes`` are the attributes that are needed, None for all of them. Other columns are read only if they give a
    field, if ids are made of them, or if a value of theirs can be bad.
    """

    def __init__(self, path: Path, columns: Columns, attributes: Collection[str] | None, rows: int) -> None:
        self.path, self.columns, self.rows = path, columns, rows
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            self.groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
            """How many rows each of its row groups has."""
        self.blank = from_arrow(schema.empty_table(), columns)
        """A table without rows, with all attributes of the file."""
        names = field_columns(schema.names, columns)
        self.has_ids = "id" in names
        self.has_parts = "parts" in names
        self.coded = _coded(schema, columns)
        self.read = schema.names
        if attributes is not None and self.has_ids:
            needed = {*names.values(), *attributes}
            self.read = [field.name for field in schema if field.name in needed or not _is_safe(field.type)]
        self.leaves_behind = len(self.read) < len(schema.names)
        """Whether there are columns that are not read."""

    def __iter__(self) -> Iterator[EventTable]:
        """The events with the attributes that are needed, in the order of the file."""
        return map(self.events, self.parsed())

    def events(self, batch: pa.RecordBatch) -> EventTable:
        """Some rows as events."""
        return from_arrow(batch, self.columns)

    def parsed(self, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of some row groups, or of all, before they are events."""
        with pq.ParquetFile(self.path, read_dictionary=self.coded, pre_buffer=False) as file:
            yield from file.iter_batches(self.rows, row_groups=groups, columns=self.read)


def _is_safe(kind: pa.DataType) -> bool:
    """Whether each value of a column of this type can be an attribute, so that it need not be looked at."""
    if pa.types.is_dictionary(kind):
        return _is_safe(kind.value_type)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(is_text(kind) or pa.types.is_boolean(kind) or (is_number and not pa.types.is_uint64(kind)))
