"""The pages of columns of a Parquet file, for those who need only some of their texts.

Arrow decodes a column as a whole. The ids of most events are never asked for, and to decode all of them takes longer
than to detect. So pages are found here, by their headers, and taken apart where somebody asks for what is in them
(`penstock.engine.pagetexts`, `pagecolumns`). Whatever is unusual, or not as it should be, is left to Arrow.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.events.thrift import Fields, read_struct

_DATA, _DICTIONARY, _DATA_APART = 0, 2, 3
"""Kinds of pages; one of the last kind has its levels apart from its values."""
_PLAIN, _CODED, _RUNS = 0, (2, 8), 3
"""Encodings of values, and of levels."""
_ENCODINGS = frozenset({"PLAIN", "RLE", "RLE_DICTIONARY", "PLAIN_DICTIONARY", "BIT_PACKED"})
_CODECS = {"SNAPPY": "snappy", "ZSTD": "zstd", "GZIP": "gzip", "UNCOMPRESSED": None}
_HEADER, _LONGEST_HEADER, _NEAR = 1 << 8, 1 << 20, 1 << 20
"""Bytes that headers may have, usually and at most, and of the file that are read together."""
_LARGEST = 1 << 30
"""Bytes of a page, at most."""
_LENGTH = 4
"""Bytes that say how long the levels of a page are."""


_DAMAGED = (AttributeError, LookupError, MemoryError, OSError, RecursionError, TypeError, ValueError)
"""What comes of headers that say anything."""


class UnreadableError(Exception):
    """Pages that are other than they should be, or are not known here."""


@dataclass(frozen=True)
class Page:
    """Some rows of a column, from the ``first`` on: their values, or codes of those that a dictionary has.

    Texts stand behind their lengths.
    """

    first: int
    rows: int
    is_coded: bool
    values: memoryview

    @property
    def end(self) -> int:
        """The row behind the last one."""
        return self.first + self.rows


@dataclass(frozen=True)
class Pages:
    """Pages that follow each other, and the one with the values that codes stand for."""

    pages: tuple[Page, ...]
    dictionary: Page | None


class ColumnPages:
    """What a column has in one row group, without nulls.

    Pages are found one after the other, and forgotten when somebody asks for rows behind them.
    """

    def __init__(self, path: Path, group: int, name: str, chunk: pq.ColumnChunkMetaData, has_levels: bool) -> None:
        self._path, self._group, self._name = path, group, name
        self._codec, self._has_levels = _CODECS[chunk.compression], has_levels
        self._place = chunk.dictionary_page_offset or chunk.data_page_offset
        self._stop, self._row = self._place + chunk.total_compressed_size, 0
        self._near, self._start = memoryview(b""), 0
        self._held: deque[Page] = deque()
        self._dictionary: Page | None = None

    @cached_property
    def whole(self) -> pa.Array:
        """All of it, as Arrow reads it."""
        with pq.ParquetFile(self._path, pre_buffer=False) as file:
            column = file.read_row_group(self._group, columns=[self._name], use_threads=False)[self._name]
        return pa.concat_arrays(column.chunks)

    def between(self, first: int, end: int) -> Pages:
        """The pages with the rows from the first on; none is asked for that stands before those asked for last."""
        while self._held and self._held[0].end <= first:
            self._held.popleft()
        try:
            while self._row < end:
                page = self._next()
                if page.end > first:
                    self._held.append(page)
        except _DAMAGED as error:
            raise UnreadableError(str(error)) from None
        return Pages(tuple(self._held), self._dictionary)

    def _next(self) -> Page:
        """The next page with rows."""
        while self._place < self._stop:
            page = self._page()
            if page is not None and page.rows < 0:
                break
            if page is not None:
                self._row = page.end
                return page
        raise UnreadableError("rows are missing")

    def _page(self) -> Page | None:
        """The page at the present place, if it has rows; then comes the next one."""
        header, length = self._header()
        kind, size, stored = header[1], header[2], header[3]
        body = self._bytes(self._place + length, stored)
        self._place += length + stored
        if min(size, stored) < 0 or size > _LARGEST or self._place > self._stop:
            raise UnreadableError("a page is not where it should be")
        if kind == _DICTIONARY:
            self._dictionary = Page(0, header[7][1], False, _values(body, size, self._codec))
        if kind == _DATA:
            told, values = header[5], _values(body, size, self._codec)
            if self._has_levels:
                values = _behind_levels(values, told[1], told[3])
            return Page(self._row, told[1], _is_coded(told[2]), values)
        if kind == _DATA_APART:
            told = header[8]
            if told[2]:
                raise UnreadableError("there are nulls")
            before = told[5] + told[6]
            codec = self._codec if told.get(7, True) else None
            return Page(self._row, told[1], _is_coded(told[4]), _values(body[before:], size - before, codec))
        return None

    def _header(self) -> tuple[Fields, int]:
        """The header of the page at the present place, and its length."""
        for size in (_HEADER, _LONGEST_HEADER):
            near = bytes(self._bytes(self._place, min(size, self._stop - self._place)))
            with suppress(IndexError):
                header, length = read_struct(near)
                if length <= len(near):
                    return header, length
        raise UnreadableError("a page has no header")

    def _bytes(self, place: int, size: int) -> memoryview:
        """Bytes of the file, which are read many at a time."""
        if place < self._start or place + size > self._start + len(self._near):
            with self._path.open("rb") as file:
                self._near = memoryview(os.pread(file.fileno(), max(size, _NEAR), place))
            self._start = place
        found = self._near[place - self._start :][:size]
        if len(found) < size:
            raise UnreadableError("the file is cut off")
        return found


def _values(body: memoryview, size: int, codec: str | None) -> memoryview:
    return body if codec is None else memoryview(pa.Codec(codec).decompress(pa.py_buffer(body), size))


def _behind_levels(values: memoryview, rows: int, encoding: int) -> memoryview:
    """The values of a page whose levels say, in one run, that none of them is null."""
    length = int.from_bytes(values[:_LENGTH], "little")
    levels = bytes(values[_LENGTH : _LENGTH + length])
    if encoding != _RUNS or levels != _number(2 * rows) + b"\1":
        raise UnreadableError("there may be nulls")
    return values[_LENGTH + length :]


def _number(number: int) -> bytes:
    """A number with seven bits in each byte."""
    rest = b""
    while number > 127:
        rest, number = rest + bytes([number & 127 | 128]), number >> 7
    return rest + bytes([number])


def _is_coded(encoding: int) -> bool:
    if encoding != _PLAIN and encoding not in _CODED:
        raise UnreadableError(f"encoding {encoding} is not known")
    return encoding != _PLAIN


def pages_of(file: pq.ParquetFile, path: Path, name: str, kind: str) -> list[ColumnPages] | None:
    """The pages of a column, for each row group.

    None if it is unusual, has nulls or may have them, or is stored as another kind than, say, ``INT64``.
    """
    names = [file.schema.column(number).path for number in range(len(file.schema.names))]
    if names.count(name) != 1:
        return None
    number = names.index(name)
    column = file.schema.column(number)
    chunks = [file.metadata.row_group(group).column(number) for group in range(file.num_row_groups)]
    if column.physical_type != kind or column.max_repetition_level or not all(map(_is_usual, chunks)):
        return None
    levels = bool(column.max_definition_level)
    return [ColumnPages(path, group, name, chunk, levels) for group, chunk in enumerate(chunks)]


def _is_usual(chunk: pq.ColumnChunkMetaData) -> bool:
    told = chunk.statistics
    is_full = told is not None and told.has_null_count and not told.null_count
    return is_full and chunk.compression in _CODECS and _ENCODINGS.issuperset(chunk.encodings)


def has_no_empty(file: pq.ParquetFile, name: str) -> bool:
    """Whether no text of a column is empty, as far as the file tells."""
    number = file.schema.names.index(name)
    told = [file.metadata.row_group(group).column(number).statistics for group in range(file.num_row_groups)]
    return all(one is not None and one.has_min_max and one.min for one in told)
