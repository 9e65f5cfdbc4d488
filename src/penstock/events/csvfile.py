"""CSV files as an `EventTable`: a header (or names given), UTF-8, a column for each field and attribute."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from penstock.errors import DataError
from penstock.events.arrow import from_arrow
from penstock.events.fields import FieldError
from penstock.events.mapping import Columns
from penstock.events.origin import OnBad, Origin, file_line
from penstock.events.table import EventTable


def read_csv(path: Path, columns: Columns, on_bad: OnBad | None = None) -> tuple[EventTable, Origin] | None:
    """The events of a CSV file, and where each row stands; None for a file with nothing in it.

    Attributes have the type that all values of their column have; empty cells are absent.
    """
    _check_text(path)
    rows = CsvRows(path, columns.names)
    if not rows.header:
        return None
    texts = _texts(path, rows, on_bad)
    try:
        return from_arrow(texts, columns, on_bad=on_bad, origin=rows, untyped=True), rows
    except DataError as error:
        if error.place is not None:
            raise
        raise DataError(f"{path}: {error.message}", hint=error.hint) from None


def _check_text(path: Path) -> None:
    """Refuses a file that is not UTF-8, or whose last quote is not closed and would swallow what follows it."""
    content = path.read_bytes()
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {line}: not UTF-8", hint="save the file as UTF-8") from None
    if content.count(b'"') % 2:
        line = _line_of_open_quote(content)
        raise DataError(f"{path}, line {line}: a quote is not closed", hint='inside quotes, write " twice')


def _line_of_open_quote(content: bytes) -> int:
    is_open, opened = False, 1
    for line, text in enumerate(content.split(b"\n"), 1):
        if text.count(b'"') % 2:
            is_open = not is_open
            opened = line if is_open else opened
    return opened


def _texts(path: Path, rows: CsvRows, on_bad: OnBad | None) -> pa.Table:
    """All cells as text. Rows with too few or too many are bad; the others keep their order."""
    ragged: list[pa_csv.InvalidRow] = []

    def leave_out(row: pa_csv.InvalidRow) -> str:
        ragged.append(row)
        return "skip"

    names = rows.header
    table = pa_csv.read_csv(
        path,
        read_options=pa_csv.ReadOptions(column_names=names, skip_rows=rows.header_lines),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=leave_out),
        convert_options=pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    for error in rows.ragged() if ragged else ():
        if on_bad is None:
            raise error
        on_bad(error)
    return table


class CsvRows:
    """The rows of a CSV file as they stand in it, read again only when an error has to name one."""

    def __init__(self, path: Path, names: tuple[str, ...] | None = None) -> None:
        self.path = path
        self.names = names
        line, first = next(self._parsed(), (0, []))
        self.header = list(names) if names and first else [cell.strip() for cell in first]
        self.header_lines = 0 if names else line + sum(cell.count("\n") for cell in first)

    def where(self, row: int) -> str:
        """The row's place in words."""
        return f"{self.path}, line {self._whole_rows[row][0]}"

    def located(self, row: int, error: DataError) -> DataError:
        """The error with the row's line and, for a field, a caret below its cell."""
        line, cells = self._whole_rows[row]
        column = self.header.index(error.field) if isinstance(error, FieldError) else None
        return self._error(line, cells, column, error.message, error.hint)

    def ragged(self) -> Iterator[DataError]:
        """The errors about rows that have more or fewer cells than the header."""
        for line, cells in self._data():
            if len(cells) != len(self.header):
                message = f"expected {len(self.header)} cells, found {len(cells)}"
                yield self._error(line, cells, None, message, "a cell that contains commas stands in double quotes")

    @cached_property
    def _whole_rows(self) -> list[tuple[int, list[str]]]:
        return [(line, cells) for line, cells in self._data() if len(cells) == len(self.header)]

    def _data(self) -> Iterator[tuple[int, list[str]]]:
        parsed = self._parsed()
        if not self.names:
            next(parsed, None)
        return parsed

    def _parsed(self) -> Iterator[tuple[int, list[str]]]:
        """The line on which each row begins, and its cells; blank lines are no rows."""
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            before = 0
            for cells in reader:
                if cells:
                    yield before + 1, cells
                before = reader.line_num

    def _error(self, line: int, cells: list[str], column: int | None, message: str, hint: str | None) -> DataError:
        text = ",".join(cells).replace("\n", " ")
        start = 0 if column is None else len(",".join(cells[:column])) + (column > 0)
        end = len(text) if column is None else start + len(cells[column])
        place = file_line(str(self.path), line, text, start, end)
        return DataError(message, hint=hint, place=place)
