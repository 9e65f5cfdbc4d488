"""What Spark's workers do: read and pack, then unpack, order and detect. Nothing here knows Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from penstock.detection.composites import Composites
from penstock.detection.course import Course
from penstock.detection.local import NEVER
from penstock.detection.plan import Plan
from penstock.events.instants import of_column
from penstock.events.table import EventTable, make_table
from penstock.spark.coding import Coding
from penstock.spark.keys import NOWHERE
from penstock.spark.names import NamingPacker, apart
from penstock.spark.packing import PROGRESS, ROWS, Packer, Recipe, packed_rows
from penstock.spark.schema import TAGS, fitted
from penstock.spark.settling import NamePacker, settled
from penstock.spark.split import Group
from penstock.spark.strangers import Own
from penstock.spark.unpacking import Unpacked

COMPOSITES, INCOMPLETE = "composites", "incomplete"
"""What a blob of results holds."""
DROPPED = "dropped"
"""Where the table of such a blob says how many runs were dropped."""
RESULT_ROWS = 1 << 14
"""Composites of a batch of results, which are nested and take much more room than events."""


@dataclass(frozen=True)
class Work:
    """What is to be found, and how events find their way to where it is.

    Attributes:
        recipe: How events are packed.
        plans: What is detected, for each pattern.
        attributes: All attributes of the events.
        fixed: Whether these are the columns of a table, so that no event has others.
        schema: The columns of results.
        until: When the input ends for timers, if later than its last event.
        tells_progress: Whether those who pack say how far they came.
        settles: Whether events may be repeated, so that it must be asked where those of one name are.
        counts: Whether it is to be said how many are repeated, which only those know who settle.
    """

    recipe: Recipe
    plans: tuple[Plan, ...]
    attributes: pa.Schema
    fixed: bool
    schema: pa.Schema
    until: int | None = None
    tells_progress: bool = True
    settles: bool = True
    counts: bool = False

    @property
    def blank(self) -> EventTable:
        """A table without events that has all their attributes."""
        columns = {field.name: pa.array([], field.type) for field in self.attributes}
        return make_table({"type": [], "lo": [], "hi": []}, columns, self.fixed)

    def without_progress(self) -> Work:
        """The same work, if what is packed does not show how far the input goes."""
        return replace(self, tells_progress=False)

    def reading(self, names: Sequence[str], leaves_behind: bool, coding: Coding | None = None) -> Work:
        """The same work over tables of which columns with these names are read, which are all of them, or not."""
        recipe = replace(self.recipe, names=tuple(names), leaves_behind=leaves_behind, coding=coding)
        return replace(self, recipe=recipe)

    def counting(self) -> Work:
        """The same work, if it is to be said how many events are repeated."""
        return replace(self, counts=True)

    def ending(self, until: int | None) -> Work:
        """The same work over input that ends then, in microseconds, if that is later than its last event."""
        return replace(self, until=until)

    def packer(self) -> Packer:
        """Packs the events of one task for their buckets; if they may be repeated, their names go beside them."""
        kind = NamingPacker if self.settles else Packer
        return kind(self.recipe, tells_progress=self.tells_progress)

    def pack(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events of one task, packed for their buckets."""
        return self._packed(self.packer(), batches)

    def pack_by_name(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events of one task, packed so that those of one name meet."""
        return self._packed(NamePacker(self.recipe), batches)

    def _packed(self, packer: Packer | NamePacker, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in gathered(batches, ROWS):
            yield packer.pack(self.recipe.named(table))
        if self.tells_progress:
            yield packer.finish()

    def compare(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row if events of one name, of those that meet here, may be in different buckets, or must be counted."""
        return apart(self.recipe, batches, counts=self.counts)

    def settle(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events of some names, each once, packed for where they are detected."""
        return settled(self.recipe, batches, tells_progress=self.tells_progress)

    def detect(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What is found in the events of one bucket, as rows of the schema."""
        istagged = TAGS[0].name in self.schema.names
        for found in self.found(batches):
            table = found.table
            if istagged:
                table = tagged(table, "composite")
            yield from fitted(table, self.schema).to_batches(RESULT_ROWS)
            if found.incomplete is not None:
                yield from fitted(tagged(found.incomplete.table, "incomplete"), self.schema).to_batches(RESULT_ROWS)

    def tell(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same as blobs of tables as they are in one process, and what was left out and dropped."""
        unpacked = self._taken(batches)
        for found in self._found(unpacked):
            told = found.table.replace_schema_metadata({DROPPED: str(found.dropped)})
            yield packed_rows(COMPOSITES, [(unpacked.bucket, told)])
            if found.incomplete is not None:
                yield packed_rows(INCOMPLETE, [(unpacked.bucket, found.incomplete.table)])
        if unpacked.bucket == 0:
            yield packed_rows(PROGRESS, [(0, unpacked.progress.to_table())])

    def found(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Composites]:
        """What is found in the events of one bucket, for each pattern that is detected there."""
        return self._found(self._taken(batches))

    @staticmethod
    def _taken(batches: Iterable[pa.RecordBatch]) -> Unpacked:
        unpacked = Unpacked()
        for batch in batches:
            unpacked.take(batch)
        return unpacked

    def _found(self, unpacked: Unpacked) -> Iterator[Composites]:
        if unpacked.bucket == NOWHERE:
            return
        events, _ = unpacked.events()
        here = int(events.numbers("hi").max(initial=NEVER))
        ends = (unpacked.progress.last, self._stamp(unpacked.latest), self.until, here)
        last = max(end for end in ends if end is not None)
        for course in self._courses(unpacked.bucket):
            course.feed(events, last + 1)
            yield course.finish(last)

    def _stamp(self, latest: pa.Array | None) -> int | None:
        """The stamp of the latest time at which an event ends, which is given as it stands where events come from."""
        columns = self.recipe.columns
        stamps = None if latest is None else of_column(latest, columns.time_unit, columns.zone)
        return None if stamps is None or stamps.bad else int(stamps.up[0]) + columns.clock_error

    def _courses(self, bucket: int) -> Iterator[Course]:
        """The detections of a bucket."""
        group, first, size = self.place(bucket)
        for number, pattern in group.members:
            whole = self.plans[number]
            plan = Plan(pattern, whole.choice, whole.carry, whole.only, whole.pattern)
            keys = {name: key for (member, name), key in group.keys.items() if member == number}
            own = Own(keys, bucket - first, size) if group.is_split and group.meets_strangers else None
            yield Course(plan, self.blank, own)

    def place(self, bucket: int) -> tuple[Group, int, int]:
        """The group that a bucket is of, the first bucket of that, and how many it has."""
        split = self.recipe.split
        for group, (first, size) in zip(split.groups, split.places(self.recipe.buckets), strict=True):
            if first <= bucket < first + size:
                return group, first, size
        raise ValueError(f"there is no bucket {bucket}")


def gathered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Batches put together to tables of at least so many rows, but for the last one.

    >>> [len(table) for table in gathered([pa.record_batch({"a": [1, 2]})] * 3, 3)]
    [4, 2]
    """
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        if count >= rows:
            yield pa.Table.from_batches(waiting)
            waiting, count = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def tagged(table: pa.Table, kind: str) -> pa.Table:
    """The table with a column that says what its rows are; attributes have the names that they have beside it."""
    taken = {tag.name for tag in TAGS} if kind == "composite" else {TAGS[0].name}
    names = [f"{name}_" if name.rstrip("_") in taken else name for name in table.column_names]
    return table.rename_columns(names).append_column(TAGS[0].name, pa.repeat(kind, len(table)))
