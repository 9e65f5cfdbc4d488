"""Files of events that are about in order, read piece by piece, so that the memory they take does not grow with them.

Nothing is assumed: while pieces are read it is checked that whole reading (`penstock.events.files.read_events`, then
`penstock.events.order.ordered`) would give the same events in the same order. Where it would not, or may not, or where
there is an error to be reported, reading in batches ends and says so, and the caller reads the files whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from penstock.errors import DataError
from penstock.events.csvpieces import CsvPieces, UnusualError
from penstock.events.files import event_files
from penstock.events.identity import with_ids
from penstock.events.mapping import Columns
from penstock.events.order import weakly_sorted
from penstock.events.parquetpieces import PageReader, ParquetPieces
from penstock.events.repeats import Names
from penstock.events.table import EventTable, concat

ROWS = 1 << 18
"""Rows that are read together: enough for columns to pay, few enough for the memory that they take."""
AHEAD = 2
"""So many pieces are asked for before they are needed."""
T = TypeVar("T")
Relevant = Callable[[EventTable], EventTable]
"""The events of some types."""


def read_batches(
    paths: Sequence[str | PathLike[str]],
    columns: Columns | None = None,
    *,
    relevant: Relevant | None = None,
    wanted_attributes: frozenset[str] | None = None,
    rows: int = ROWS,
    reader: PageReader | None = None,
) -> EventBatches:
    """Read the events of files and folders in batches, each of them a table, if they can be read so.

    This can be done if the files are sorted by time; events that stand near their place or end at the same instant may
    stand anyhow.

    Args:
        paths: Files and folders, as for `penstock.events.files.read_events`.
        columns: Which columns give which fields.
        relevant: Takes out of a table the events that the batches have, by their types; None for all.
        wanted_attributes: The attributes that their events have; None for all.
        rows: About how many rows are read together.
        reader: Reads pages of Parquet files, of ids those of relevant events alone; None if Arrow reads all.

    >>> batches = read_batches([])
    >>> [len(table) for table in batches], batches.holds
    ([], True)
    """
    return EventBatches(event_files(paths), columns or Columns(), relevant or _all, wanted_attributes, rows, reader)


class EventBatches:
    """The batches of some files, to be iterated over once: all relevant events in the weak order.

    Only when all have been taken does ``holds`` say whether they are what whole reading gives, without repeated events
    and without errors. Until then it says whether this may still be so; when it is not, the iteration ends early. What
    was made of the batches is worth nothing then, and nothing was reported: read the files whole.
    """

    def __init__(
        self,
        files: Sequence[Path],
        columns: Columns,
        relevant: Relevant,
        attributes: frozenset[str] | None,
        rows: int,
        reader: PageReader | None = None,
    ) -> None:
        self._relevant, self._attributes = relevant, attributes
        self._names = Names()
        self.holds = True
        self.rows = 0
        """How many events have been read, of all types."""
        self.last: int | None = None
        """The largest ``hi`` of these."""
        self._pieces: list[ParquetPieces | CsvPieces] = []
        try:
            self._pieces = [_pieces(path, columns, attributes, rows, reader) for path in files]
            self.holds = _are_alike(self._pieces)
        except (DataError, UnusualError, OSError, pa.ArrowInvalid):
            self.holds = False

    @property
    def blank(self) -> EventTable | None:
        """A table without events, with all attributes that the files have, wanted or not; None if there is no file."""
        return self._pieces[0].blank if self._pieces else None

    def __iter__(self) -> Iterator[EventTable]:
        waiting: EventTable | None = None  # until it is known that nothing that follows belongs before its end
        for table in self._tables():
            if waiting is not None:
                waiting, table = self._divided(waiting, table)
                if not self.holds:
                    return
                if len(waiting):
                    yield waiting
            waiting = table
        self.holds = self.holds and self._names.are_different()
        if waiting is not None and self.holds:
            yield waiting

    def _tables(self) -> Iterator[EventTable]:
        """The events of each piece in the weak order, as long as nothing is wrong."""
        for pieces in self._pieces if self.holds else ():
            try:
                for piece in _ahead(pieces.parsed()):
                    kept = self._kept(pieces.events(piece), pieces.has_ids)
                    if not self.holds:
                        return
                    if len(kept):
                        yield weakly_sorted(kept)
            except (DataError, UnusualError, OSError, pa.ArrowInvalid):
                self.holds = False
                return

    def _kept(self, table: EventTable, has_ids: bool) -> EventTable:
        """What is wanted of a piece, when everything in it has been looked at."""
        if len(table):
            last = int(table.numbers("hi").max())
            self.last = last if self.last is None else max(last, self.last)
        self.rows += len(table)
        if has_ids:
            table = self._relevant(_with_attributes(table, self._attributes))
            self._take_names(table)
            return table
        # an id that is made of what an event says is not that of an event of another type
        table = with_ids(self._relevant(table))
        self._take_names(table)
        return _with_attributes(table, self._attributes)

    def _take_names(self, table: EventTable) -> None:
        ids = table.field("id")
        if ids.null_count:
            self.holds = False
        else:
            self._names.take(table.field("source"), ids)
            self.holds = self.holds and self._names.is_known

    def _divided(self, first: EventTable, second: EventTable) -> tuple[EventTable, EventTable]:
        """The two in the weak order, so that what ends at one instant is in one of them."""
        ends, begin = first.numbers("hi"), int(second.numbers("hi")[0])
        self.holds = bool(ends[-1] <= begin)
        if not self.holds or ends[-1] < begin:
            return first, second
        cut = int(np.searchsorted(ends, begin))
        return first.slice(0, cut), weakly_sorted(concat([first.slice(cut), second]))


def _pieces(
    path: Path, columns: Columns, attributes: frozenset[str] | None, rows: int, reader: PageReader | None
) -> ParquetPieces | CsvPieces:
    if path.suffix.lower() == ".parquet":
        return ParquetPieces(path, columns, attributes, rows, reader)
    if path.suffix.lower() == ".csv":
        return CsvPieces(path, columns, attributes, rows)
    raise UnusualError(f"{path} is not read in pieces")


def _are_alike(pieces: Sequence[ParquetPieces | CsvPieces]) -> bool:
    """Whether the attributes of all files are the same, none of them has composites, and all or none have ids."""
    kinds = [(each.blank.attributes.schema, each.has_ids) for each in pieces]
    return all(kind == kinds[0] for kind in kinds) and not any(each.has_parts for each in pieces)


def _all(table: EventTable) -> EventTable:
    """All events matter."""
    return table


def _with_attributes(table: EventTable, names: frozenset[str] | None) -> EventTable:
    if names is None:
        return table
    chosen = [name for name in table.attributes.column_names if name in names]
    return table.with_attributes(table.attributes.select(chosen))


def _ahead(pieces: Iterable[T]) -> Iterator[T]:
    """The same, some being read while one is worked on.

    One more waits than is read, so that reading goes on however long somebody works.
    """
    source = iter(pieces)
    with ThreadPoolExecutor(1) as reader:
        coming = deque(reader.submit(next, source, None) for _ in range(AHEAD))
        while (piece := coming.popleft().result()) is not None:
            coming.append(reader.submit(next, source, None))
            yield piece
