"""Streams and topics in memory."""

from __future__ import annotations

import asyncio
import contextlib
from bisect import bisect_right
from collections.abc import MutableMapping
from dataclasses import replace

from penstock.brokers.protocol import Division, Message, Stream
from penstock.brokers.selecting import select
from penstock.brokers.topics import Topic, is_in_any

_POLL = 0.02
"""A stream that is not there yet is looked for this often, in seconds."""


async def happened(event: asyncio.Event, timeout: float | None) -> bool:
    """Waits for an event, no longer than so many seconds; says whether it came."""
    if timeout is None:
        return await event.wait()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            return await event.wait()
    return False


class Kept:
    """What a stream has kept. Ids are remembered as long as their messages are there."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.messages: list[Message] = []
        self.last = 0
        self.readers: set[asyncio.Event] = set()
        self._ids: dict[str, int] = {}
        self._size = 0

    def add(self, message: Message) -> int:
        """Keeps a message, unless its id is there; returns its number."""
        if message.id is not None and message.id in self._ids:
            return self._ids[message.id]
        self.last += 1
        self.messages.append(replace(message, sequence=self.last))
        self._size += len(message.body)
        if message.id is not None:
            self._ids[message.id] = self.last
        while self._size > self.stream.max_bytes and len(self.messages) > 1:
            self._drop()
        for reader in self.readers:
            reader.set()
        return self.last

    def _drop(self) -> None:
        gone = self.messages.pop(0)
        self._size -= len(gone.body)
        if gone.id is not None:
            del self._ids[gone.id]

    def after(self, number: int) -> list[Message]:
        """The messages with larger numbers."""
        return self.messages[bisect_right(self.messages, number, key=lambda message: message.sequence) :]


class MemoryFollowing:
    """A stream read from some number on; it ``waits`` while there is no such stream."""

    def __init__(
        self, name: str, streams: MutableMapping[str, Kept], topics: tuple[Topic, ...], after: int, division: Division
    ) -> None:
        self.position = after
        self.division = division
        self.waits = name not in streams
        self.lost = 0
        self._name, self._streams, self._topics = name, streams, topics
        self._grown = asyncio.Event()
        self._grown.set()

    async def batch(self, timeout: float | None = None) -> list[Message]:
        """All that has come; waits for the first one."""
        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + timeout
        while True:
            self.waits = self._name not in self._streams
            if self.waits:
                await asyncio.sleep(_POLL)
            elif await happened(self._grown, None if end is None else max(end - loop.time(), 0)):
                found = self._take(self._streams[self._name])
                if found:
                    return found
            if end is not None and loop.time() >= end:
                return []

    def _take(self, kept: Kept) -> list[Message]:
        self._grown.clear()
        kept.readers.add(self._grown)
        fresh = kept.after(self.position)
        if self.position and fresh:
            self.lost += fresh[0].sequence - self.position - 1
        self.position = max(self.position, kept.last)
        wanted = [message for message in fresh if is_in_any(message.topic, self._topics)]
        return select(wanted, self.division.pushed)

    async def stop(self) -> None:
        """Read no further."""
        for kept in self._streams.values():
            kept.readers.discard(self._grown)


class MemoryListening:
    """Messages that come from now on."""

    def __init__(self, topics: tuple[Topic, ...], division: Division, others: list[MemoryListening]) -> None:
        self.division = division
        self._topics, self._others = topics, others
        self._came: list[Message] = []
        self._event = asyncio.Event()

    def take(self, message: Message) -> None:
        """A message was sent, if it is one for this listener."""
        if is_in_any(message.topic, self._topics):
            self._came += select([message], self.division.pushed)
            if self._came:
                self._event.set()

    async def batch(self, timeout: float | None = None) -> list[Message]:
        """All that has come; waits for the first one."""
        await happened(self._event, timeout)
        self._event.clear()
        came, self._came = self._came, []
        return came

    async def stop(self) -> None:
        """Listen no more."""
        if self in self._others:
            self._others.remove(self)
