"""The ordering stage: takes events as they arrive, and gives them on in the order of the input when they are ready."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.errors import DataError, StateError
from penstock.events.saved import pack, unpack
from penstock.events.table import KINDS, EventTable, mixture
from penstock.events.times import format_time
from penstock.ordering.batch import Batch
from penstock.ordering.held import NOTHING, Held, Run, run_of, without_repeated
from penstock.ordering.meeting import Met, meet
from penstock.ordering.places import BEHIND, FAR, NEVER, THERE, Ints, Place, compacted, compared, times
from penstock.ordering.policies import BestEffort, Policy, parse_policy
from penstock.ordering.probable import ProbableRule
from penstock.ordering.rules import rule_of
from penstock.ordering.sources import Sources
from penstock.ordering.status import Counters, Status

MOST_HELD = 5_000_000
"""So many events are held at most, unless another limit is given."""
MOST_REMEMBERED = 100_000
"""So many ids are remembered where events do not wait, to know those that come again."""
_NO_ROWS: Ints = np.zeros(0, np.int64)
UNKNOWN_SOURCE = "its source was not known before"
BROKEN_ORDER = "its source had shown a later stamp"
TOO_LATE = "it was no longer waited for"


@dataclass(frozen=True)
class Late:
    """Events whose place was past when they came, why, and how far past it was, in microseconds."""

    table: EventTable
    reason: list[str]
    lateness: Ints

    def __len__(self) -> int:
        return len(self.table)


@dataclass(frozen=True)
class Ready:
    """Events that may be consumed now, in the weak order; then the timers before ``progress`` may fire."""

    table: EventTable
    progress: int
    late: Late
    behind: Ints
    """Rows of the table that come before one that was consumed earlier; with ``best_effort`` only."""


class Ordering:
    """Puts events into the order of the input and decides when they are safe to consume, by a policy.

    Times are told, never asked for: ``arrival`` says when something came in, in microseconds. Events have ids. With
    ``whole_instants`` all that ends at one instant is given on together, for those who put it in another order.

    >>> from penstock.events.records import from_dicts
    >>> from penstock.ordering.policies import guaranteed
    >>> stage = Ordering(guaranteed(), ["a", "b"])
    >>> later = from_dicts([{"type": "B", "source": "b", "id": "1", "time": 7}])
    >>> len(stage.feed(later, arrival=8).table)
    0
    >>> earlier = from_dicts([{"type": "A", "source": "a", "id": "1", "time": 5}])
    >>> ready = stage.feed(earlier, arrival=9)
    >>> ready.table.field("type").to_pylist(), ready.progress
    (['A'], 5)
    >>> stage.heartbeat("a", at=9, arrival=10).table.field("type").to_pylist()
    ['B']
    """

    def __init__(
        self, policy: Policy, sources: Iterable[str] = (), *, held: int = MOST_HELD, whole_instants: bool = False
    ) -> None:
        self.policy = policy
        self.whole_instants = whole_instants
        self.limit = held
        self.sources = Sources()
        self.sources.register(sources)
        self.rule = rule_of(policy)
        self.on_arrival = isinstance(policy, BestEffort)
        self.held = Held()
        self.counts = dict.fromkeys(_COUNTED, 0)
        self.kinds: dict[str, pa.DataType] = {}
        self.frontier = Place(NEVER, NEVER, b"")
        self.counter: int | None = None
        self.there: set[str] = set()
        self.progress = NEVER
        self.now = NEVER
        self.newest = NEVER
        self._checked: pa.Schema | None = None

    @property
    def counters(self) -> Counters:
        """How many events there were of each kind."""
        return Counters(**self.counts)

    def feed(self, table: EventTable, arrival: int, heartbeats: Mapping[str, int] | None = None) -> Ready:
        """Events came in, together; where they have an arrival of their own, that counts.

        So did heartbeats, each a source with an instant: nothing moves before all of both is known.
        """
        self._check(table)
        self.now = max(self.now, arrival)
        if not len(table):
            self._notice(heartbeats or {}, arrival)
            return self._advance(_NONE_LATE)
        batch = Batch(compacted(table), self._arrivals(table, arrival))
        run = run_of(batch)
        self.newest = max(self.newest, int(run.ends[-1]))
        met = meet(run, self.sources)
        disordered = self._disordered(met, batch.beginnings)
        late, behind = _NONE_LATE, None
        if int(run.ends[0]) <= max(self.frontier.hi, self.progress):
            run, late, behind = self._without_past(run, met, disordered)
        run = self._take_in(run)
        self.rule.meet(met)
        self._notice(heartbeats or {}, arrival)
        if not self.on_arrival:
            return self._advance(late)
        return self._advance(late, run.events(), _NO_ROWS if behind is None else np.flatnonzero(behind[run.rows]))

    def _arrivals(self, table: EventTable, arrival: int) -> Ints:
        """When each event came."""
        column = table.field("arrival")
        if column.null_count == len(column):
            came = np.full(len(column), arrival)
            came.setflags(write=False)  # as columns are, for which alone functions are compiled
            return came
        came = np.asarray(column.fill_null(arrival))
        self.now = max(self.now, int(came.max()))
        return came

    def heartbeat(self, source: str, at: int, arrival: int) -> Ready:
        """A source promises that its later events end after ``at``."""
        self.now = max(self.now, arrival)
        self._notice({source: at}, arrival)
        return self._advance(_NONE_LATE)

    def _notice(self, heartbeats: Mapping[str, int], arrival: int) -> None:
        """Learns what heartbeats promise."""
        if not heartbeats:
            return
        numbers = self.sources.numbers(list(heartbeats))
        ends = np.fromiter(heartbeats.values(), np.int64, len(heartbeats))
        self.sources.show(numbers, ends + 1, np.full(len(ends), NEVER), np.full(len(ends), arrival))
        for number, at in zip(numbers.tolist(), ends.tolist(), strict=True):
            self.rule.notice(number, at, arrival)

    def leave(self, source: str, arrival: int) -> Ready:
        """Nothing more comes from a source; what it sent stays in its place."""
        self.now = max(self.now, arrival)
        number = self.sources.index.get(source)
        if number is not None:
            self.sources.leave(source)
            self.rule.forget(number)
        return self._advance(_NONE_LATE)

    def wait(self, arrival: int) -> Ready:
        """Nothing came, and time went on."""
        self.now = max(self.now, arrival)
        return self._advance(_NONE_LATE)

    def finish(self, until: int = NEVER) -> Ready:
        """The input is over: everything leaves, and timers up to the last event's end, or ``until``, may fire.

        What comes after all, and ends before that, is late.
        """
        table, waited = self.held.take([len(run) for run in self.held.runs], self.now)
        if self.on_arrival:
            table = table.slice(0, 0)
        last = max(self.newest, until)
        end = last + 1 if last > NEVER else NEVER
        return self._ready(table, waited, max(self.progress, end), _NONE_LATE)

    def status(self) -> Status:
        """How far it is, what it holds and for whom it waits."""
        sources, numbers = self.sources, self.sources.current()
        # What was shown is the end of an event, or the instant before the least that is possible since a heartbeat.
        shown = sources.lowest.ends(numbers).copy()
        shown -= (sources.lowest.beginnings(numbers) == NEVER) & (shown > NEVER)
        estimated = self.rule.estimates.usual(numbers) if isinstance(self.rule, ProbableRule) else None
        holding = sources.lowest.holding()[:10] if len(sources) else numbers
        return Status(
            policy=str(self.policy),
            progress=self.progress,
            now=self.now,
            held=0 if self.on_arrival else len(self.held),
            counters=self.counters,
            names=[sources.names[number] for number in numbers.tolist()],
            shown=shown,
            heard=sources.heard[numbers],
            events=sources.counts["events"][numbers],
            late=sources.counts["late"][numbers],
            disordered=sources.counts["disordered"][numbers],
            delays=estimated,
            holding=tuple(sources.names[number] for number in holding.tolist()),
        )

    def save(self) -> bytes:
        """All of it as bytes that `load` reads, in this version and later ones."""
        held = self.held.all()
        table = held.events() if held else NOTHING
        values = {name: getattr(self, name) for name in ("limit", "counter", "progress", "now", "newest")}
        values |= {"whole_instants": self.whole_instants}
        values |= {"policy": str(self.policy), "counters": asdict(self.counters), "there": sorted(self.there)}
        values |= {"frontier": [self.frontier.hi, self.frontier.lo, self.frontier.source.decode()]}
        values |= {"kinds": {name: str(kind) for name, kind in self.kinds.items()}}
        values |= {"held": table.fields, "attributes": table.attributes, "fixed": table.fixed}
        values |= {"came": held.batch.came[held.rows] if held else np.zeros(0, np.int64)}
        parts = {"sources": self.sources.save(), "rule": self.rule.save()}
        return pack(
            "ordering stage",
            values | {f"{part}.{name}": v for part, state in parts.items() for name, v in state.items()},
        )

    @classmethod
    def load(cls, state: bytes) -> Ordering:
        """The stage that was saved, to go on from there.

        >>> from penstock.ordering.policies import delay
        >>> Ordering.load(Ordering(delay("5 s"), ["a"]).save()).status().names
        ['a']
        """
        values = unpack("ordering stage", state)
        whole = values.get("whole_instants", False)
        stage = cls(parse_policy(values["policy"]), held=values["limit"], whole_instants=whole)
        for name in ("counter", "progress", "now", "newest"):
            setattr(stage, name, values[name])
        stage.counts |= values["counters"]
        stage.there = set(values["there"])
        hi, lo, source = values["frontier"]
        stage.frontier = Place(hi, lo, source.encode())
        kinds = {str(kind): kind for kind in KINDS}
        stage.kinds = {name: kinds[kind] for name, kind in values["kinds"].items()}
        stage.sources.load(_part(values, "sources."))
        stage.rule.load(_part(values, "rule."))
        table = EventTable(values["held"], values["attributes"], values["fixed"])
        stage.held.add(run_of(Batch(table, values["came"])))
        return stage

    def _check(self, table: EventTable) -> None:
        """Refuses what could not be put in order with the rest, before anything is changed."""
        if table.field("id").null_count:
            raise DataError("an event without an id cannot be ordered", hint="give it one: events.identity.with_ids")
        schema = table.attributes.schema
        if self._checked is not None and schema.equals(self._checked):
            return
        kinds: dict[str, pa.DataType] = {}
        for name in schema.names:
            column = table.attributes[name]
            known = self.kinds.get(name, column.type)
            if column.null_count < len(column):
                if column.type != known and not {column.type, known} <= _NUMBERS:
                    raise mixture(name, known, "earlier events", column.type, "these")
                kinds[name] = known
        self.kinds |= kinds
        # Where all attributes have been seen, nothing can be wrong with the next table of the same kinds.
        self._checked = schema if len(kinds) == len(schema) else None

    def _disordered(self, met: Met, beginnings: Ints) -> NDArray[np.bool_] | None:
        """Which rows are earlier than what their sources had shown before, if any may be; they are counted."""
        disordered = met.disordered(beginnings)
        if disordered is not None:
            counts = np.bincount(met.codes[disordered], minlength=len(met.sources))
            self.sources.counts["disordered"][met.sources] += counts
            self.counts["disordered"] += int(counts.sum())
        return disordered

    def _without_past(
        self, run: Run, met: Met, disordered: NDArray[np.bool_] | None
    ) -> tuple[Run, Late, NDArray[np.bool_]]:
        """The run without what is late, and without what was consumed at the very last place."""
        behind, repeated = self._past(run)
        self.counts["duplicate"] += int(np.count_nonzero(repeated))
        late, gone = _NONE_LATE, repeated
        if self.on_arrival:
            self.counts["out_of_order"] += int(np.count_nonzero(behind))
        elif behind.any():
            broken = np.zeros(len(behind), bool) if disordered is None else disordered
            late, gone = self._late(run.batch.table, behind, broken, met.unknown[met.codes]), behind | repeated
            np.add.at(self.sources.counts["late"], met.sources[met.codes[behind]], 1)
            self.counts["late"] += len(late)
        return (run.where(~gone[run.rows]) if gone.any() else run), late, behind

    def _past(self, run: Run) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows are behind what was consumed or fired, and which were consumed at the very last place."""
        table = run.table
        behind, repeated = np.zeros((2, len(run.batch)), bool)
        rows = run.rows[: np.searchsorted(run.ends, max(self.frontier.hi, self.progress), side="right")]
        side = compared(table, self.frontier, rows)
        behind[rows] = side == BEHIND if self.on_arrival else (side == BEHIND) | (run.ends[: len(rows)] < self.progress)
        here = rows[side == THERE]
        if len(here):
            ids, counters = (table.field(name).take(pa.array(here)).to_pylist() for name in ("id", "seq"))
            repeated[here] = [one in self.there for one in ids]
            pairs = zip(ids, counters, strict=True)
            behind[here] = [self._is_behind(one, counter) for one, counter in pairs]
        return behind & ~repeated, repeated

    def _is_behind(self, id: str, counter: int | None) -> bool:
        """Whether an event of the source and stamp consumed last comes before it.

        What a source says of one instant without counting it has the order of sending; ids, which may be hashes, make
        nothing late.
        """
        if counter is not None and self.counter is not None and counter != self.counter:
            return counter < self.counter
        if not self.on_arrival:
            return False
        if counter != self.counter:
            return counter is None
        return id.encode() < max(one.encode() for one in self.there)

    def _late(
        self, table: EventTable, behind: NDArray[np.bool_], disordered: NDArray[np.bool_], unknown: NDArray[np.bool_]
    ) -> Late:
        rows = np.flatnonzero(behind)
        reasons = np.where(unknown[rows], UNKNOWN_SOURCE, np.where(disordered[rows], BROKEN_ORDER, TOO_LATE))
        passed = max(self.progress, self.frontier.hi)
        return Late(table.take(rows), reasons.tolist(), passed - times(table, "hi")[rows])

    def _take_in(self, run: Run) -> Run:
        """Holds what is new, which is returned; of events that do not wait only the names are kept."""
        run, twice = without_repeated(run)
        run, again = self.held.unseen(run)
        self.counts["duplicate"] += twice + again
        if not self.on_arrival:
            self.held.add(run)
            return run
        self.held.add(Run(run.batch.only_names(), run.rows, run.ends))
        self.held.settle()
        most = min(self.limit, MOST_REMEMBERED)
        if len(self.held) > most:
            self.held.forget(len(self.held) - most // 2)
        return run

    def _advance(self, late: Late, arrived: EventTable = NOTHING, behind: Ints = _NO_ROWS) -> Ready:
        """What may be consumed now."""
        bound = self.rule.bound(self.sources, self.now)
        if self.whole_instants:
            bound = bound.before_instant()
        progress = max(self.progress, bound.progress if bound.progress < FAR else self.newest)
        if self.on_arrival:
            return self._ready(arrived, 0, progress, late, behind)
        counts = self.held.counts_to(bound.place)
        left = len(self.held) - sum(counts)
        if left > self.limit:
            raise self._too_many(left)
        table, waited = self.held.take(counts, self.now)
        return self._ready(table, waited, progress, late)

    def _ready(self, table: EventTable, waited: int, progress: int, late: Late, behind: Ints = _NO_ROWS) -> Ready:
        ends = times(table, "hi")
        if len(ends):
            self._move_on(table, ends)
        self.counts["consumed"] += len(ends)
        self.counts["waited"] += waited
        self.progress = progress
        self.rule.judge(ends, times(late.table, "hi"))
        return Ready(table, progress, late, behind)

    def _move_on(self, table: EventTable, ends: Ints) -> None:
        """Remembers the place consumed last, and what was consumed there."""
        last = len(ends) - 1
        sources, counters = table.field("source"), table.field("seq")
        source = sources.dictionary[0] if len(sources.dictionary) == 1 else sources[last]
        counter = None if counters.null_count == len(counters) else counters[last].as_py()
        place = Place(ends.item(last), times(table, "lo").item(last), source.as_py().encode())
        if place < self.frontier:
            return
        first = int(ends.searchsorted(place.hi)) if last else 0
        ids = table.field("id").slice(first)
        if first < last:
            ids = ids.filter(pa.array(compared(table, place, np.arange(first, last + 1)) == THERE))
        self.there = set(ids.to_pylist()) | (self.there if place == self.frontier else set())
        is_counted_before = place == self.frontier and self.counter is not None
        if not is_counted_before or (counter is not None and counter > self.counter):
            self.counter = counter
        self.frontier = place

    def _too_many(self, left: int) -> StateError:
        [slowest] = self.status().slowest(1)
        shown = "nothing yet" if slowest.shown is None else f"nothing after {format_time(slowest.shown)}"
        return StateError(
            f"{left:,} events are held for ordering, more than the {self.limit:,} that may be",
            hint=f"source {slowest.name!r} has shown {shown}: let it send heartbeats, say that it has left, "
            "or choose a policy such as guaranteed(max_wait=10 s)",
        )


_NONE_LATE = Late(NOTHING, [], np.zeros(0, np.int64))
_NUMBERS = {pa.int64(), pa.float64()}
_COUNTED = [one.name for one in fields(Counters)]


def _part(values: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
