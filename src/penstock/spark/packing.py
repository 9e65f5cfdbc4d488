"""Many events as few blobs: what a bucket needs of a batch is one Arrow IPC stream.

Rows are what costs on Spark, so events cross it packed. A task packs what it reads, batch by batch: for each bucket
that a batch has events for, one blob. When it is done it packs how far it came, for every bucket: the last stamp of
each source, so that timers fire where no event arrives; events that no pattern can meet count here too, and nowhere
else. `penstock.spark.unpacking` is the way back. Nothing here knows Spark.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.automaton.compile import compile_pattern
from penstock.automaton.program import Program
from penstock.engine.selection import choose
from penstock.engine.sharing import counts_of, in_shares
from penstock.engine.symbols import Membership, Piece, rows_met
from penstock.errors import DataError
from penstock.events.convert import said
from penstock.events.fields import shown
from penstock.events.identity import unnumbered
from penstock.events.mapping import Columns
from penstock.events.origin import Origin
from penstock.events.parquetpieces import Piece as FilePiece
from penstock.events.table import EventTable
from penstock.spark.coding import Coding
from penstock.spark.keys import NOWHERE, buckets_of
from penstock.spark.narrowing import may_narrow, narrowed
from penstock.spark.split import ALL, Group, Split, Target

EVENTS, PROGRESS = "events", "progress"
"""What a blob holds."""
PACKED = pa.schema([("bucket", pa.int32()), ("kind", pa.string()), ("blob", pa.binary())])
"""The rows that cross Spark."""
ENDS = "ends"
"""The column beside them that says when the last of all events ends, where Spark's own side finds that."""
ROWS = 1 << 18
"""Rows of a batch that is packed: enough for columns to pay, few enough for the memory that they take."""
MADE = "made"
"""The column of blobs that says which ids are hashes of what events say."""
ATTRIBUTE = "."
"""What the names of attributes' columns begin with."""
_FIELDS = ("type", "source", "id", "seq", "lo", "hi", "parts")
"""What is needed of an event's fields once its id is known."""
_BLOB = 1 << 17
"""Bytes of a blob, about: `penstock.spark.session` limits batches of blobs by their number alone."""
Ints = npt.NDArray[np.int64]
Route = tuple[Ints, Ints]
"""Rows with their buckets; a row is there once for each bucket that needs it."""
Blob = tuple[str, int, pa.Table]
"""What a blob holds, for which bucket, and what."""


@dataclass(frozen=True)
class Recipe:
    """What those who pack must know.

    Attributes:
        split: How the patterns are shared out.
        buckets: How many buckets a group has that is split.
        columns: How events are read from tables.
        types: The types of events that can be met; None for all.
        attributes: The attributes of events that are read or carried; None for all.
        zone: The zone of the patterns.
        leaves_behind: Whether not all columns are read, so that ids cannot be made.
        names: The names of the columns that are read, which may have others on Spark's side; None if they have not.
        coding: Which types stand by number in a column before all others; None if there is no such column.
    """

    split: Split
    buckets: int
    columns: Columns = field(default_factory=Columns)
    types: frozenset[str] | None = None
    attributes: frozenset[str] | None = None
    zone: str = "UTC"
    leaves_behind: bool = False
    names: tuple[str, ...] | None = None
    coding: Coding | None = None

    def named(self, rows: pa.Table) -> pa.Table:
        """Rows as they come from Spark, with the names of their columns, and with their types."""
        if self.names is None:
            return rows
        if self.coding is None:
            return rows.rename_columns(list(self.names))
        return self.coding.decoded(rows, self.names)

    @property
    def total(self) -> int:
        """The buckets of all groups together."""
        return sum(size for _, size in self.split.places(self.buckets))


