"""Reading from NATS: a stream without a gap, whatever happens to the connection, and subjects as they are told.

A stream is read by an ephemeral consumer that is asked for so many messages at a time, so that no more are under way
than the reader takes. Consumers number what they deliver. When a number is missing, or the server is silent for longer
than it promised to be, a new consumer is made that begins after the last message that arrived. This is how a link that
was cut loses nothing: the consumer is at the server that keeps the stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from penstock.brokers.nats.subjects import topic_of
from penstock.brokers.protocol import Division, Message
from penstock.brokers.selecting import select
from penstock.brokers.tasks import end

PATIENCE = 5.0
"""After so many seconds of silence a reader asks again."""
ASKED = 2_000
"""So many messages are asked for at a time."""
_BYTES = 16 << 20
_LASTS = 60.0
"""A request for messages lasts for so many seconds, and so does a consumer that nobody asks."""
_SECOND = 1_000_000_000
_ID = "Nats-Msg-Id"
_PENDING = "Nats-Pending-Messages"
_LAST = "Nats-Last-Consumer"
_ALIVE, _TIMED_OUT = "100", "408"


class Arrivals:
    """Messages that have come and wait to be taken together."""

    def __init__(self) -> None:
        self._came: list[Message] = []
        self._event = asyncio.Event()

    def add(self, message: Message) -> None:
        """One more."""
        self._came.append(message)
        self._event.set()

    async def take(self, timeout: float | None) -> list[Message]:
        """All that have come; waits for the first one, or until so many seconds are over."""
        if not self._came:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._event.wait()
        came, self._came = self._came, []
        self._event.clear()
        return came


class NatsListening:
    """Subjects as they are told; the client looks at content."""

    def __init__(self, division: Division) -> None:
        self.division = division
        self._arrivals = Arrivals()
        self._subscriptions: list[Subscription] = []

    async def start(self, client: Client, subjects: list[str]) -> None:
        """Begin to listen; once this returns, the server knows.

        The client sends a ping before what it has yet to send, so that only the answer to the second one says so.
        """
        self._subscriptions = [await client.subscribe(subject, cb=self._take) for subject in subjects]
        await client.flush()
        await client.flush()

    async def _take(self, message: Msg) -> None:
        headers = message.headers or {}
        for one in select([_plain(message, headers, 0)], self.division.rest):
            self._arrivals.add(one)

    async def batch(self, timeout: float | None = None) -> list[Message]:
        """All that has come; waits for the first one."""
        return await self._arrivals.take(timeout)

    async def stop(self) -> None:
        """Listen no more."""
        for one in self._subscriptions:
            with contextlib.suppress(NatsError):
                await one.unsubscribe()


def _plain(message: Msg, headers: dict[str, str], sequence: int) -> Message:
    return Message(topic_of(message.subject), message.data, headers.get(_ID), headers, sequence)


@dataclass
class _Reading:
    """One consumer: what it is called, what it delivers next, and how many messages it was asked for."""

    inbox: Subscription | None = None
    name: str = ""
    next: int = 1
    asked: int = 0


class NatsFollowing:
    """A stream read from some number on."""

    def __init__(
        self,
        client: Client,
        context: JetStreamContext,
        stream: str,
        subjects: list[str],
        after: int,
        division: Division,
        patience: float = PATIENCE,
    ) -> None:
        self.position = after
        self.division = division
        self.waits = True
        self.lost = 0
        self._client, self._context = client, context
        self._stream, self._subjects, self._patience = stream, subjects, patience
        self._received = after
        self._arrivals = Arrivals()
        self._reading: _Reading | None = None
        self._heard = 0.0
        self._broken = asyncio.Event()
        self._task = asyncio.create_task(self._look_after())

    async def batch(self, timeout: float | None = None) -> list[Message]:
        """All that has come; waits for the first one. The client looks at content."""
        while True:
            came = await self._arrivals.take(timeout)
            if came:
                self.position = came[-1].sequence
                await self._ask()
            wanted = select(came, self.division.rest)
            if wanted or timeout is not None:
                return wanted

    async def stop(self) -> None:
        """Read no further."""
        await end(self._task)
        await self._end()

    def renew(self) -> None:
        """The connection was lost and is there again."""
        self._broken.set()

    async def _look_after(self) -> None:
        """Makes a consumer, and another whenever it is broken or silent."""
        loop = asyncio.get_running_loop()
        while True:
            self._broken.clear()
            try:
                await self._begin()
                self.waits = False
            except (NatsError, TimeoutError, ConnectionError):
                self.waits = True
                await self._end()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(self._patience / 4, 1.0)):
                        await self._broken.wait()
                continue
            self._heard = loop.time()
            while not self._broken.is_set() and loop.time() - self._heard < self._patience:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._patience / 4):
                        await self._broken.wait()
            self.waits = True
            await self._end()

    async def _begin(self) -> None:
        reading = self._reading = _Reading()

        async def take(message: Msg) -> None:
            if reading is self._reading:
                await self._take(reading, message)

        reading.inbox = await self._client.subscribe(self._client.new_inbox(), cb=take)
        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=self._received + 1,
            ack_policy=AckPolicy.NONE,
            filter_subjects=self._subjects,
            inactive_threshold=_LASTS,
            mem_storage=True,
            num_replicas=1,
        )
        made = await self._context.add_consumer(self._stream, config, timeout=min(self._patience, 2.0))
        reading.name = made.name
        if self._received:
            state = (await self._context.stream_info(self._stream)).state
            self.lost += max(state.first_seq - self._received - 1, 0)
        await self._ask()

    async def _end(self) -> None:
        reading, self._reading = self._reading, None
        if reading is None or reading.inbox is None:
            return
        with contextlib.suppress(NatsError):
            await reading.inbox.unsubscribe()

    async def _ask(self) -> None:
        """Asks for more, if less than half is left of what was asked for."""
        reading = self._reading
        if reading is None or reading.inbox is None or not reading.name or reading.asked > ASKED // 2:
            return
        reading.asked += ASKED
        request = {
            "batch": ASKED,
            "expires": int(max(_LASTS, 2 * self._patience) * _SECOND),
            "idle_heartbeat": int(self._patience / 2 * _SECOND),
            "max_bytes": _BYTES,
        }
        subject = f"{self._context._prefix}.CONSUMER.MSG.NEXT.{self._stream}.{reading.name}"
        with contextlib.suppress(NatsError):
            await self._client.publish(subject, json.dumps(request).encode(), reply=reading.inbox.subject)

    async def _take(self, reading: _Reading, message: Msg) -> None:
        self._heard = asyncio.get_running_loop().time()
        headers = message.headers or {}
        if "Status" in headers and not message.reply.startswith("$JS.ACK"):
            await self._told(reading, headers)
            return
        consumed, sequence = _numbers(message.reply)
        reading.asked -= 1
        if consumed != reading.next:
            self._broken.set()
            return
        reading.next += 1
        self._received = sequence
        self._arrivals.add(_plain(message, headers, sequence))

    async def _told(self, reading: _Reading, headers: dict[str, str]) -> None:
        status = headers["Status"]
        if status == _ALIVE:
            # What was sent into a link that was just cut is missing here, and the server thinks that it has arrived.
            if int(headers.get(_LAST, 0)) >= reading.next:
                self._broken.set()
            return
        reading.asked = max(reading.asked - int(headers.get(_PENDING, ASKED)), 0)
        if status == _TIMED_OUT or _PENDING in headers:
            await self._ask()
        else:
            self._broken.set()


def _numbers(reply: str) -> tuple[int, int]:
    """The consumer's own number for a message and the stream's, from where the server wants its acknowledgement.

    >>> _numbers("$JS.ACK.office.hash.STREAM.consumer.1.17.5.1700000000.0")
    (5, 17)
    >>> _numbers("$JS.ACK.STREAM.consumer.1.17.5.1700000000.0")
    (5, 17)
    """
    tokens = reply.split(".")
    first = 5 if len(tokens) == 9 else 7
    return int(tokens[first + 1]), int(tokens[first])
