"""A day in the Active Office, from one seed, in virtual time: what happens, what sensors say, and when it arrives."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence, default_rng

from penstock.events.order import ordered
from penstock.events.table import EventTable
from penstock.events.times import SECOND
from penstock.scenarios.office.building import BUILDING, Building
from penstock.scenarios.office.movement import Story, walk
from penstock.scenarios.office.sensors import joined, observed, route, sent_by
from penstock.testing.simulator import Arrival, Delivery, Heartbeat, Ints, Sent, deliver

BEGIN = 1_772_438_400 * SECOND
"""2026-03-02, eight o'clock, UTC."""


@dataclass(frozen=True)
class Day:
    """What happened, and what came of it: events and heartbeats by when they were sent and when they arrived.

    ``end`` is the end of the last event's stamp. The last thing that each source says is a heartbeat of that instant,
    so that everything is stable once all has arrived, and nothing more happens than in the events alone.
    """

    building: Building
    story: Story
    sources: tuple[str, ...]
    delivery: Delivery
    end: int

    @property
    def sent(self) -> Sent:
        """Events and heartbeats, with the instants of sending."""
        return self.delivery.sent

    @property
    def events(self) -> EventTable:
        """All events, in the weak order."""
        return ordered(self.sent.table)[0]

    def arrivals(self, tick: int = 60 * SECOND) -> Iterator[Arrival]:
        """What comes in, by the instants at which it does; what comes within a tick comes together."""
        return self.delivery.arrivals(tick)


def simulate(
    seed: int = 1, hours: float = 9.0, building: Building = BUILDING, kinds: Container[str] | None = None
) -> Day:
    """A day of so many hours; with ``kinds``, as only those sensors tell it: bat, door, thermometer, board, host.

    >>> day = simulate(seed=1, hours=1)
    >>> len(day.sources), len(day.events) == len(simulate(seed=1, hours=1).events) > 1000
    (44, True)
    >>> sorted(set(day.events.field("type").to_pylist()))
    ['BoardOff', 'BoardOn', 'Door', 'Login', 'Person', 'Temperature']
    >>> len(simulate(seed=1, hours=1, kinds=["board", "host"]).sources)
    11
    """
    moving, observing, *each = SeedSequence(seed).spawn(2 + 256)
    story = walk(building, BEGIN, round(hours * 60), default_rng(moving))
    every = zip(observed(building, story, default_rng(observing)), each, strict=False)
    heard = [(one, child) for one, child in every if kinds is None or one.kind.name in kinds]
    said = [one for one, _ in heard]
    sent = joined([sent_by(one, story, default_rng(child)) for one, child in heard])
    end = int(sent.table.numbers("hi").max())
    sources = tuple(one.source for one in said)
    delivery = deliver(_closed(sent, sources, end), {one.source: route(one) for one in said}, seed)
    return Day(building, story, sources, delivery, end)


def _closed(sent: Sent, sources: tuple[str, ...], end: int) -> Sent:
    """The same, and then every source says that it is past the end."""
    last = tuple(Heartbeat(source, end) for source in sources)
    instants: Ints = np.full(len(last), int(sent.sent.max()) + 1)
    return Sent(sent.table, sent.sent, (*sent.heartbeats, *last), np.concatenate([sent.heartbeats_sent, instants]))
