"""The rows of CSV files as they stand there, for what is said about them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from penstock.errors import DataError
from penstock.events.fields import FieldError
from penstock.events.origin import file_line


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

    @property
    def has_data(self) -> bool:
        """Whether there is a row behind the header."""
        return next(self._data(), None) is not None

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