class Packer:
    """Packs the events that one task reads.

    >>> from penstock import parse
    >>> from penstock.spark.split import split
    >>> pattern = parse("[Open(door = $d)] ; [Close(door = $d)]")
    >>> packer = Packer(Recipe(split([pattern]), 4, types=frozenset({"Open", "Close"})))
    >>> table = pa.table({"type": ["Open", "Close", "Other"], "time": [1, 2, 9], "door": ["x", "x", "x"]})
    >>> packed = packer.pack(table)
    >>> packed["bucket"].to_pylist(), packed["kind"].to_pylist()
    ([0], ['events'])
    >>> packer.finish().num_rows, packer.progress.last
    (4, 9)
    """

    def __init__(self, recipe: Recipe, *, tells_progress: bool = True) -> None:
        self.recipe = recipe
        self.progress = Progress()
        self._tells_progress = tells_progress
        places = recipe.split.places(recipe.buckets)
        self._routers = [
            _Router(group, first, size, recipe.zone)
            for group, (first, size) in zip(recipe.split.groups, places, strict=True)
        ]

    def pack(self, data: pa.Table | pa.RecordBatch) -> pa.RecordBatch:
        """The blobs of a batch of rows; a row that is no event is a `penstock.DataError`."""
        return self.pack_events(read_rows(data, self.recipe))

    def pack_events(self, table: EventTable) -> pa.RecordBatch:
        """The same for events that were read already."""
        if self._tells_progress:
            self.progress.take(table)
        events = of_types(table, self.recipe.types)
        flat = flat_table(events, self.recipe.attributes)
        routes = [router.routed(events) for router in self._routers]
        pairs = zip(self._routers, routes, strict=True)
        moved = narrowed(flat)
        blobs = ((EVENTS, *one) for router, route in pairs for one in router.packed(moved, route))
        return packed_kinds(chain(blobs, self._beside(flat, routes)))

    def _beside(self, flat: pa.Table, routes: Sequence[Route]) -> Iterator[Blob]:
        """What goes beside the events of a batch."""
        yield from ()

    def first_buckets(self, table: EventTable) -> Ints:
        """For each event, the first of the buckets that need it; `penstock.spark.keys.NOWHERE` if none does."""
        first = np.full(len(table), self.recipe.total)
        for router in self._routers:
            np.minimum.at(first, *router.routed(table))
        return np.where(first < self.recipe.total, first, NOWHERE)

    def finish(self) -> pa.RecordBatch:
        """The progress of this task, for every bucket."""
        told = self.progress.to_table()
        return packed_rows(PROGRESS, [(bucket, told) for bucket in range(self.recipe.total)])


@dataclass(frozen=True)
class Rows:
    """Where rows of a batch come from: they have no numbers that anybody knows, so an error shows what they say."""

    data: pa.Table | pa.RecordBatch

    def where(self, row: int) -> str:
        """The row in words."""
        values = {name: said(self.data[name][row]) for name in self.data.column_names}
        return f"row {shown({name: value for name, value in values.items() if value is not None})}"

    def located(self, row: int, error: DataError) -> DataError:
        """The error with the row before its message."""
        return DataError(f"{self.where(row)}: {error.message}", hint=error.hint)


def read_rows(data: pa.Table | pa.RecordBatch, recipe: Recipe, origin: Origin | None = None) -> EventTable:
    """The events of a batch of rows; ``origin`` says where they come from, if that is known.

    >>> from penstock.spark.split import Split
    >>> read_rows(pa.table({"type": ["Open"], "time": pa.array([None], pa.int64())}), Recipe(Split(()), 1))
    Traceback (most recent call last):
    penstock.errors.DataError: row {'type': 'Open'}: field 'time': is missing
    hint: every event has a time
    """
    return read_piece(FilePiece(data), recipe, origin or Rows(data))


def read_piece(piece: FilePiece, recipe: Recipe, origin: Origin) -> EventTable:
    """The same for a piece of a file."""
    table = piece.events(recipe.columns, origin)
    check_ids(table, recipe, origin)
    return table


def check_ids(table: EventTable, recipe: Recipe, origin: Origin) -> None:
    """Refuses events without an id where it cannot be made."""
    if recipe.leaves_behind and isinstance(table.given("id"), pa.Array) and table.field("id").null_count:
        row = pc.index(table.field("id").is_null(), True).as_py()
        raise DataError(
            f"{origin.where(row)}: it has no id, and not all of its columns are read",
            hint="an id is made of all that an event says: carry all attributes, or give all events ids",
        )


def packed_rows(kind: str, blobs: Iterable[tuple[int, pa.Table]]) -> pa.RecordBatch:
    """Tables as blobs of one kind, a row each, with their buckets; they are written one after the other, once.

    >>> packed_rows(EVENTS, [(3, pa.table({"hi": [5]}))])["bucket"].to_pylist()
    [3]
    """
    return packed_kinds((kind, bucket, table) for bucket, table in blobs)


def packed_kinds(blobs: Iterable[Blob]) -> pa.RecordBatch:
    """The same for blobs of several kinds."""
    kinds, buckets, ends, sink = [], [], [0], pa.BufferOutputStream()
    for kind, bucket, table in blobs:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        kinds.append(kind)
        buckets.append(bucket)
        ends.append(sink.tell())
    offsets = pa.array(ends, pa.int32()).buffers()[1]
    bodies = pa.Array.from_buffers(pa.binary(), len(buckets), [None, offsets, sink.getvalue()])
    return pa.record_batch([pa.array(buckets, pa.int32()), pa.array(kinds, pa.string()), bodies], schema=PACKED)


