"""Publishers: sources of events of registered types, with heartbeats when they have nothing to say."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from penstock.brokers.protocol import Broker
from penstock.brokers.tasks import end
from penstock.brokers.wire import batch, packed, structured
from penstock.errors import BrokerError, DataError
from penstock.events.event import Event, Value
from penstock.events.instant import instant
from penstock.network.addresses import beat_topic, event_topic
from penstock.network.detecting import Beat
from penstock.network.directory import EventType, Source
from penstock.network.schemas import unknown_type
from penstock.service.types import event_of

_FAR = 2**62
_FORGOTTEN = 1000
"""Of so many events that were created and never published the oldest is no longer waited for."""
TOGETHER = 500
"""So many events go into one message at most."""


class Publisher:
    """A source at a site: what it publishes is stamped by its clock, checked against its types, and kept by the broker.

    It sends a heartbeat of a type when it has published no event of it for its period; with no period, only when told.
    """

    def __init__(self, source: Source, types: dict[str, EventType], broker: Broker, clock: Callable[[], int]) -> None:
        self.source = source
        self.types = types
        self._broker, self._clock = broker, clock
        self._spoken: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._open: dict[str, int] = {}

    @property
    def name(self) -> str:
        """Its name as a source."""
        return self.source.name

    def create(
        self,
        type: EventType | str,
        time: int | str | datetime | None = None,
        *,
        id: str | None = None,
        **attributes: Value,
    ) -> Event:
        """An event of one of its types, now or at a given time."""
        known = self._type(type if isinstance(type, str) else type.name)
        at = self._clock() if time is None else time
        error = self.source.clock_error
        event = event_of(known, attributes, source=self.name, time=at, id=id, clock_error=error)
        if time is None:
            self._open[event.id] = event.hi
        return event

    def _type(self, name: str) -> EventType:
        if name not in self.types:
            raise unknown_type(name, self.types)
        return self.types[name]

    async def publish(self, *events: Event) -> None:
        """Publish events, in the order in which they are given; many of one type go together."""
        for event in events:
            self._check(event)
        async with self._turn:
            for group in _grouped(events):
                await self._send(group)

    def _check(self, event: Event) -> None:
        self._type(event.type)
        if event.source != self.name:
            raise DataError(f"an event of {event.source!r} cannot be published by {self.name!r}")

    async def _send(self, group: Sequence[Event]) -> None:
        type = group[0].type
        names = " ".join(event.id for event in group)
        id = names if len(group) == 1 else hashlib.sha256(names.encode()).hexdigest()[:32]
        self._spoken[type] = asyncio.get_running_loop().time()
        body, headers = packed(batch([structured(event) for event in group]))
        await self._broker.publish(event_topic(self.source.site, type), body, id=f"{self.name} {id}", headers=headers)
        for event in group:
            self._open.pop(event.id, None)

    async def heartbeat(self, at: int | str | datetime | None = None) -> None:
        """Promise that later events end after ``at``; now, unless another time is given."""
        async with self._turn:
            moment = self._reached() if at is None else instant(at, None, None)
            await self._beat(Beat(self.name, moment), self.types)

    def _reached(self) -> int:
        """What can be promised now: events that were created and not yet published are still to come."""
        while len(self._open) > _FORGOTTEN:
            del self._open[next(iter(self._open))]
        return min(self._clock() + self.source.clock_error, *self._open.values(), _FAR) - 1

    async def _beat(self, beat: Beat, types: Iterable[str]) -> None:
        for type in types:
            await self._broker.publish(beat_topic(self.source.site, type), beat.to_bytes())

    async def leave(self) -> None:
        """Nothing more comes from this source."""
        await self.rest()
        async with self._turn:
            await self._beat(Beat(self.name, self._clock(), left=True), self.types)

    def begin(self) -> None:
        """Send heartbeats from now on, if it has a period."""
        if self.source.heartbeat > 0:
            self._task = asyncio.create_task(self._beating(self.source.heartbeat / 1_000_000))

    async def rest(self) -> None:
        """Send no more heartbeats."""
        await end(self._task)

    async def _beating(self, period: float) -> None:
        loop = asyncio.get_running_loop()
        while True:
            silent = [type for type in self.types if loop.time() - self._spoken.get(type, 0.0) >= period * 0.9]
            if silent:
                with contextlib.suppress(BrokerError):
                    async with self._turn:
                        await self._beat(Beat(self.name, self._reached()), silent)
            await asyncio.sleep(period)


def _grouped(events: Sequence[Event]) -> Iterable[Sequence[Event]]:
    """Events in a row of one type, not too many."""
    start = 0
    for place in range(1, len(events) + 1):
        is_end = place == len(events) or events[place].type != events[start].type or place - start == TOGETHER
        if is_end:
            yield events[start:place]
            start = place
