"""Detection while events come in: by a policy, in batches of any size, with state that can be saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self

import numpy as np

from penstock.algebra.pattern import Pattern
from penstock.checks.check import parse
from penstock.detection.arguments import check_options
from penstock.detection.arranging import arranged, held_rows
from penstock.detection.composites import Composites, Pending
from penstock.detection.doubt import Doubts
from penstock.detection.incomplete import IncompleteGathering
from penstock.detection.kinds import kinds_of
from penstock.detection.late import late_table
from penstock.detection.limits import Limits
from penstock.detection.local import read_table
from penstock.detection.numbering import EARLIEST, Names
from penstock.detection.parts import PartWriter
from penstock.detection.plan import Plan, plan_of
from penstock.detection.selection import Selection
from penstock.detection.wire import Unpacking, to_record
from penstock.engine import memory
from penstock.engine.changing import Changes, carried_over, changes_of
from penstock.engine.division import WHOLE, Division
from penstock.engine.engine import Engine
from penstock.engine.found import Found
from penstock.engine.library import MANIFEST, Library
from penstock.engine.snapshot import restore, save
from penstock.errors import StateError
from penstock.events.identity import with_ids
from penstock.events.instant import instant
from penstock.events.mapping import Columns
from penstock.events.saved import pack, unpack
from penstock.events.table import EventTable
from penstock.filters.attributes import check_attributes
from penstock.ordering.policies import Policy, guaranteed, parse_policy
from penstock.ordering.stage import Late, Ordering, Ready
from penstock.ordering.status import Status

_STATE = "detector state"
_OWN = "detector"
_READING: dict[str, Any] = {"columns": None, "zone": None, "time_unit": None, "clock_error": 0}


def _now() -> int:
    return time.time_ns() // 1000


@dataclass(frozen=True)
class Counters:
    """What became of events and runs so far; ``delay`` is how long a consumed event waited on average, in microseconds.

    ``ignored`` events were consumed and are in no set of the pattern. ``failed``, ``expired``, ``dropped`` and
    ``replaced`` are runs, and so are ``live`` ones, which wait now; ``held`` are events that wait for their place.

    With ``best_effort``, ``out_of_order`` events were consumed after one that comes after them, and ``doubtful`` are
    composites that ordered input may have changed: an event that their definition could have met, for the values of
    their parameters, has its place inside them and came after they were given, or after a part that comes later; or
    a part of theirs is doubtful. Composites that ordered input would have given besides are not known.
    """

    consumed: int
    ignored: int
    matched: int
    failed: int
    expired: int
    dropped: int
    replaced: int
    late: int
    duplicate: int
    live: int
    held: int
    delay: float
    out_of_order: int
    doubtful: int


class Detector:
    """Detects a pattern in events that come in batches, from sources that may be behind each other.

    Each call returns the composites that it completed, as `penstock.Composites`; ``late`` of the result has the events
    that came too late for their place. Results do not depend on how the input is cut into batches, nor on what is
    saved and restored in between.

    Args:
        pattern: A pattern, or its text in the core language.
        policy: When an event may be consumed: ``penstock.guaranteed()`` unless another is given; text will do.
        sources: Those that are waited for from the beginning; others are found by their events.
        clock: Tells the time in microseconds, for policies that wait; what comes in may say its own ``arrival``.
        division: Which definitions are detected elsewhere, so that their composites come by `deliver`, and whether
            composites are published for other detectors.

    The other options are those of `penstock.detect`.

    >>> detector = Detector("[Open(door = $d)] ; [Close(door = $d)]", sources=["door-1", "door-2"])
    >>> door = {"source": "door-1", "data": {"door": "D1"}}
    >>> events = [{"type": "Open", "id": "1", "time": 5, **door}, {"type": "Close", "id": "2", "time": 9, **door}]
    >>> len(detector.feed(events))
    0
    >>> detector = Detector.restore(detector.snapshot())
    >>> len(detector.heartbeat("door-2", at=20))
    1
    """

    def __init__(
        self,
        pattern: Pattern | str,
        *,
        policy: Policy | str | None = None,
        sources: Iterable[str] = (),
        context: str = "continuous",
        restart: bool = False,
        until: int | str | datetime | None = None,
        zone: str | None = None,
        carry: str | Iterable[str] = "all",
        only: Iterable[str] = (),
        limits: Limits | None = None,
        incomplete: bool = False,
        columns: Mapping[str, str] | Columns | None = None,
        time_unit: str | None = None,
        clock_error: int = 0,
        clock: Callable[[], int] = _now,
        division: Division = WHOLE,
    ) -> None:
        check_options(
            pattern=pattern, policy=policy, sources=sources, context=context, restart=restart, zone=zone,
            carry=carry, only=only, limits=limits, incomplete=incomplete, columns=columns, time_unit=time_unit,
            clock_error=clock_error, clock=clock,
        )  # fmt: skip
        whole = parse(pattern) if isinstance(pattern, str) else pattern
        plan = plan_of(
            whole, context=context, restart=restart, zone=zone, carry=carry, only=only, limits=limits,
            incomplete=incomplete,
        )  # fmt: skip
        chosen = parse_policy(policy) if isinstance(policy, str) else policy or guaranteed()
        most = (limits or Limits()).held
        self._set_up(
            Library(Engine(whole, plan.choice, division)),
            Ordering(
                chosen,
                sources,
                held=2**62 if most is None else most,
                whole_instants=bool(division.elsewhere),
            ),
            carried=plan.carried,
            only=plan.only or _own(whole, division),
            until=None if until is None else instant(until, None, zone, round_up=True),
        )
        self._reading: dict[str, Any] = {
            "columns": columns,
            "zone": zone,
            "time_unit": time_unit,
            "clock_error": clock_error,
        }
        self._clock = clock

    @classmethod
    def planned(cls, plan: Plan, ordering: Ordering, clock: Callable[[], int] = _now) -> Self:
        """A detector of what a plan says, with events as an ordering stage gives them on.

        >>> from penstock.engine.prepared import Choice
        >>> detector = Detector.planned(Plan(parse("[A]"), Choice()), Ordering(guaranteed()))
        >>> len(detector.feed([{"type": "A", "id": "1", "time": 5}]))
        1
        """
        detector = cls.__new__(cls)
        library = Library(Engine(plan.pattern, plan.choice, definitions=plan.definitions))
        detector._set_up(library, ordering, carried=plan.carried, only=plan.only, until=None)
        detector._reading, detector._clock = dict(_READING), clock
        return detector

    def _set_up(
        self,
        library: Library,
        ordering: Ordering,
        *,
        carried: list[str] | None,
        only: tuple[str, ...],
        until: int | None,
    ) -> None:
        kinds = kinds_of(library.engine.pattern)
        self._library, self._engine, self._ordering = library, library.engine, ordering
        self._wanted, self._writer = kinds.only(only), PartWriter(kinds, carried)
        self._nothing = self._pending(library.engine.nothing)
        self._carried, self._only, self._until = carried, only, until
        self._timers = self._engine.timer_names()
        self._ranks = {name: rank for rank, name in self._timers.items()}
        self._names = Names()
        self._matched = 0
        self._behind = 0
        self._doubts = Doubts(self._engine) if ordering.on_arrival else None

    def feed(
        self, events: Any, *, arrival: int | None = None, heartbeats: Mapping[str, int | str | datetime] | None = None
    ) -> Composites:
        """Events came in, in any order: anything that `penstock.detect` takes; heartbeats may have come with them.

        >>> detector = Detector("[A]", sources=["s", "t"])
        >>> len(detector.feed([{"type": "A", "source": "s", "id": "1", "time": 5}], heartbeats={"t": 9}))
        1
        """
        table = read_table(events, **self._reading)
        if table.field("id").null_count:
            table = with_ids(table, self._names)
            self._names.heard(int(table.numbers("hi").max()))
        check_attributes(self._engine.pattern, table)
        beats = {source: self._moment(at) for source, at in (heartbeats or {}).items()}
        return self._consume(self._ordering.feed(table, self._arrival(table, arrival), beats))

    def deliver(self, records: Sequence[Mapping[str, Any]], source: str, *, arrival: int | None = None) -> Composites:
        """Composites came that another detector has published; ``source`` is its name, as in `heartbeat`.

        >>> from penstock.engine.division import Division
        >>> text = "Pair := [A] ; [B]\\n[Pair] ; [C]"
        >>> pairs = Detector(text, only=["Pair"], division=Division(publishes=True))
        >>> found = pairs.feed([{"type": name, "source": "s", "id": name, "time": at} for at, name in enumerate("AB")])
        >>> whole = Detector(text, sources=["penstock/Pair", "s"], division=Division(frozenset(["Pair"])))
        >>> _ = whole.deliver(found.published, "penstock/Pair")
        >>> _ = whole.feed([{"type": "C", "source": "s", "id": "C", "time": 5}]), whole.heartbeat("s", at=5)
        >>> [[part.type for part in one.parts] for one in whole.heartbeat("penstock/Pair", at=5)]
        [['Pair', 'C']]
        """
        table = held_rows(records, source, self._engine.labels_elsewhere(), self._ranks)
        return self._consume(self._ordering.feed(table, self._at(arrival)))

    @property
    def frontier(self) -> int | None:
        """How far it has come: what it publishes later ends after this instant; None before it has come anywhere.

        Whoever hears its composites takes it as a heartbeat of this detector.
        """
        return self._ordering.progress - 1 if self._ordering.progress > EARLIEST else None

    def heartbeat(self, source: str, at: int | str | datetime, *, arrival: int | None = None) -> Composites:
        """A source promises that its later events end after ``at``."""
        check_options(source=source)
        return self._consume(self._ordering.heartbeat(source, self._moment(at), self._at(arrival)))

    def _moment(self, at: int | str | datetime) -> int:
        return instant(at, self._reading["time_unit"], self._reading["zone"], round_up=False)

    def leave(self, source: str, *, arrival: int | None = None) -> Composites:
        """Nothing more comes from a source."""
        check_options(source=source)
        return self._consume(self._ordering.leave(source, self._at(arrival)))

    def wait(self, *, arrival: int | None = None) -> Composites:
        """Nothing came, and time went on: what was waited for long enough is consumed."""
        return self._consume(self._ordering.wait(self._at(arrival)))

    def finish(self) -> Composites:
        """The input is over: everything that is held is consumed, and timers up to its end fire."""
        ready = self._ordering.finish() if self._until is None else self._ordering.finish(self._until)
        end = ready.progress - 1
        table, delivered = arranged(ready.table, self._engine.division.elsewhere, self._ranks)
        found = [self._engine.feed(table, max(end + 1, EARLIEST), delivered), self._engine.finish(max(end, EARLIEST))]
        if self._doubts:
            self._doubts.give(found[0])
        return self._composites(found, ready.late)

    @property
    def counters(self) -> Counters:
        """How much there was of everything so far."""
        runners = [one.runner for definition in self._engine.engines for one in definition.detections]

        def total(cell: int) -> int:
            return sum(one.memory.live(cell) for one in runners)

        told = self._ordering.counters
        return Counters(
            consumed=told.consumed,
            ignored=self._engine.fed - self._engine.met,
            matched=self._matched,
            failed=total(memory.FAILED),
            expired=total(memory.EXPIRED),
            dropped=total(memory.DROPPED),
            replaced=total(memory.REPLACED),
            late=told.late,
            duplicate=told.duplicate,
            live=total(memory.LIVE) + sum(one.elsewhere for one in runners),
            held=self.status().held,
            delay=told.mean_wait,
            out_of_order=told.out_of_order,
            doubtful=self._doubts.count if self._doubts else 0,
        )

    def status(self) -> Status:
        """How far each source has come, and which of them holds everything up."""
        return self._ordering.status()

    def snapshot(self) -> bytes:
        """The whole state as bytes; `restore` goes on from there, in this version and later ones."""
        return pack(_STATE, {**self._own(), "engine": _array(save(self._library))})

    def save(self, store: MutableMapping[str, bytes]) -> list[str]:
        """Puts the state into a store, by pages; returns the names of those that were written.

        Into the store that it was restored from or saved to last it writes only what has changed since.
        """
        written = self._library.write(store)
        store[_OWN] = pack(_STATE, self._own())
        return sorted([_OWN, *written])

    def _own(self) -> dict[str, Any]:
        """What is not the engine's: the ordering stage, and how results are told."""
        return {
            "ordering": _array(self._ordering.save()),
            "names": self._names.generations,
            "carried": self._carried,
            "only": list(self._only),
            "until": self._until,
            "matched": self._matched,
            "doubtful": self._doubts.count if self._doubts else 0,
            "reading": _written(self._reading),
        }

    @classmethod
    def restore(cls, state: bytes | Mapping[str, bytes], *, clock: Callable[[], int] = _now, **reading: Any) -> Self:
        """The detector whose state this is: bytes of `snapshot`, or a store that `save` wrote.

        A store is read when its pages are needed, so it must stay as it is until the next `save`.

        ``reading`` are options that say how events are read from now on (``columns``, ``zone``, ``time_unit``,
        ``clock_error``), where that is to change.

        >>> Detector.restore(b"something else")
        Traceback (most recent call last):
        penstock.errors.StateError: this is no saved state of a penstock detector state
        hint: give the bytes as they were saved
        """
        for name in reading.keys() - _READING.keys():
            raise StateError(f"`{name}` cannot change", hint=f"what can: {', '.join(sorted(_READING))}")
        check_options(clock=clock, **reading)
        if isinstance(state, bytearray | memoryview):
            state = bytes(state)
        if not isinstance(state, bytes | Mapping):
            raise StateError("this is no saved state", hint="give the bytes of snapshot(), or the store of save()")
        if isinstance(state, bytes):
            values = unpack(_STATE, state)
            library = restore(values["engine"].tobytes())
        else:
            if _OWN not in state or MANIFEST not in state:
                raise StateError("this store holds no state of a detector", hint="give the one that save() wrote to")
            values = unpack(_STATE, state[_OWN])
            library = Library.open(state)
        detector = cls._loaded(library, values, values["carried"], tuple(values["only"]))
        detector._reading |= reading
        detector._clock = clock
        return detector

    @classmethod
    def _loaded(
        cls, library: Library, values: Mapping[str, Any], carried: list[str] | None, only: tuple[str, ...]
    ) -> Self:
        """A detector from what was saved beside its engine."""
        detector = cls.__new__(cls)
        ordering = Ordering.load(values["ordering"].tobytes())
        detector._set_up(library, ordering, carried=carried, only=only, until=values["until"])
        detector._names = Names(values["names"])
        detector._matched = values["matched"]
        if detector._doubts:
            detector._doubts.count = values.get("doubtful", 0)
        detector._reading = _READING | _read(values.get("reading", {}))
        detector._clock = _now
        return detector

    @classmethod
    def resumed(
        cls, plan: Plan, policy: Policy, store: MutableMapping[str, bytes], restarts: bool = False
    ) -> tuple[Self, Changes]:
        """The detector whose state is in a store, for a plan that may have changed since; and what has changed.

        Runs of definitions that are the same go on. If others were changed or are gone, that is an error that says
        which they are, unless ``restarts`` lets them start anew.
        """
        values = unpack(_STATE, store[_OWN])
        library = Library.open(store)
        known = library.engine
        others = [name for name, value in vars(plan.choice).items() if value != getattr(known.choice, name)]
        changes = changes_of(known.pattern, plan.pattern, not others)
        if str(changes) and not restarts:
            raise _otherwise(others) if others else _changed(changes)
        if changes.changed or changes.gone or changes.new:
            library = carried_over(library, plan.pattern, plan.choice, changes.same)
            for name in [name for name in store if name.startswith("page ")]:
                del store[name]
        detector = cls._loaded(library, values, plan.carried, plan.only)
        if str(detector._ordering.policy) != str(policy):
            raise StateError(
                f"the saved state is of the policy {detector._ordering.policy}, and {policy} is asked for",
                hint=f"give policy='{detector._ordering.policy}', or begin anew with another checkpoint",
            )
        return detector, changes

    def _arrival(self, table: EventTable, arrival: int | None) -> int:
        """When events came in. Where all of them say when, that is the time here, and it goes on as the clock does."""
        came = table.field("arrival")
        if arrival is None and len(came) and not came.null_count:
            newest = int(np.asarray(came).max())
            self._behind = self._clock() - newest
            return newest
        return self._at(arrival)

    def _at(self, arrival: int | None) -> int:
        return self._clock() - self._behind if arrival is None else arrival

    def _consume(self, ready: Ready) -> Composites:
        self._names.passed(ready.progress)
        table, delivered = arranged(ready.table, self._engine.division.elsewhere, self._ranks)
        if self._doubts and table is ready.table:
            self._doubts.meet(table, ready.behind)
        found = self._engine.feed(table, max(ready.progress, EARLIEST), delivered)
        if self._doubts:
            self._doubts.give(found)
        return self._composites([found], ready.late)

    def _composites(self, found: list[Found], late: Late) -> Composites:
        """What was found, and what came too late."""
        pending = self._nothing if found[0] is self._engine.nothing else self._pending(found[0])
        self._matched += len(pending)
        incomplete = None
        if self._engine.choice.incomplete:
            gathered = IncompleteGathering(self._wanted, self._writer)
            for one in found:
                gathered.add(one)
            incomplete = gathered.runs()
        published = self._published(pending.selection) if self._engine.division.publishes else ()
        return Composites(pending, incomplete=incomplete, late=lambda: late_table(late), published=published)

    def _pending(self, found: Found) -> Pending:
        """What was found, before tables are made of it."""
        return Pending(Selection(found, self._wanted.attributes), self._wanted, self._writer)

    def _published(self, selection: Selection) -> list[dict[str, Any]]:
        if not len(selection):
            return []
        composites, places = Unpacking(selection, self._carried).composites()
        return [
            to_record(one, self._timers.get(rank), number)
            for one, (rank, number) in zip(composites, places.tolist(), strict=True)
        ]


