"""CSV files as an `EventTable`: a header (or names given), UTF-8, a column for each field and attribute."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from penstock.errors import DataError
from penstock.events.arrow import from_arrow
from penstock.events.csvpieces import CsvPieces, UnusualError
from penstock.events.csvrows import CsvRows
from penstock.events.mapping import Columns
from penstock.events.origin import OnBad, Origin
from penstock.events.table import EventTable

_PATIENCE = 5.0
"""Seconds after which Arrow's threads are not waited for any longer."""


def read_csv(path: Path, columns: Columns, on_bad: OnBad | None = None) -> tuple[EventTable, Origin] | None:
    """The events of a CSV file, and where each row stands; None for a file with nothing in it.

    Attributes have the type that all values of their column have; empty cells are absent.
    """
    ordinary = _ordinary(path, columns)
    if ordinary is not None:
        return ordinary, CsvRows(path, columns.names)
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


def _ordinary(path: Path, columns: Columns) -> EventTable | None:
    """The events of a file that has nothing unusual, which is read much faster; None for any other."""
    try:
        (table,) = CsvPieces(path, columns, None, None)
    except (UnusualError, DataError, pa.ArrowInvalid):
        return None
    return table


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
    names = rows.header
    if not rows.has_data:
        return pa.table([pa.array([], pa.string())] * len(names), names=names)
    table, is_ragged = _whole_rows(path, names, rows.header_lines)
    for error in rows.ragged() if is_ragged else ():
        if on_bad is None:
            raise error
        on_bad(error)
    return table


def _whole_rows(path: Path, names: list[str], header_lines: int) -> tuple[pa.Table, bool]:
    """The rows with as many cells as there are names, as text, and whether there are others.

    Arrow's threads may hold for a moment longer what they ask about those. One that gives it back to Python while the
    process ends is stopped, and the process with it, so this waits until they have.
    """
    is_ragged, let_go = threading.Event(), threading.Event()

    def leave_out(_: pa_csv.InvalidRow) -> str:
        is_ragged.set()
        return "skip"

    held = weakref.ref(leave_out, lambda _: let_go.set())
    try:
        table = pa_csv.read_csv(
            path,
            read_options=pa_csv.ReadOptions(column_names=names, skip_rows=header_lines),
            parse_options=pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=leave_out),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
            ),
        )
    finally:
        del leave_out
        if held() is not None:
            let_go.wait(_PATIENCE)
    return table, is_ragged.is_set()