@dataclass
class Progress:
    """How far a task came: the last stamp of each source and how many events it had, and how many of each type.

    ``repeated`` are those that were left out, since others had the same source and id.

    >>> one, two = Progress({"s": (5, 2)}, Counter(A=2)), Progress({"s": (3, 1), "t": (9, 1)}, Counter(B=2))
    >>> both = Progress.from_table(one.joined(two).to_table())
    >>> both.sources, both.last, both.types["B"]
    ({'s': (5, 3), 't': (9, 1)}, 9, 2)
    """

    sources: dict[str, tuple[int, int]] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    repeated: int = 0

    @property
    def last(self) -> int | None:
        """The largest ``hi`` of all events; None if there were none."""
        return max((last for last, _ in self.sources.values()), default=None)

    def take(self, table: EventTable) -> None:
        """More events."""
        if not len(table):
            return
        types, sources = table.given("type"), table.field("source")
        counts = counts_of(np.asarray(types.indices), len(types.dictionary))
        met = zip(types.dictionary.to_pylist(), counts.tolist(), strict=True)
        self.types.update({name: number for name, number in met if number})
        hi = table.numbers("hi")
        if len(sources.dictionary) == 1:
            self._heard(sources.dictionary[0].as_py(), int(hi.max()), len(hi))
            return
        told = (
            pa.table({"source": sources, "hi": hi})
            .group_by("source", use_threads=False)
            .aggregate([("hi", "max"), ("hi", "count")])
        )
        for name, last, number in zip(*(column.to_pylist() for column in told.columns), strict=True):
            self._heard(name, last, number)

    def _heard(self, source: str, last: int, number: int) -> None:
        before, known = self.sources.get(source, (last, 0))
        self.sources[source] = (max(before, last), known + number)

    def joined(self, other: Progress) -> Progress:
        """The progress of both together."""
        both = Progress(dict(self.sources), self.types + other.types, self.repeated + other.repeated)
        for source, (last, number) in other.sources.items():
            both._heard(source, last, number)
        return both

    def to_table(self) -> pa.Table:
        """As the table of a blob."""
        names, told = list(self.sources), list(self.sources.values())
        columns = {
            "source": pa.array(names, pa.string()),
            "hi": pa.array([last for last, _ in told], pa.int64()),
            "events": pa.array([number for _, number in told], pa.int64()),
        }
        return pa.table(columns).replace_schema_metadata(
            {"types": json.dumps(self.types), "repeated": str(self.repeated)}
        )

    @classmethod
    def from_table(cls, table: pa.Table) -> Progress:
        """From such a table."""
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        types = Counter[str](json.loads(table.schema.metadata[b"types"]))
        repeated = int(table.schema.metadata[b"repeated"])
        return cls({source: (last, number) for source, last, number in rows}, types, repeated)


def of_types(table: EventTable, types: frozenset[str] | None) -> EventTable:
    """The events of some types; all of them for None."""
    if types is None:
        return table
    column = table.given("type")
    wanted = np.asarray(pc.is_in(column.dictionary, pa.array(sorted(types), pa.string())))
    if wanted.all():
        return table
    rows = choose(np.asarray(column.indices), wanted)
    return table if len(rows) == len(table) else table.take(rows)


def flat_table(table: EventTable, attributes: frozenset[str] | None) -> pa.Table:
    """What is needed of events as the columns of blobs; fields that say nothing are left out.

    Each event has an id here. Those that are made, of all that an event says, are marked, since equal ones can be
    numbered only where all of them meet.
    """
    ids = table.field("id")
    columns: dict[str, pa.Array] = {name: table.field(name) for name in _FIELDS}
    if ids.null_count:
        absent = ids.is_null()
        made = unnumbered(table if ids.null_count == len(ids) else table.take(np.flatnonzero(np.asarray(absent))))
        columns["id"] = made if ids.null_count == len(ids) else pc.replace_with_mask(ids, absent, made)
        columns[MADE] = absent
    for name in ("seq", "parts"):
        if columns[name].null_count == len(table):
            del columns[name]
    if columns["source"].dictionary.to_pylist() == [""]:
        del columns["source"]
    if np.array_equal(np.asarray(columns["lo"]), np.asarray(columns["hi"])):
        del columns["lo"]
    for name in table.attributes.column_names:
        if attributes is None or name in attributes:
            columns[f"{ATTRIBUTE}{name}"] = table.attribute(name)
    return pa.table(columns)


