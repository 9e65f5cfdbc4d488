"""Parquet files in pieces, of which only the columns that are needed are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.events.arrow import from_arrow
from penstock.events.convert import is_text
from penstock.events.mapping import Columns
from penstock.events.naming import field_columns
from penstock.events.origin import Origin
from penstock.events.parquetfile import coded_columns
from penstock.events.parquetpages import ColumnPages, Pages, UnreadableError, has_no_empty, pages_of
from penstock.events.settling import LateTexts
from penstock.events.table import EventTable, Ints

LARGE = 1 << 16
"""Rows of a row group from which on it pays to read it by itself."""
_TEXTS = (pa.string(), pa.large_string())


class PageReader(Protocol):
    """Reads what is in pages."""

    def texts(self, given: Pages, first: int, count: int, otherwise: Callable[[Ints], pa.Array]) -> LateTexts:
        """A column of so many rows, from the first on, whose texts are read where they are taken.

        Where pages are not as they should be, ``otherwise`` gives the texts of rows.
        """

    def numbers(self, given: Pages, first: int, count: int) -> Ints:
        """The whole numbers of so many rows, from the first on."""

    def names(self, given: Pages, first: int, count: int) -> pa.DictionaryArray:
        """The names of so many rows, from the first on, if they are few and all of them are coded."""


@dataclass(frozen=True)
class Piece:
    """Some rows of a file; ``ids`` are yet to be read if they are given."""

    rows: pa.RecordBatch | pa.Table
    ids: LateTexts | None = None

    def events(self, columns: Columns, origin: str | Origin = "row") -> EventTable:
        """The same as events."""
        table = from_arrow(self.rows, columns, origin=origin)
        return table if self.ids is None else table.with_given("id", self.ids)


class ParquetPieces:
    """A Parquet file of which pieces are read one after the other, so that the memory it takes does not grow.

    ``attributes`` are the attributes that are needed, None for all of them. Other columns are read only if they give a
    field, if ids are made of them, or if a value of theirs can be bad. Whole numbers are read by a page reader, if it
    is given and can read them, and so are ids, where they are taken; Arrow reads all else.
    """

    def __init__(
        self,
        path: Path,
        columns: Columns,
        attributes: Collection[str] | None,
        rows: int,
        reader: PageReader | None = None,
    ) -> None:
        self.path, self.columns, self.rows, self.reader = path, columns, rows, reader
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            self.groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
            """How many rows each of its row groups has."""
            names = field_columns(schema.names, columns)
            self._late_ids = self._give_ids_alone(file, names)
            self._paged = self._pages(file, names) if reader else {}
        self.blank = from_arrow(schema.empty_table(), columns)
        """A table without rows, with all attributes of the file."""
        self.has_ids = "id" in names
        self.has_parts = "parts" in names
        self.coded = coded_columns(schema, columns)
        self.read = schema.names
        self._kinds = {field.name: field.type for field in schema}
        if attributes is not None and self.has_ids:
            needed = {*names.values(), *attributes}
            self.read = [field.name for field in schema if field.name in needed or not _is_safe(field.type)]
        self.leaves_behind = len(self.read) < len(schema.names)
        """Whether there are columns that are not read."""

    def _pages(self, file: pq.ParquetFile, names: dict[str, str]) -> dict[str, list[ColumnPages]]:
        """The pages of columns that a page reader reads, if row groups are worth a piece of their own."""
        if sum(self.groups) < LARGE * len(self.groups):
            return {}
        found: dict[str, list[ColumnPages] | None] = {}
        for one in file.schema_arrow:
            if pa.types.is_int64(one.type) or pa.types.is_timestamp(one.type):
                found[one.name] = pages_of(file, self.path, one.name, "INT64")
            elif one.type in _TEXTS and one.name == names.get("type"):
                found[one.name] = pages_of(file, self.path, one.name, "BYTE_ARRAY")
            elif one.name == "id" and self._late_ids:
                found["id"] = pages_of(file, self.path, "id", "BYTE_ARRAY")
        return {name: pages for name, pages in found.items() if pages}

    def _give_ids_alone(self, file: pq.ParquetFile, names: dict[str, str]) -> bool:
        """Whether there is a column of texts that gives ids and nothing else, and says that none is empty."""
        mapped = self.columns.given(self.columns.time_from).values()
        is_own = names.get("id") == "id" and "id" not in mapped
        return is_own and file.schema_arrow.field("id").type in _TEXTS and has_no_empty(file, "id")

    def __iter__(self) -> Iterator[EventTable]:
        """The events with the attributes that are needed, in the order of the file."""
        return map(self.events, self.parsed())

    def events(self, piece: Piece) -> EventTable:
        """Some rows as events."""
        return piece.events(self.columns)

    def parsed(self, groups: Sequence[int] | None = None) -> Iterator[Piece]:
        """The rows of some row groups, or of all, before they are events."""
        others = [name for name in self.read if name not in self._paged]
        with pq.ParquetFile(self.path, read_dictionary=self.coded, pre_buffer=False) as file:
            if len(others) == len(self.read):
                yield from map(
                    Piece, file.iter_batches(self.rows, row_groups=groups, columns=others, use_threads=False)
                )
                return
            for group in range(len(self.groups)) if groups is None else groups:
                first = 0
                for columns, count in self._read_by_arrow(file, group, others):
                    yield self._piece(columns, group, first, count)
                    first += count

    def _read_by_arrow(
        self, file: pq.ParquetFile, group: int, names: Sequence[str]
    ) -> Iterator[tuple[dict[str, pa.Array], int]]:
        """Columns of the pieces of a row group, and how many rows each has; there may be no such column."""
        if names:
            for batch in file.iter_batches(self.rows, row_groups=[group], columns=names, use_threads=False):
                yield dict(zip(names, batch.select(names).columns, strict=True)), len(batch)
            return
        for first in range(0, self.groups[group], self.rows):
            yield {}, min(self.rows, self.groups[group] - first)

    def _piece(self, columns: dict[str, pa.Array], group: int, first: int, count: int) -> Piece:
        """So many rows of a row group from the first on, with the columns that Arrow did not read."""
        ids = None
        for name in self.read:
            if name in columns:
                continue
            pages = self._paged[name][group]
            if name == "id" and self._late_ids:
                ids = self._late_texts(pages, first, count)
            else:
                columns[name] = self._column(pages, first, count, self._kinds[name])
        return Piece(pa.record_batch({name: columns[name] for name in self.read if name in columns}), ids)

    def _late_texts(self, pages: ColumnPages, first: int, count: int) -> LateTexts:
        try:
            given = pages.between(first, first + count)
        except UnreadableError:
            given = Pages((), None)
        return self._reader.texts(given, first, count, lambda rows: pages.whole.cast(pa.string()).take(pa.array(rows)))

    def _column(self, pages: ColumnPages, first: int, count: int, kind: pa.DataType) -> pa.Array:
        try:
            given = pages.between(first, first + count)
            if kind in _TEXTS:
                return self._reader.names(given, first, count)
            return pa.array(self._reader.numbers(given, first, count)).view(kind)
        except UnreadableError:
            return pages.whole.slice(first, count)

    @property
    def _reader(self) -> PageReader:
        assert self.reader is not None  # noqa: S101
        return self.reader


def _is_safe(kind: pa.DataType) -> bool:
    """Whether each value of a column of this type can be an attribute, so that it need not be looked at."""
    if pa.types.is_dictionary(kind):
        return _is_safe(kind.value_type)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(is_text(kind) or pa.types.is_boolean(kind) or (is_number and not pa.types.is_uint64(kind)))
