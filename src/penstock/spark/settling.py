"""Repeated events, left out wherever they stand: before events find their buckets, those of one name meet.

Two events with the same source and id may have different attributes, and so belong to different buckets; which of them
counts can only be told where both are. Where that may be so (`penstock.spark.names`), events are first packed by their
names. Whoever gets those of some names leaves repeated ones out, numbers the ids that were made, and packs what is left
for the buckets of the patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from penstock.engine.sharing import HIGH
from penstock.events.order import without_repeats
from penstock.events.table import EventTable
from penstock.spark.names import names_of
from penstock.spark.narrowing import narrowed
from penstock.spark.packing import (
    EVENTS,
    PROGRESS,
    ROWS,
    Packer,
    Progress,
    Recipe,
    flat_table,
    of_types,
    packed_rows,
    read_rows,
    shared_out,
)
from penstock.spark.unpacking import Unpacked, unpack


class NamePacker:
    """Packs the events that one task reads by their names, a share of them for each of the recipe's buckets.

    >>> from penstock import parse
    >>> from penstock.spark.split import split
    >>> packer = NamePacker(Recipe(split([parse("[A] ; [B]")]), 4))
    >>> packer.pack(pa.table({"type": ["A", "B"], "id": ["1", "1"], "time": [1, 2]})).num_rows
    1
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.progress = Progress()

    def pack(self, data: pa.Table | pa.RecordBatch) -> pa.RecordBatch:
        """The blobs of a batch of rows; a row that is no event is a `penstock.DataError`."""
        return self.pack_events(read_rows(data, self.recipe))

    def pack_events(self, table: EventTable) -> pa.RecordBatch:
        """The same for events that were read already."""
        self.progress.take(table)
        flat = flat_table(of_types(table, self.recipe.types), self.recipe.attributes)
        size = self.recipe.buckets
        shares = (names_of(flat) >> HIGH) % np.uint64(size)
        return packed_rows(EVENTS, shared_out(narrowed(flat), np.arange(len(flat)), shares.astype(np.int64), size))

    def finish(self) -> pa.RecordBatch:
        """The progress of this task, for one of those who settle: it is told to all later."""
        return packed_rows(PROGRESS, [(0, self.progress.to_table())])


def settled(recipe: Recipe, batches: Iterable[pa.RecordBatch], *, tells_progress: bool) -> Iterator[pa.RecordBatch]:
    """The events of some names, each once, packed for the buckets of the patterns; and how far the input goes."""
    unpacked = Unpacked()
    for batch in batches:
        unpacked.take(batch)
    table, repeated = without_repeats(unpack(unpacked.blobs))
    packer = Packer(recipe, tells_progress=False)
    for start in range(0, len(table), ROWS):
        yield packer.pack_events(table.slice(start, ROWS))
    if tells_progress or repeated:
        packer.progress = Progress(unpacked.progress.sources, unpacked.progress.types, repeated)
        yield packer.finish()
