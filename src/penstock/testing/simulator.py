"""A simulator of sources and the network between them and a detector: virtual time, and everything from one seed.

Sources have clocks that are wrong, say nothing for a while, or die. On its way an event is delayed, lost, doubled or
overtaken. What arrives comes in batches of events and heartbeats, each with the instant of its arrival.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
import pyarrow as pa
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from penstock.events.order import ordered
from penstock.events.table import EventTable, make_table
from penstock.testing.delays import Constant, DelayLaw

Ints = NDArray[np.int64]
SECOND = 1_000_000


@dataclass(frozen=True)
class Route:
    """The way from a source to the detector.

    ``loss``, ``duplication`` and ``reordering`` are shares of the events: of those that never arrive, arrive once
    more later, and are overtaken by others. All others arrive in the order in which they were sent.
    """

    delay: DelayLaw = field(default_factory=lambda: Constant(0))
    loss: float = 0.0
    duplication: float = 0.0
    reordering: float = 0.0


@dataclass(frozen=True)
class SimulatedSource:
    """Who sends what, and over which route; all times in microseconds.

    ``rate`` is in events a second, at random, or regularly if ``regular``. Its clock is off by ``clock``, and it says
    so if it knows how much: ``error`` makes its stamps intervals. It is silent in ``silences`` and for ever after
    ``dies``. It sends a heartbeat when it has had nothing to say for the time ``heartbeat``.
    """

    name: str
    rate: float = 1.0
    regular: bool = False
    types: tuple[str, ...] = ("A", "B", "C", "D")
    keys: int = 3
    clock: int = 0
    error: int = 0
    silences: tuple[tuple[int, int], ...] = ()
    dies: int | None = None
    heartbeat: int | None = None
    route: Route = field(default_factory=Route)


@dataclass(frozen=True)
class Heartbeat:
    """A source says that its later events end after ``at``."""

    source: str
    at: int


@dataclass(frozen=True)
class Heartbeats(Sequence[Heartbeat]):
    """Heartbeats as columns: the number of each one's source among ``names``, and its instant.

    >>> beats = Heartbeats.of([Heartbeat("a", 5), Heartbeat("b", 7)])
    >>> beats.at.tolist(), beats[1]
    ([5, 7], Heartbeat(source='b', at=7))
    """

    names: tuple[str, ...]
    sources: Ints
    at: Ints

    @classmethod
    def of(cls, beats: Sequence[Heartbeat]) -> Heartbeats:
        """Heartbeats that may be objects."""
        if isinstance(beats, Heartbeats):
            return beats
        numbers = {name: number for number, name in enumerate(dict.fromkeys(beat.source for beat in beats))}
        sources = np.array([numbers[beat.source] for beat in beats], np.int64)
        return cls(tuple(numbers), sources, np.array([beat.at for beat in beats], np.int64))

    def __len__(self) -> int:
        return len(self.at)

    @overload
    def __getitem__(self, number: int) -> Heartbeat: ...
    @overload
    def __getitem__(self, number: slice) -> Heartbeats: ...
    def __getitem__(self, number: int | slice) -> Heartbeat | Heartbeats:
        if isinstance(number, slice):
            return Heartbeats(self.names, self.sources[number], self.at[number])
        return Heartbeat(self.names[self.sources.item(number)], self.at.item(number))

    def take(self, numbers: Ints) -> tuple[Heartbeat, ...]:
        """Some of them, as objects."""
        pairs = zip(self.sources[numbers].tolist(), self.at[numbers].tolist(), strict=True)
        return tuple(Heartbeat(self.names[source], at) for source, at in pairs)


@dataclass(frozen=True)
class Arrival:
    """What came in at one instant: events first, then heartbeats."""

    at: int
    table: EventTable
    heartbeats: tuple[Heartbeat, ...]


@dataclass(frozen=True)
class Sent:
    """What sources sent: events, row by row with the true instant of sending, and heartbeats."""

    table: EventTable
    sent: Ints
    heartbeats: Sequence[Heartbeat] = ()
    heartbeats_sent: Ints = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True)
class Delivery:
    """What arrives: rows of events, and numbers of heartbeats, each with its arrival; doubled events come twice."""

    sent: Sent
    rows: Ints
    came: Ints
    beats: Ints
    beats_came: Ints

    def received(self) -> EventTable:
        """The events that arrive at all, once each, in the weak order: what a detector should see."""
        return ordered(self.sent.table.take(np.unique(self.rows)))[0]

    def arrived(self) -> EventTable:
        """The events as they arrive, one after the other, each with its ``arrival``."""
        return self._events().replaced("arrival", pa.array(self.came))

    def _events(self) -> EventTable:
        return self.sent.table.take(self.rows)

    def arrivals(self, tick: int = 1) -> Iterator[Arrival]:
        """Batches in the order of arrival; what comes within one ``tick`` comes together."""
        events, beats = self._events(), Heartbeats.of(self.sent.heartbeats)
        ticks = np.unique(np.concatenate([_ticks(self.came, tick), _ticks(self.beats_came, tick)]))
        for at in ticks.tolist():
            first, last = np.searchsorted(self.came, [at - tick, at], side="right")
            start, end = np.searchsorted(self.beats_came, [at - tick, at], side="right")
            yield Arrival(at, events.slice(first, last - first), beats.take(self.beats[start:end]))


def _ticks(came: Ints, tick: int) -> Ints:
    """The end of the tick in which each comes."""
    return -(-came // tick) * tick


def simulate(sources: Sequence[SimulatedSource], seconds: float, seed: int, start: int = 0) -> Delivery:
    """Sources send for a while, and the network delivers.

    >>> sources = [SimulatedSource("a", rate=5), SimulatedSource("b", route=Route(Constant(2 * SECOND), loss=0.5))]
    >>> delivery = simulate(sources, seconds=20, seed=7)
    >>> again = simulate(sources, seconds=20, seed=7)
    >>> len(delivery.received()) == len(again.received()) > 60
    True
    >>> next(delivery.arrivals(SECOND)).at
    1000000
    """
    sent = produce(sources, seconds, seed, start)
    return deliver(sent, {source.name: source.route for source in sources}, seed)


def produce(sources: Sequence[SimulatedSource], seconds: float, seed: int, start: int = 0) -> Sent:
    """What the sources send from ``start`` on."""
    end = start + round(seconds * SECOND)
    randoms = _randoms(seed, len(sources), 1)
    pieces = [_said_by(source, start, end, random) for source, random in zip(sources, randoms, strict=True)]
    columns = {name: _joined([piece[name] for piece in pieces]) for name in _COLUMNS}
    owners, speakers = (
        np.repeat(np.arange(len(sources)), [len(piece[name]) for piece in pieces]) for name in ("at", "beats")
    )
    kinds = list(dict.fromkeys(kind for source in sources for kind in source.types))
    names = tuple(source.name for source in sources)
    fields = {
        "type": _named(_kinds(sources, kinds)[owners, columns["type"]], kinds),
        "source": _named(owners, names),
        "id": pa.array(columns["seq"]).cast(pa.string()),
        **{name: pa.array(columns[name]) for name in ("seq", "lo", "hi")},
        "uncertain": pa.array(np.array([source.error > 0 for source in sources], bool)[owners]),
    }
    table = make_table(fields, {name: pa.array(columns[name]) for name in ("k", "v")})
    return Sent(table, columns["at"], Heartbeats(names, speakers, columns["promises"]), columns["beats"])


_COLUMNS = ("at", "type", "seq", "lo", "hi", "k", "v", "beats", "promises")


def _joined(pieces: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *pieces])


def _named(codes: Ints, names: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(names, pa.string()))


def _kinds(sources: Sequence[SimulatedSource], kinds: Sequence[str]) -> Ints:
    """For each source the numbers of its types, as many columns as one has at most."""
    numbers = {kind: number for number, kind in enumerate(kinds)}
    found = np.zeros((len(sources), max((len(source.types) for source in sources), default=0)), np.int64)
    for row, source in enumerate(sources):
        found[row, : len(source.types)] = [numbers[kind] for kind in source.types]
    return found


def _randoms(seed: int, count: int, purpose: int) -> Iterator[Generator]:
    """Independent random sources, so that one source's fate does not change another's."""
    return (default_rng(child) for child in SeedSequence([purpose, seed]).spawn(count))


def _said_by(source: SimulatedSource, start: int, end: int, random: Generator) -> dict[str, Ints]:
    """The events and heartbeats of one source as columns of numbers."""
    at = _instants(source, start, end, random)
    count, beats = len(at), _beats(source, at, start, end)
    types, k, v = (random.integers(0, most, count) for most in (len(source.types), source.keys, source.keys))
    lo, hi, promises = (
        at + source.clock - source.error,
        at + source.clock + source.error,
        beats + source.clock + source.error,
    )
    return dict(zip(_COLUMNS, (at, types, np.arange(count), lo, hi, k, v, beats, promises), strict=True))


def _instants(source: SimulatedSource, start: int, end: int, random: Generator) -> Ints:
    """When it sends, by a clock that is right; never twice at one instant."""
    gap = SECOND / source.rate
    expected = (end - start) / gap
    count = int(expected + 6 * expected**0.5 + 6)
    gaps = np.full(count, gap) if source.regular else random.exponential(gap, count)
    at: Ints = start + np.cumsum(np.maximum(gaps, 1)).astype(np.int64)
    return at[(at < _death(source, end)) & ~_is_silent(source, at)]


def _beats(source: SimulatedSource, at: Ints, start: int, end: int) -> Ints:
    if source.heartbeat is None:
        return np.zeros(0, np.int64)
    beats = beats_between(at, source.heartbeat, start, _death(source, end))
    return beats[~_is_silent(source, beats)]


def beats_between(at: Ints, period: int, start: int, end: int) -> Ints:
    """When a source that sends at some instants says that it has nothing to say: a period after an event or a beat.

    >>> beats_between(np.array([25]), 10, 0, 60).tolist()
    [10, 20, 35, 45, 55]
    """
    edges = np.concatenate([[start], at, [end]])
    counts = np.maximum(np.diff(edges) - 1, 0) // period
    beats: Ints = np.repeat(edges[:-1], counts)
    number = np.arange(len(beats)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    beats += number * period
    return beats


def _death(source: SimulatedSource, end: int) -> int:
    return end if source.dies is None else min(source.dies, end)


def _is_silent(source: SimulatedSource, at: Ints) -> NDArray[np.bool_]:
    silent = np.zeros(len(at), bool)
    for first, last in source.silences:
        silent |= (first <= at) & (at < last)
    return silent


def deliver(sent: Sent, routes: Mapping[str, Route], seed: int) -> Delivery:
    """What was sent arrives, each source's by its route; sources without one are heard at once.

    >>> events = produce([SimulatedSource("a", rate=2)], seconds=5, seed=1)
    >>> delivery = deliver(events, {"a": Route(Constant(SECOND))}, seed=1)
    >>> bool((delivery.came == events.sent + SECOND).all())
    True
    """
    column, said = sent.table.field("source"), Heartbeats.of(sent.heartbeats)
    names = list(dict.fromkeys([*column.dictionary.to_pylist(), *said.names]))
    numbers = {name: number for number, name in enumerate(names)}
    events = _by_owner(np.asarray(column.indices).astype(np.int64), len(names))
    promises = _by_owner(np.array([numbers[name] for name in said.names], np.int64)[said.sources], len(names))
    rows, came, beats, beats_came = [], [], [], []
    for name, mine, its, random in zip(names, events, promises, _randoms(seed, len(names), 2), strict=True):
        instants = np.concatenate([sent.sent[mine], sent.heartbeats_sent[its]])
        for which, at in _deliver_one(instants, len(mine), routes.get(name, Route()), random):
            is_event = which < len(mine)
            rows.append(mine[which[is_event]])
            came.append(at[is_event])
            beats.append(its[which[~is_event] - len(mine)])
            beats_came.append(at[~is_event])
    return Delivery(sent, *_by_arrival(rows, came), *_by_arrival(beats, beats_came))


def _by_owner(owners: Ints, count: int) -> list[Ints]:
    """The places of each owner."""
    order = np.argsort(owners, kind="stable")
    return np.split(order, np.searchsorted(owners[order], np.arange(1, count))) if count else []


def _deliver_one(sent: Ints, events: int, route: Route, random: Generator) -> Iterator[tuple[Ints, Ints]]:
    """Who arrives when, over one route; the second time, those that come twice."""
    order = np.argsort(sent, kind="stable")
    order = order[random.random(len(order)) >= route.loss]
    came = sent[order] + route.delay.draw(random, sent[order])
    # What is overtaken goes its own way; the others queue. A heartbeat overtakes nothing, or it would promise too much.
    overtaken = (random.random(len(order)) < route.reordering) & (order < events)
    queued = np.flatnonzero(~overtaken)
    came[queued] = np.maximum.accumulate(came[queued]) if len(queued) else came[queued]
    came[overtaken] += route.delay.draw(random, sent[order[overtaken]])
    yield order, came
    twice = (random.random(len(order)) < route.duplication) & (order < events)
    yield order[twice], came[twice] + route.delay.draw(random, sent[order[twice]])


def _by_arrival(numbers: Sequence[Ints], came: Sequence[Ints]) -> tuple[Ints, Ints]:
    all_numbers, all_came = (np.concatenate([np.zeros(0, np.int64), *column]) for column in (numbers, came))
    order = np.argsort(all_came, kind="stable")
    return all_numbers[order], all_came[order]