def _own(pattern: Pattern, division: Division) -> tuple[str, ...]:
    """The definitions whose composites are given where nothing was said; none is named if that is all of them."""
    hidden = division.elsewhere | division.inlined
    return tuple(one.name for one in pattern.definitions if one.name not in hidden) if hidden else ()


def _otherwise(options: Sequence[str]) -> StateError:
    listed = ", ".join(f"`{name}`" for name in options)
    return StateError(
        f"the saved state is of detection with another {listed}",
        hint="give what was given then; with changed='restart' all definitions start anew",
    )


def _changed(changes: Changes) -> StateError:
    same = f"; runs of {', '.join(f'`{name}`' for name in changes.same)} would go on" if changes.same else ""
    return StateError(
        f"the saved state is of another pattern: {changes}",
        hint=f"give changed='restart' to let what has changed start anew, without the runs that it has{same}",
    )


def _written(reading: dict[str, Any]) -> dict[str, Any]:
    """How events are read, as JSON can say it."""
    columns = reading["columns"]
    mapped = {"mapping": asdict(columns)} if isinstance(columns, Columns) else {"columns": columns and dict(columns)}
    return {name: value for name, value in reading.items() if name != "columns"} | mapped


def _read(written: Mapping[str, Any]) -> dict[str, Any]:
    """How events are read, from what `_written` said."""
    rest = {name: value for name, value in written.items() if name != "mapping"}
    return rest | ({"columns": Columns(**written["mapping"])} if "mapping" in written else {})


def _array(body: bytes) -> Any:
    return np.frombuffer(body, np.uint8)
