"""What Spark's workers do for a stream: pack each micro-batch, and let each bucket go on from where it stood.

Nothing here knows Spark. A bucket is a detector for each pattern that it has a part of, with its ordering stage; its
state is a store of pages, and a micro-batch reads and writes only those that it concerns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from penstock.detection.composites import Composites
from penstock.detection.detector import Detector
from penstock.detection.numbering import Names
from penstock.detection.plan import Plan
from penstock.engine.found import Found
from penstock.errors import DataError, StateError
from penstock.events.arrow import from_arrow
from penstock.events.saved import pack, unpack
from penstock.events.table import EventTable
from penstock.ordering.policies import BestEffort, Policy
from penstock.ordering.stage import MOST_HELD, Late, Ordering
from penstock.spark.beside import COMPOSITE, INCOMPLETE, changed_rows, late_rows, skipped_rows, status_rows
from penstock.spark.groups import CALL, KEY, KEYED, check_groups, let_go
from penstock.spark.packing import EVENTS, ROWS, Packer, Recipe, Rows, check_ids, packed_rows
from penstock.spark.schema import TAGS, fitted
from penstock.spark.split import Group
from penstock.spark.state import Prefixed
from penstock.spark.strangers import Own
from penstock.spark.unpacking import unpack as unpack_events
from penstock.spark.work import RESULT_ROWS, Work, gathered, tagged

HEARTBEAT = "penstock.heartbeat"
"""The type of events that say only how far their source has come; as in `penstock detect --follow`."""
FINISH = "penstock.finish"
"""The type of events that say that the input is over, and when it ends."""
SHOWN, FINISHED, SKIPPED = "shown", "finished", "skipped"
"""Blobs that say how far sources are, that the input is over, and of records that are no events."""
FOUND = pa.schema([("blob", pa.binary())])
"""The rows that a bucket gives."""
REMEMBERED = 10_000
"""Where events do not wait, a bucket remembers so many ids to know those that come again: all are written each time."""
_BUCKET = "bucket"
EARLIEST = -(2**63)


@dataclass(frozen=True)
class Flow:
    """Detection over a stream, as each worker must know it.

    Attributes:
        work: What is detected, and how events find their way.
        policy: When an event may be consumed.
        sources: Those that are waited for from the beginning.
        held: How many events a bucket may hold for ordering.
        late: Whether late events are told of.
        status: Whether each bucket says after each micro-batch how it stands.
        skips: Whether records that are no events are left out and told of, instead of being an error.
        restarts: Whether definitions that were changed start anew; otherwise a change is refused.
    """

    work: Work
    policy: Policy
    sources: tuple[str, ...] = ()
    held: int = MOST_HELD
    late: bool = False
    status: bool = False
    skips: bool = False
    restarts: bool = False

    def keys(self) -> list[str]:
        """The names of all buckets, by number: those of a group have the name of its first definition."""
        recipe = self.work.recipe
        places = recipe.split.places(recipe.buckets)
        pairs = zip(recipe.split.groups, places, strict=True)
        return [f"{group.names[0]}/{place}" for group, (_, size) in pairs for place in range(size)]

    def pack(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events of one task of a micro-batch, packed."""
        packer, keys = FlowPacker(self.work.recipe, self.skips), pa.array(self.keys(), pa.string())
        for table in gathered(batches, ROWS):
            yield _keyed(packer.pack(self.work.recipe.named(table)), keys)
        yield _keyed(packer.finish(), keys)

    def pack_batch(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same, with a call for what says which groups there are."""
        yield CALL
        yield from self.pack(batches)

    def check(self, store: MutableMapping[str, bytes]) -> Iterator[pa.Table]:
        """Refuses a checkpoint with groups that are not those of this flow, or tells that they are gone."""
        groups = [group.names for group in self.work.recipe.split.groups]
        gone = check_groups(groups, store, restarts=self.restarts)
        if gone and self.status:
            yield from self._told(changed_rows(KEY, gone))

    def advance(
        self, bucket: int, rows: Iterable[tuple[str, bytes]], arrival: int, store: MutableMapping[str, bytes]
    ) -> Iterator[pa.Table]:
        """What a bucket finds with the blobs of one micro-batch, in tables of the work's schema.

        ``rows`` are kinds and blobs, ``arrival`` is when the micro-batch began, ``store`` has the bucket's pages.
        """
        blobs = _Blobs.of(rows)
        group, first, size = self.work.place(bucket)
        names, tells = self._opened(group, size, store), _Telling(self.work.recipe, bucket)
        events = unpack_events(blobs.events, names) if blobs.events else self.work.blank.slice(0, 0)
        events = EventTable(events.fields, events.attributes)  # that all attributes are there was checked with the plan
        names.heard(int(events.numbers("hi").max(initial=EARLIEST)))
        progress: list[int] = []
        for number, pattern in group.members:
            whole = self.work.plans[number]
            keys = {name: key for (member, name), key in group.keys.items() if member == number}
            own = Own(keys, bucket - first, size) if group.is_split and group.meets_strangers else None
            plan = Plan(pattern, whole.choice, whole.carry, whole.only, whole.pattern)
            pages = Prefixed(store, f"{number}/")
            detector, changes = self._detector(plan, pages)
            detector.own, detector.tells = own, tells
            if changes and self.status:
                yield from self._told(changed_rows(self.keys()[bucket], changes))
            found = [detector.feed(events, arrival=arrival, heartbeats=blobs.shown)]
            if blobs.end is not None:
                found.append(detector.finish_at(blobs.end))
            detector.save(pages)
            status = detector.status()
            for one in found:
                yield from self._results(one)
            if self.late and not progress:
                yield from self._told(late_rows(found[0].late))
            if self.status:
                yield from self._told(status_rows(self.keys()[bucket], number, status, detector.counters))
            progress.append(status.progress)
        names.passed(min(progress))
        self._close(group, size, names, store)
        if self.skips and bucket == 0:
            yield from self._told(skipped_rows(blobs.skipped))

    def _opened(self, group: Group, size: int, store: MutableMapping[str, bytes]) -> Names:
        """How often records without an id were met; the bucket must be the one that was saved."""
        saved = store.get(_BUCKET)
        if saved is None:
            return Names()
        values = unpack("bucket", saved)
        if values["buckets"] != size:
            raise StateError(
                f"this checkpoint was written with {values['buckets']} buckets, and {size} are asked for",
                hint=f"give buckets={values['buckets']}: their number cannot change once a stream has begun",
            )
        for name, key in _keys(group).items():
            before = values["keys"].get(name, key)
            if before != key:
                raise StateError(
                    f"in this checkpoint `{name}` is shared out by {', '.join(before)}, and now by {', '.join(key)}",
                    hint="definitions that use or share events are shared out together: begin anew with another one",
                )
        if let_go((name for name in values["keys"] if name not in _keys(group)), restarts=self.restarts):
            self._forget(group, store)
        return Names(values["names"])

    @staticmethod
    def _forget(group: Group, store: MutableMapping[str, bytes]) -> None:
        """Lets the pages of patterns go that are no more in a group: one that comes again begins anew."""
        present = tuple(f"{number}/" for number, _ in group.members)
        for name in [name for name in store if "/" in name and not name.startswith(present)]:
            del store[name]

    def _close(self, group: Group, size: int, names: Names, store: MutableMapping[str, bytes]) -> None:
        values = {"buckets": size, "keys": _keys(group), "names": names.generations}
        store[_BUCKET] = pack("bucket", values)

    def _detector(self, plan: Plan, pages: MutableMapping[str, bytes]) -> tuple[BucketDetector, str]:
        """The detector of a part of a pattern, and what of the pattern started anew."""
        if "manifest" in pages:
            detector, changes = BucketDetector.resumed(plan, self.policy, pages, self.restarts)
            return detector, str(changes)
        held = min(self.held, REMEMBERED) if isinstance(self.policy, BestEffort) else self.held
        return BucketDetector.planned(plan, Ordering(self.policy, self.sources, held=held)), ""

    def _results(self, found: Composites) -> Iterator[pa.Table]:
        """Composites, and the runs that came to nothing if they are wanted."""
        is_tagged = TAGS[0].name in self.work.schema.names
        yield from self._told(tagged(found.table, COMPOSITE) if is_tagged else found.table)
        if found.incomplete is not None:
            yield from self._told(tagged(found.incomplete.table, INCOMPLETE))

    def _told(self, table: pa.Table) -> Iterator[pa.Table]:
        whole = fitted(table, self.work.schema)
        for start in range(0, len(whole), RESULT_ROWS):
            yield whole.slice(start, RESULT_ROWS)


def _keys(group: Group) -> dict[str, list[str]]:
    """The parameters that each definition is shared out by."""
    return {name: list(key) for (_, name), key in group.keys.items()}


@dataclass(frozen=True)
class _Telling:
    """Which late events a bucket tells of: of the buckets that an event goes to, the first one does."""

    recipe: Recipe
    bucket: int

    def __call__(self, late: Late) -> Late:
        if not len(late.table):
            return late
        rows = np.flatnonzero(Packer(self.recipe).first_buckets(late.table) == self.bucket)
        return Late(late.table.take(rows), [late.reason[row] for row in rows.tolist()], late.lateness[rows])


class BucketDetector(Detector):
    """A detector that tells only of instances which belong to its bucket, and of late events which no other tells."""

    own: Own | None = None
    tells: _Telling

    def _composites(self, found: list[Found], late: Late) -> Composites:
        return super()._composites([one if self.own is None else self.own(one) for one in found], self.tells(late))

    def finish_at(self, end: int) -> Composites:
        """The input is over, and ends then, or with its last event."""
        self._until = end
        return self.finish()


class FlowPacker(Packer):
    """Packs the events that one task of a micro-batch reads; heartbeats among them only say how far sources are."""

    def __init__(self, recipe: Recipe, skips: bool) -> None:
        super().__init__(recipe)
        self._beats: dict[str, int] = {}
        self._end: int | None = None
        self._errors: list[str] | None = [] if skips else None

    def pack(self, data: pa.Table | pa.RecordBatch) -> pa.RecordBatch:
        """The blobs of a batch of rows."""
        origin, on_bad = Rows(data), None if self._errors is None else self._skip
        table = self.without_beats(from_arrow(data, self.recipe.columns, on_bad=on_bad, origin=origin))
        check_ids(table, self.recipe, origin)
        return self.pack_events(table)

    def _skip(self, error: DataError) -> None:
        if self._errors is not None:
            self._errors.append(str(error))

    def without_beats(self, table: EventTable) -> EventTable:
        """The events that are neither heartbeats nor the end of the input; what those say is noted."""
        beats, table = _parted(table, HEARTBEAT)
        for source, at in zip(beats.field("source").to_pylist(), beats.field("hi").to_pylist(), strict=True):
            self._beats[source] = max(at, self._beats.get(source, at))
        ends, table = _parted(table, FINISH)
        for at in ends.field("hi").to_pylist():
            self._end = max(at, self._end or at)
        return table

    def finish(self) -> pa.RecordBatch:
        """How far the sources are that this task has read of, for every bucket.

        Sources send in order, so one that had an event at some instant sends nothing before it.
        """
        shown = {source: last - 1 for source, (last, _) in self.progress.sources.items()}
        shown |= {source: max(at, shown.get(source, at)) for source, at in self._beats.items()}
        told = pa.table({"source": pa.array(shown, pa.string()), "at": pa.array(shown.values(), pa.int64())})
        blobs = [(bucket, told) for bucket in range(self.recipe.total)] if shown else []
        packed = [packed_rows(SHOWN, blobs)]
        if self._end is not None:
            over = pa.table({"at": [self._end]})
            packed.append(packed_rows(FINISHED, [(bucket, over) for bucket in range(self.recipe.total)]))
        if self._errors:
            packed.append(packed_rows(SKIPPED, [(0, pa.table({"error": self._errors}))]))
        return pa.concat_batches(packed)


def _parted(table: EventTable, type: str) -> tuple[EventTable, EventTable]:
    """The events of a type, and the others."""
    types = table.field("type")
    code = types.dictionary.index(type).as_py()
    if code < 0:
        return table.slice(0, 0), table
    is_it = np.asarray(types.indices) == code
    return table.take(np.flatnonzero(is_it)), table.take(np.flatnonzero(~is_it))


@dataclass
class _Blobs:
    """What a bucket gets of one micro-batch."""

    events: list[bytes] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)
    end: int | None = None
    skipped: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, rows: Iterable[tuple[str, bytes]]) -> _Blobs:
        blobs = cls()
        for kind, blob in rows:
            if kind == EVENTS:
                blobs.events.append(blob)
            elif kind == SHOWN:
                table = pa.ipc.open_stream(blob).read_all()
                for source, at in zip(table["source"].to_pylist(), table["at"].to_pylist(), strict=True):
                    blobs.shown[source] = max(at, blobs.shown.get(source, at))
            elif kind == FINISHED:
                at = pa.ipc.open_stream(blob).read_all()["at"][0].as_py()
                blobs.end = max(at, blobs.end or at)
            elif kind == SKIPPED:
                blobs.skipped += pa.ipc.open_stream(blob).read_all()["error"].to_pylist()
        return blobs


def _keyed(packed: pa.RecordBatch, keys: pa.Array) -> pa.RecordBatch:
    columns = [keys.take(packed["bucket"]), *packed.columns]
    return pa.record_batch(columns, schema=KEYED)


def unpacked_results(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of results that buckets packed."""
    for batch in batches:
        for blob in batch["blob"]:
            yield from pa.ipc.open_stream(blob.as_buffer()).read_all().to_batches()


def packed_results(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """Tables of results as blobs."""
    for table in tables:
        if len(table):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            yield sink.getvalue().to_pybytes()
