"""CSV files without anything unusual, in pieces, with types that their first rows suggest.

Arrow converts the cells while it parses them. Whatever it would take otherwise than `penstock.events.infer`, which
looks at all cells of a column, is unusual, and so is whatever there is to complain of: then the file is read again,
with care, by `penstock.events.csvfile`.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from penstock.events.arrow import arrow_table, from_arrow
from penstock.events.buffers import arrow_buffer
from penstock.events.csvrows import CsvRows
from penstock.events.infer import inferred, likely_kind
from penstock.events.instants import are_digits
from penstock.events.mapping import Columns
from penstock.events.naming import field_columns, is_own
from penstock.events.settling import NAME
from penstock.events.table import EventTable, make_table

_ROW = 32
"""Bytes of a row, roughly."""
_SAMPLE = 1 << 16
_BOM = b"\xef\xbb\xbf"
_TIMES = ("time", "lo", "hi", "arrival", "seq")
_QUOTE, _END = b'"\n'
_BEFORE = np.isin(np.arange(256), list(b'",\n'))
_AFTER = np.isin(np.arange(256), list(b'",\r\n'))


class UnusualError(Exception):
    """Something that is not wrong, but must be read with more care."""


class CsvPieces:
    """A CSV file of which pieces are read one after the other, so that the memory it takes does not grow.

    ``attributes`` are the attributes that are needed, None for all of them; other columns are left out unless they give
    a field or ids are made of them. ``rows`` says how long a piece is, roughly; None is the whole file.
    """

    def __init__(self, path: Path, columns: Columns, attributes: Collection[str] | None, rows: int | None) -> None:
        self.path, self.columns = path, columns
        self.length = None if rows is None else rows * _ROW
        self.header, self.header_lines = _header(path, columns)
        if not self.header or self.header_lines > 1:
            raise UnusualError("a header of several lines, or none")
        if len({*self.header}) < len(self.header):
            raise UnusualError("two columns of one name")
        sample = self._sample()
        names = field_columns(self.header, columns)
        self.has_ids, self.has_parts = "id" in names, "parts" in names
        if self.has_parts:
            raise UnusualError("composites")
        own = {column for field, column in names.items() if is_own(field, column)}
        self.kinds = {name: likely_kind(_one(sample[name])) for name in self.header if name not in own}
        """The likely type of each attribute, None where nothing can be said yet."""
        needed = {*names.values(), *(self.kinds if attributes is None or not self.has_ids else attributes)}
        self.read = {name: self._read_as(name, names, sample) for name in self.header if name in needed}
        """The type that each column is read as."""

    @property
    def blank(self) -> EventTable:
        """A table without rows, with all attributes of the file."""
        attributes = {name: pa.array([], kind or pa.string()) for name, kind in self.kinds.items()}
        return make_table({"type": [], "lo": [], "hi": []}, attributes, fixed=True)

    def __iter__(self) -> Iterator[EventTable]:
        """The events with the attributes that are needed, in the order of the file."""
        return map(self.events, self.parsed())

    def parsed(self) -> Iterator[pa.Table]:
        """The rows, before they are events."""
        with self.path.open("rb") as file:
            self._skip_header(file)
            for piece in _cut(file, self.length):
                yield self._parsed(piece, self.read)

    def _skip_header(self, file: BinaryIO) -> None:
        if file.read(len(_BOM)) != _BOM:
            file.seek(0)
        for _ in range(self.header_lines):
            file.readline()

    def _sample(self) -> pa.Table:
        with self.path.open("rb") as file:
            self._skip_header(file)
            first = next(_cut(file, _SAMPLE))
        return arrow_table(self._parsed(first, dict.fromkeys(self.header, pa.string())))

    def _read_as(self, name: str, names: dict[str, str], sample: pa.Table) -> pa.DataType:
        fields = {field for field, column in names.items() if column == name}
        kind = self.kinds.get(name, pa.string())
        if fields and fields <= {*_TIMES}:
            return pa.int64() if are_digits(_one(sample[name])) else pa.string()
        if fields:
            return NAME if fields <= {"type", "source"} else pa.string()
        return kind if kind in (pa.int64(), pa.float64(), pa.bool_()) else pa.string()

    def _parsed(self, piece: bytes, kinds: dict[str, pa.DataType]) -> pa.Table:
        _check(piece, any(kind == pa.int64() for kind in kinds.values()))
        data = pa_csv.read_csv(
            pa.BufferReader(arrow_buffer(piece)),
            read_options=pa_csv.ReadOptions(column_names=self.header),
            parse_options=pa_csv.ParseOptions(newlines_in_values=b'"' in piece),
            convert_options=pa_csv.ConvertOptions(
                column_types=kinds,
                include_columns=list(kinds),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
                true_values=["true", "True", "TRUE"],
                false_values=["false", "False", "FALSE"],
            ),
        )
        if b'"' in piece:
            _check_quotes(np.frombuffer(piece, np.uint8), data.num_rows)
        return data

    def events(self, data: pa.Table) -> EventTable:
        """Some rows as events."""
        table = from_arrow(data, self.columns)
        names = table.attributes.column_names
        attributes = [self._attribute(name, table.attribute(name)) for name in names]
        return table.with_attributes(pa.table(attributes, names=names))

    def _attribute(self, name: str, column: pa.Array) -> pa.Array:
        """The column with the likely type, if it has that."""
        kind = self.kinds[name]
        if kind is None and column.null_count < len(column):
            raise UnusualError("values where there were none")
        if kind not in (None, pa.string()) and column.type == pa.string():
            column = inferred(column) if column.null_count < len(column) else pa.nulls(len(column), kind)
        if kind is not None and column.type != kind:
            raise UnusualError("another type")
        if kind == pa.float64() and not pc.all(pc.is_finite(column)).as_py():
            raise UnusualError("a number that is none, or is infinite")
        return column


def _header(path: Path, columns: Columns) -> tuple[list[str], int]:
    try:
        rows = CsvRows(path, columns.names)
    except (UnicodeDecodeError, csv.Error):
        raise UnusualError("not UTF-8, or a long line") from None
    return rows.header, rows.header_lines


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks()


def _cut(file: BinaryIO, length: int | None) -> Iterator[bytes]:
    """The rest of a file in pieces of whole rows; one piece at least."""
    if length is None:
        yield file.read()
        return
    rest = b""
    is_first = True
    while part := file.read(length):
        rest += part
        cut = _end_of_rows(rest)
        if cut:
            yield rest[:cut]
            rest, is_first = rest[cut:], False
    if rest or is_first:
        yield rest


def _end_of_rows(content: bytes) -> int:
    """How much of the content are whole rows: up to the last line end that is not inside quotes."""
    end = content.rfind(b"\n") + 1
    if b'"' in content and _count(np.frombuffer(content, np.uint8, end), _QUOTE) % 2:
        end = content.rfind(b"\n", 0, content.rfind(b'"', 0, end)) + 1
    return end


def _check(piece: bytes, has_numbers: bool) -> None:
    """Refuses what is read otherwise elsewhere: lines that end in ``\\r`` alone, 0x10 as a number."""
    if not piece.isascii():
        try:
            piece.decode()
        except UnicodeDecodeError:
            raise UnusualError("not UTF-8") from None
    if b"\r" in piece and piece.count(b"\r") != piece.count(b"\r\n"):
        raise UnusualError("other line ends")
    if has_numbers and ((b"x" in piece and b"0x" in piece) or (b"X" in piece and b"0X" in piece)):
        raise UnusualError("numbers that are not decimal")


def _check_quotes(piece: npt.NDArray[np.uint8], rows: int) -> None:
    """Refuses quotes by which it cannot be told where the rows end.

    Either each line is a row, or each quote begins or ends a cell or is doubled, so that counting them tells what is
    inside.
    """
    if _count(piece, _QUOTE) % 2:
        raise UnusualError("a quote that is not closed")
    if _count(piece, _END) + (piece[-1] != _END) == rows:
        return
    places = np.flatnonzero(piece == _QUOTE)
    opening, closing = places[::2], places[1::2]
    before = _BEFORE[piece[opening[opening > 0] - 1]]
    after = _AFTER[piece[closing[closing < len(piece) - 1] + 1]]
    if not before.all() or not after.all():
        raise UnusualError("a quote inside a cell")


def _count(letters: npt.NDArray[np.uint8], letter: int) -> int:
    return sum(
        int(np.count_nonzero(letters[start : start + _SAMPLE] == letter)) for start in range(0, len(letters), _SAMPLE)
    )
