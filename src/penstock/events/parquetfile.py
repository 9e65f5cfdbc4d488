"""Parquet files, all at once, as an `EventTable`; `parquetpieces` reads them piece by piece."""

from __future__ import annotations

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
            coded = [
                name for name in coded_columns(file.schema_arrow, columns) if file.schema_arrow.names.count(name) == 1
            ]
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


def coded_columns(schema: pa.Schema, columns: Columns) -> list[str]:
    """The columns that are read as dictionaries: types and sources, which say the same things many times."""
    try:
        names = field_columns(schema.names, columns)
    except DataError:
        return []
    wanted = [names[field] for field in ("type", "source") if field in names]
    return [name for name in wanted if is_text(schema.field(name).type)]
