"""What every broker can do, as far as detection needs it: the whole interface of an adapter.

A broker passes messages on by topic. It keeps some topics in *streams*: what is published there is numbered, a message
with an id that was there before is not kept again, and everybody can read from any number on. *Buckets* hold values
under keys, with a revision for each, so that several can agree on one. Brokers of one system stand at *sites*; the
stream or bucket of another site is reached through the broker that one is connected to.

JMS, MQTT and Kafka have these too, by other names or by little programs beside them: topics and selectors, retained
messages and bridges, partitions and compacted topics.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from penstock.algebra.conditions import Condition
from penstock.brokers.topics import Topic


@dataclass(frozen=True, slots=True)
class Message:
    """What was published; ``sequence`` is its number in the stream that keeps it, 0 if none does."""

    topic: Topic
    body: bytes
    id: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    sequence: int = 0


@dataclass(frozen=True)
class Stream:
    """A stream to be kept: all that is published to its topics, in order.

    ``max_age`` is for how many seconds, ``max_bytes`` how much of it at most; ``window`` is for how many seconds ids
    are remembered, at least.
    """

    name: str
    topics: tuple[Topic, ...]
    max_age: float = 86_400.0
    max_bytes: int = 1 << 30
    window: float = 120.0


@dataclass(frozen=True)
class Division:
    """How a content filter was divided: what the broker looks at, and what is left for the client; None for nothing."""

    pushed: Condition | None
    rest: Condition | None


@dataclass(frozen=True)
class Entry:
    """A value in a bucket; ``value`` is None for a key that was deleted."""

    key: str
    value: bytes | None
    revision: int


class Listening(Protocol):
    """Messages that come from now on, and are gone if nobody listens."""

    division: Division

    async def batch(self, timeout: float | None = None) -> list[Message]:
        """All that has come; waits for the first one, or until so many seconds are over."""

    async def stop(self) -> None:
        """Listen no more."""


class Following(Protocol):
    """A stream read from some number on: nothing is left out or told twice, also when a link or a broker comes back."""

    position: int
    """The number of the last message that was given out, or that is known not to concern the reader."""
    waits: bool
    """Whether the stream cannot be reached at present."""
    lost: int
    """How many messages, of any topic, the stream had let go of before they could be read."""
    division: Division
    """How its content filter was divided."""

    async def batch(self, timeout: float | None = None) -> list[Message]:
        """All that has come; waits for the first one, or until so many seconds are over."""

    async def stop(self) -> None:
        """Read no further."""


class Bucket(Protocol):
    """Values under keys; a key has a name, or two with a ``/`` between: a table and a row of it."""

    async def get(self, key: str) -> Entry | None:
        """The value of a key, if there is one."""

    async def put(self, key: str, value: bytes, revision: int | None = None) -> int | None:
        """Set a value; returns its revision.

        With a ``revision``, only if the key's value still has that (0: if there is none); None if it has not.
        """

    async def delete(self, key: str) -> None:
        """Remove a key."""

    async def keys(self, table: str | None = None) -> list[str]:
        """All keys that have values, or those of one table."""

    def watch(self, *keys: str) -> AsyncGenerator[Entry, None]:
        """All values that there are, or those of some keys, then every change; goes on when the broker comes back.

        ``table/*`` stands for all keys of a table.
        """


class Broker(Protocol):
    """A connection to a broker."""

    site: str | None
    """The name that the broker itself has for its site, if it has one."""

    async def publish(
        self, topic: Topic, body: bytes, *, id: str | None = None, headers: Mapping[str, str] | None = None
    ) -> int:
        """Put a message into the stream that keeps its topic, and return its number there.

        A message with an ``id`` that the stream has already is not kept again. If the broker is away, this waits for
        it and tries again, so give an id.
        """

    async def tell(self, topic: Topic, body: bytes) -> None:
        """Send a message to those who listen now."""

    def divide(self, where: Condition | None) -> Division:
        """What this broker can look at of a content filter, and what it leaves to its clients."""

    async def listen(self, topics: Sequence[Topic], where: Condition | None = None) -> Listening:
        """Listen to patterns of topics; of events only to those for which a filter over their attributes holds.

        The broker looks at what it can, the client at the rest.
        """

    async def keep(self, stream: Stream) -> None:
        """Have a stream kept at this broker; if it is there already, with these topics and limits from now on."""

    async def last(self, stream: str, site: str | None = None) -> int:
        """The number of a stream's newest message, 0 if it has had none."""

    async def follow(
        self,
        stream: str,
        topics: Sequence[Topic],
        after: int = 0,
        site: str | None = None,
        where: Condition | None = None,
    ) -> Following:
        """Read a stream, of this site's broker or of another's: what it has of some topics after a number.

        Of events only those for which a filter over their attributes holds: the broker looks at what it can, the client
        at the rest.
        """

    async def bucket(self, name: str, site: str | None = None) -> Bucket:
        """A bucket of this site's broker, made if it is not there, or of another's."""

    async def close(self) -> None:
        """End the connection; what was published is with the broker by then."""
