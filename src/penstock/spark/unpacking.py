"""Blobs as events again: all that one bucket was sent, as one table, in the order of the input."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.identity import numbered
from penstock.events.order import ordered
from penstock.events.table import FIELDS, EventTable, constant, make_table
from penstock.spark.keys import NOWHERE
from penstock.spark.narrowing import widened
from penstock.spark.packing import ATTRIBUTE, EVENTS, MADE, PROGRESS, Progress

_OPTIONAL: dict[str, tuple[Any, pa.DataType]] = {
    **{name: (None, FIELDS.field(name).type) for name in ("lo", "seq", "parts")},
    "source": ("", FIELDS.field("source").type),
    MADE: (False, pa.bool_()),
}
"""Columns that a blob may leave out, what they say then, and their types."""


@dataclass
class Unpacked:
    """What a bucket was sent so far: blobs of events, and how far those came who sent them."""

    bucket: int = NOWHERE
    blobs: list[Any] = field(default_factory=list)
    progress: Progress = field(default_factory=Progress)

    def take(self, rows: pa.RecordBatch) -> None:
        """More rows of `penstock.spark.packing.PACKED`, all for this bucket."""
        if len(rows):
            self.bucket = rows["bucket"][0].as_py()
        for kind, blob in zip(rows["kind"].to_pylist(), rows["blob"], strict=True):
            if kind == EVENTS:
                self.blobs.append(blob.as_buffer())
            elif kind == PROGRESS:
                self.progress = self.progress.joined(
                    Progress.from_table(pa.ipc.open_stream(blob.as_buffer()).read_all())
                )

    def events(self) -> tuple[EventTable, int]:
        """All events in order, each once, and how many were left out because they came twice."""
        return ordered(unpack(self.blobs))


def unpack(blobs: Iterable[Any], seen: MutableMapping[str, int] | None = None) -> EventTable:
    """The events of some blobs, as they were before they were packed; made ids are numbered.

    ``seen`` has how often each made id was met in blobs before these, and is kept up to date.

    >>> from penstock import parse
    >>> from penstock.spark.packing import Packer, Recipe
    >>> from penstock.spark.split import split
    >>> packed = Packer(Recipe(split([parse("[A]")]), 1)).pack(pa.table({"type": ["A", "A"], "time": [5, 5]}))
    >>> unpack(packed["blob"].to_pylist()).field("id").to_pylist()
    ['07f1d6c0600c11e5', '07f1d6c0600c11e5-2']
    """
    tables = sorted((widened(pa.ipc.open_stream(blob).read_all()) for blob in blobs), key=_beginning)
    if not tables:
        return make_table({"type": [], "lo": [], "hi": []}, {}, fixed=True)
    optional = [name for name in _OPTIONAL if any(name in table.column_names for table in tables)]
    whole = pa.concat_tables([_filled(table, optional) for table in tables]).unify_dictionaries().combine_chunks()
    fields = {name: _column(whole, name) for name in FIELDS.names if name in whole.column_names}
    fields.setdefault("lo", fields["hi"])
    if MADE in optional:
        fields["id"] = _numbered(fields["id"], _column(whole, MADE), seen)
    names = [name for name in whole.column_names if name.startswith(ATTRIBUTE)]
    return make_table(fields, {name.removeprefix(ATTRIBUTE): _column(whole, name) for name in names}, fixed=True)


def _beginning(table: pa.Table) -> int:
    """Where a blob begins, so that those of events in order are in order."""
    return int(table["hi"][0].as_py()) if len(table) else 0


def _filled(table: pa.Table, optional: Sequence[str]) -> pa.Table:
    """The columns in the order that all blobs can have, with those that this one left out."""
    columns = {name: table[name] for name in ("type", "id", "hi")}
    for name in optional:
        columns[name] = table[name] if name in table.column_names else _absent(table, name)
    columns |= {name: table[name] for name in table.column_names if name.startswith(ATTRIBUTE)}
    return pa.table(columns)


def _absent(table: pa.Table, name: str) -> pa.ChunkedArray:
    """What a field says that was left out."""
    if name == "lo":
        return table["hi"]
    return pa.chunked_array([constant(_OPTIONAL[name][0], _OPTIONAL[name][1], len(table))])


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table[name]
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _numbered(ids: pa.Array, marks: pa.Array, seen: MutableMapping[str, int] | None) -> pa.Array:
    return pc.replace_with_mask(ids, marks, numbered(ids.filter(marks), seen))
