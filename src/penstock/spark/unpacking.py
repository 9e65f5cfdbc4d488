"""Blobs as events again: all that one bucket was sent, as one table, in the order of the input."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.constants import constant
from penstock.events.identity import numbered
from penstock.events.order import ordered
from penstock.events.table import FIELDS, EventTable, make_table
from penstock.spark.keys import NOWHERE
from penstock.spark.narrowing import Piece, first_of, joined, piece_of
from penstock.spark.packing import ATTRIBUTE, ENDS, EVENTS, MADE, PROGRESS, Progress

_OPTIONAL: dict[str, tuple[Any, pa.DataType]] = {
    **{name: (None, FIELDS.field(name).type) for name in ("lo", "seq", "parts")},
    "source": ("", FIELDS.field("source").type),
    MADE: (False, pa.bool_()),
}
"""Columns that a blob may leave out, what they say then, and their types."""


@dataclass
class Unpacked:
    """What a bucket was sent so far: blobs of events, and how far those came who sent them.

    ``latest`` is a column of the latest time at which an event ends, as it stands where events come from, if that was
    told.
    """

    bucket: int = NOWHERE
    blobs: list[Any] = field(default_factory=list)
    progress: Progress = field(default_factory=Progress)
    latest: pa.Array | None = None

    def take(self, rows: pa.RecordBatch) -> None:
        """More rows of `penstock.spark.packing.PACKED`, all for this bucket; `ENDS` may be beside them."""
        if len(rows):
            self.bucket = rows["bucket"][0].as_py()
            self.latest = rows[ENDS].slice(0, 1) if ENDS in rows.schema.names else None
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
    tables = sorted((pa.ipc.open_stream(blob).read_all() for blob in blobs), key=_beginning)
    if not tables:
        return make_table({"type": [], "lo": [], "hi": []}, {}, fixed=True)
    optional = [name for name in _OPTIONAL if any(name in table.column_names for table in tables)]
    attributes = [name for name in tables[0].column_names if name.startswith(ATTRIBUTE)]
    names = ("type", "id", "hi", *optional, *attributes)
    columns = {name: joined([_piece(table, name) for table in tables]) for name in names}
    if MADE in optional:
        columns["id"] = _numbered(columns["id"], columns[MADE], seen)
    fields = {name: columns[name] for name in FIELDS.names if name in columns}
    fields.setdefault("lo", fields["hi"])
    return make_table(fields, {name.removeprefix(ATTRIBUTE): columns[name] for name in attributes}, fixed=True)


def _beginning(table: pa.Table) -> int:
    """Where a blob begins, so that those of events in order are in order."""
    return first_of(piece_of(table, "hi")) if len(table) else 0


def _piece(table: pa.Table, name: str) -> Piece:
    """A column of a blob, or what it says if it was left out."""
    if name in table.column_names:
        return piece_of(table, name)
    if name == "lo":
        return piece_of(table, "hi")
    said, kind = _OPTIONAL[name]
    return pa.field(name, kind), constant(said, kind, len(table))


def _numbered(ids: pa.Array, marks: pa.Array, seen: MutableMapping[str, int] | None) -> pa.Array:
    return pc.replace_with_mask(ids, marks, numbered(ids.filter(marks), seen))
