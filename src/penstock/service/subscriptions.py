"""A subscription: composites or events as they come, each once, in the order in which they are delivered."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable

from penstock.algebra.conditions import Condition
from penstock.brokers.protocol import Broker, Following, Message
from penstock.brokers.tasks import end
from penstock.brokers.topics import Topic
from penstock.brokers.wire import lines_of
from penstock.errors import DataError
from penstock.events.cloudevents import from_cloudevent
from penstock.events.event import Event
from penstock.network.addresses import stream_of
from penstock.network.naming import delivered
from penstock.network.plan import Listening

Callback = Callable[[Event], Awaitable[None] | None]
_log = logging.getLogger(__name__)
REMEMBERED = 100_000
"""So many ids are remembered, to know what comes again."""


_Mark = tuple[str, int] | None
"""With an event that is the last one of its message: which stream it came from, and its number there."""


class Subscription:
    """What a subscriber holds: an asynchronous iterator over events, which a callback may be given instead."""

    def __init__(self, name: str, broker: Broker, callback: Callback | None = None) -> None:
        self.name = name
        self.delivered = 0
        self.repeated = 0
        self.rejected = 0
        self.failed = 0
        """How often the callback has failed."""
        self.lapsed = 0
        """How often the nodes took the subscriber for dead; what was found until it said otherwise is missing."""
        self.positions: dict[str, int] = {}
        """For each stream that is read, the number of the last message whose events were all taken."""
        self.durable = False
        """Whether it stays when the subscriber goes, for whoever subscribes by its name again."""
        self.where: Condition | None = None
        """For a type: which of its events are wanted."""
        self.warnings: tuple[str, ...] = ()
        """Types of the pattern that nobody has registered, and why nodes cannot do what was asked for later."""
        self.listening: Listening | None = None
        """For a pattern: how composites are called by the detectors, and by the subscriber."""
        self._broker, self._callback = broker, callback
        self._seen: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._queue: asyncio.Queue[tuple[Event, _Mark] | None] = asyncio.Queue()
        self._following: dict[str, Following] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def hear(self, key: str, site: str, topics: tuple[Topic, ...], after: int) -> None:
        """Read some topics of a site too, unless they are read already; from where they were left, if they were."""
        if key not in self._following:
            start = self.positions.setdefault(key, after)
            following = await self._broker.follow(stream_of(site), topics, start, site, self.where)
            self._following[key] = following
            self._tasks.append(asyncio.create_task(self._pump(key, following)))

    def also(self, work: Awaitable[None]) -> None:
        """Something to be done as long as the subscription lasts."""
        self._tasks.append(asyncio.ensure_future(work))

    async def _pump(self, key: str, following: Following) -> None:
        while True:
            for message in await following.batch():
                events = self._read(message)
                for event in events:
                    await self._deliver(event, (key, message.sequence) if event is events[-1] else None)

    def _read(self, message: Message) -> list[Event]:
        events = []
        for line in lines_of(message):
            try:
                record = json.loads(line)
                if self.listening is not None:
                    if record["type"] not in self.listening.heard:
                        continue
                    events.append(delivered(record, self.listening))
                else:
                    events.append(from_cloudevent(record))
            except (DataError, ValueError, KeyError, TypeError):
                self.rejected += 1
        return [event for event in events if self._is_new(event)]

    def _is_new(self, event: Event) -> bool:
        key = (event.source, event.id)
        if key in self._seen:
            self.repeated += 1
            return False
        self._seen[key] = None
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return True

    async def _deliver(self, event: Event, mark: _Mark) -> None:
        self.delivered += 1
        if self._callback is None:
            self._queue.put_nowait((event, mark))
            return
        try:
            answer = self._callback(event)
            if inspect.isawaitable(answer):
                await answer
        except Exception:
            # A subscriber that fails at one composite still gets the others.
            self.failed += 1
            _log.exception("the callback of %s failed", self.name)
        self._taken(mark)

    def _taken(self, mark: _Mark) -> None:
        if mark is not None:
            self.positions[mark[0]] = max(self.positions[mark[0]], mark[1])

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        taken = await self._queue.get()
        if taken is None:
            self._queue.put_nowait(None)
            raise StopAsyncIteration
        event, mark = taken
        self._taken(mark)
        return event

    async def take(self, count: int, timeout: float = 10.0) -> list[Event]:
        """The next events, as many as are asked for, or those that came until so many seconds were over."""
        events: list[Event] = []
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while len(events) < count:
                    events.append(await anext(self))
        return events

    async def stop(self) -> None:
        """Hear no more; those who iterate come to an end."""
        await end(*self._tasks)
        for following in self._following.values():
            await following.stop()
        self._queue.put_nowait(None)