class _Router:
    """Finds out which buckets of a group need which events."""

    def __init__(self, group: Group, first: int, size: int, zone: str) -> None:
        self._group, self._first, self._size = group, first, size
        self._members = [
            Membership(program.sets, frozenset(one.name for one in pattern.definitions), zone)
            for _, pattern in group.members
            for whole in compile_pattern(pattern)
            for program in with_sides(whole)
        ]

    def packed(self, flat: pa.Table, route: Route) -> Iterator[tuple[int, pa.Table]]:
        """The blobs of a batch, each with its bucket; ``flat`` are the columns of the blobs."""
        rows, buckets = route
        own = buckets - self._first if self._first else buckets
        for bucket, table in shared_out(flat, rows, own, self._size):
            yield self._first + bucket, table

    def routed(self, events: EventTable) -> Route:
        """The rows that are needed somewhere, with their buckets."""
        met, rows = rows_met(self._members, Piece(events, 0))
        if not len(rows) or self._size == 1:
            return rows, np.full(len(rows), self._first)
        types = events.given("type")
        by_target = self._by_target(types.dictionary.to_pylist())
        codes = np.asarray(types.indices)
        pieces = [  # mostly, all types that are met are for one target
            self._pairs(events, target, rows if (wanted | ~met).all() else rows[wanted[codes[rows]]])
            for target, wanted in by_target.items()
        ]
        if len(pieces) == 1:
            chosen, buckets = pieces[0]
        else:
            once = np.unique(np.concatenate([some * self._size + own for some, own in pieces]))
            chosen, buckets = once // self._size, once % self._size
        return chosen, buckets + self._first if self._first else buckets

    def _by_target(self, names: Sequence[str]) -> dict[Target, npt.NDArray[np.bool_]]:
        """For each target, which of these types it is for."""
        found: dict[Target, npt.NDArray[np.bool_]] = {}
        for code, name in enumerate(names):
            for target in self._group.targets(name):
                found.setdefault(target, np.zeros(len(names), bool))[code] = True
        return found

    def _pairs(self, events: EventTable, target: Target, rows: Ints) -> Route:
        if target == ALL:
            return np.repeat(rows, self._size), np.tile(np.arange(self._size), len(rows))
        buckets = buckets_of(events, target, self._size, None if len(rows) == len(events) else rows)
        somewhere = buckets != NOWHERE
        return (rows, buckets) if somewhere.all() else (rows[somewhere], buckets[somewhere])


def shared_out(flat: pa.Table, rows: Ints, buckets: Ints, size: int) -> Iterator[tuple[int, pa.Table]]:
    """Rows by their buckets, of which there are so many; those of a bucket stay in their order, and are narrowed.

    >>> flat = pa.table({"v": [0.5, 0.6, 0.7]})
    >>> [(bucket, some["v"].to_pylist()) for bucket, some in shared_out(flat, np.arange(3), np.array([2, 0, 2]), 3)]
    [(0, [0.6]), (2, [0.5, 0.7])]
    """
    shared, bounds = in_shares(rows, buckets, size)
    whole, rate = flat.take(pa.array(shared)), flat.nbytes / max(1, len(flat))
    for bucket, (start, end) in enumerate(pairwise(bounds.tolist())):
        yield from ((bucket, piece) for piece in _pieces(whole.slice(start, end - start), rate))


def with_sides(program: Program) -> Iterator[Program]:
    """A program and all sides in it."""
    yield program
    for sides in program.sides:
        for side in sides:
            yield from with_sides(side)


def _pieces(table: pa.Table, rate: float) -> Iterator[pa.Table]:
    """The table in pieces of the size of a blob, if its rows have so many bytes each.

    What is far apart in all of it may be close together in each piece, and so narrower there.
    """
    rows = max(1, int(_BLOB / max(rate, 1)))
    is_wide = may_narrow(table.schema)
    for start in range(0, len(table), rows):
        piece = _compact(table.slice(start, rows))
        yield narrowed(piece) if is_wide else piece


def _compact(table: pa.Table) -> pa.Table:
    """The table without what of its dictionaries is not used, where that is much."""
    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type) and len(column.chunk(0).dictionary) > len(column):
            fresh = column.chunk(0).dictionary_decode().dictionary_encode()
            table = table.set_column(place, table.column_names[place], fresh)
    return table
