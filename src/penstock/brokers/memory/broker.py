"""A broker in this process, which any number of connections share: streams, buckets and topics in plain memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.algebra.conditions import Condition
from penstock.brokers.memory.buckets import MemoryBucket
from penstock.brokers.memory.streams import Kept, MemoryFollowing, MemoryListening
from penstock.brokers.protocol import Division, Message, Stream
from penstock.brokers.topics import Topic, checked, is_in_any
from penstock.errors import BrokerError


@dataclass
class Memory:
    """What brokers in one process hold: `connect` gives connections to it.

    >>> import asyncio
    >>> async def hello(memory: Memory) -> list[bytes]:
    ...     broker = memory.connect()
    ...     await broker.keep(Stream("greetings", (("hello",),)))
    ...     await broker.publish(("hello",), b"world", id="1")
    ...     await broker.publish(("hello",), b"world", id="1")
    ...     following = await broker.follow("greetings", [("hello",)])
    ...     return [message.body for message in await following.batch()]
    >>> asyncio.run(hello(Memory()))
    [b'world']
    """

    streams: dict[str, Kept] = field(default_factory=dict)
    buckets: dict[str, MemoryBucket] = field(default_factory=dict)
    listening: list[MemoryListening] = field(default_factory=list)

    def connect(self) -> MemoryBroker:
        """A connection."""
        return MemoryBroker(self)


class MemoryBroker:
    """A connection to `Memory`; it looks at whole content filters itself."""

    def __init__(self, memory: Memory) -> None:
        self.site: str | None = None
        self._memory = memory
        self._readers: list[MemoryFollowing | MemoryListening] = []

    async def publish(
        self, topic: Topic, body: bytes, *, id: str | None = None, headers: Mapping[str, str] | None = None
    ) -> int:
        """Put a message into the stream that keeps its topic."""
        checked(topic)
        kept = [stream for stream in self._memory.streams.values() if is_in_any(topic, stream.stream.topics)]
        if not kept:
            raise BrokerError(f"no stream keeps {'/'.join(topic)}", hint="keep() one with this topic")
        message = Message(topic, body, id, dict(headers or {}))
        self._spread(message)
        return kept[0].add(message)

    async def tell(self, topic: Topic, body: bytes) -> None:
        """Send a message to those who listen now."""
        self._spread(Message(checked(topic), body))

    def _spread(self, message: Message) -> None:
        for one in self._memory.listening:
            one.take(message)

    def divide(self, where: Condition | None) -> Division:
        """It looks at everything."""
        return Division(pushed=where, rest=None)

    async def listen(self, topics: Sequence[Topic], where: Condition | None = None) -> MemoryListening:
        """Listen to patterns of topics, and to the events for which a filter holds."""
        listening = MemoryListening(tuple(topics), self.divide(where), self._memory.listening)
        self._memory.listening.append(listening)
        self._readers.append(listening)
        return listening

    async def keep(self, stream: Stream) -> None:
        """Have a stream kept."""
        others = [one for one in self._memory.streams.values() if one.stream.name != stream.name]
        taken = [one.stream.name for one in others for topic in stream.topics if topic in one.stream.topics]
        if taken:
            raise BrokerError(f"the stream {taken[0]!r} keeps a topic of {stream.name!r} already")
        known = self._memory.streams.setdefault(stream.name, Kept(stream))
        known.stream = stream

    async def last(self, stream: str, site: str | None = None) -> int:
        """The number of a stream's newest message."""
        return self._kept(stream).last

    async def follow(
        self,
        stream: str,
        topics: Sequence[Topic],
        after: int = 0,
        site: str | None = None,
        where: Condition | None = None,
    ) -> MemoryFollowing:
        """Read a stream from a number on, and of its events those for which a filter holds."""
        following = MemoryFollowing(stream, self._memory.streams, tuple(topics), after, self.divide(where))
        self._readers.append(following)
        return following

    def _kept(self, stream: str) -> Kept:
        if stream not in self._memory.streams:
            raise BrokerError(f"there is no stream {stream!r}", hint="keep() it first")
        return self._memory.streams[stream]

    async def bucket(self, name: str, site: str | None = None) -> MemoryBucket:
        """A bucket, made if it is not there."""
        return self._memory.buckets.setdefault(name, MemoryBucket())

    async def close(self) -> None:
        """End the connection."""
        for reader in self._readers:
            await reader.stop()
