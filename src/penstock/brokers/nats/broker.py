"""A connection to NATS: JetStream for streams and buckets, plain subjects for what is only told."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import StorageType, StreamConfig
from nats.js.errors import APIError, BadRequestError, NoStreamResponseError, NotFoundError

from penstock.algebra.conditions import Condition
from penstock.brokers.nats.buckets import NatsBucket
from penstock.brokers.nats.streams import PATIENCE, NatsFollowing, NatsListening
from penstock.brokers.nats.subjects import subject_of
from penstock.brokers.nats.trying import AWAY, Trying
from penstock.brokers.protocol import Division, Stream
from penstock.brokers.topics import Topic, checked, escaped
from penstock.errors import BrokerError

_ID = "Nats-Msg-Id"
_ANSWER = 5.0
_OLDEST = (2, 10)
"""Servers before this do not know several filters for one reader."""
_log = logging.getLogger(__name__)


async def connect(url: str, *, name: str = "penstock", patience: float = PATIENCE) -> NatsBroker:
    """Connect to a server; if it goes away later, the connection waits for it to come back.

    ``patience`` is after how many seconds of silence a reader asks whether its stream is still there.
    """
    await _knock(url)
    client = Client()
    broker = NatsBroker(client, patience)
    try:
        async with asyncio.timeout(_ANSWER):
            await client.connect(
                url,
                name=name,
                max_reconnect_attempts=-1,
                reconnect_time_wait=0.1,  # type: ignore[arg-type]
                reconnected_cb=broker.renew,
                error_cb=_told,
                ping_interval=max(10, int(patience / 2)),
                pending_size=64 << 20,
            )
    except (NatsError, OSError, TimeoutError) as error:
        raise _unreachable(url, error) from None
    _check_version(client.connected_server_version.major, client.connected_server_version.minor)
    domain = client._server_info.get("domain")
    broker.site = domain or None
    return broker


async def _knock(url: str) -> None:
    """The client itself never gives up; whether there is anybody at all is found out before."""
    parts = urlsplit(url if "//" in url else f"nats://{url}")
    try:
        async with asyncio.timeout(_ANSWER):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 4222)
    except (OSError, TimeoutError, ValueError) as error:
        raise _unreachable(url, error) from None
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def _unreachable(url: str, error: BaseException) -> BrokerError:
    why = str(error) or type(error).__name__
    return BrokerError(f"no NATS server answers at {url}: {why}", hint="start one: nats-server -js")


def _check_version(major: int, minor: int) -> None:
    if (major, minor) < _OLDEST:
        raise BrokerError(
            f"this NATS server is too old: {major}.{minor}", hint="2.10 or newer; penstock[brokers] brings one"
        )


async def _told(error: Exception) -> None:
    _log.debug("nats: %s", error)


class NatsBroker:
    """A connection to a NATS server; content is left to clients, types are subjects."""

    def __init__(self, client: Client, patience: float = PATIENCE) -> None:
        self.site: str | None = None
        self._client, self._patience = client, patience
        self._trying, self._publishing = Trying(), Trying(unheard=patience)
        self._context = JetStreamContext(client, timeout=_ANSWER)
        self._following: weakref.WeakSet[NatsFollowing] = weakref.WeakSet()

    async def publish(
        self, topic: Topic, body: bytes, *, id: str | None = None, headers: Mapping[str, str] | None = None
    ) -> int:
        """Put a message into the stream that keeps its topic; waits for a broker that is away."""
        subject = subject_of(checked(topic))
        given = {**(headers or {}), **({_ID: id} if id is not None else {})}
        try:
            made = await self._publishing(lambda: self._context.publish(subject, body, headers=dict(given)))
        except NoStreamResponseError:
            raise BrokerError(f"no stream keeps {'/'.join(topic)}", hint="keep() one with this topic") from None
        except NatsError as error:
            raise BrokerError(f"{subject} could not be published: {error}") from None
        return int(made.seq)

    async def tell(self, topic: Topic, body: bytes) -> None:
        """Send a message to those who listen now."""
        with contextlib.suppress(*AWAY):
            await self._client.publish(subject_of(checked(topic)), body)

    def divide(self, where: Condition | None) -> Division:
        """NATS looks at subjects alone."""
        return Division(pushed=None, rest=where)

    async def listen(self, topics: Sequence[Topic], where: Condition | None = None) -> NatsListening:
        """Listen to patterns of topics."""
        listening = NatsListening(self.divide(where))
        await listening.start(self._client, [subject_of(topic) for topic in topics])
        return listening

    async def keep(self, stream: Stream) -> None:
        """Have a stream kept at this broker."""
        config = StreamConfig(
            name=escaped(stream.name),
            subjects=[subject_of(topic) for topic in stream.topics],
            storage=StorageType.FILE,
            max_age=stream.max_age,
            max_bytes=stream.max_bytes,
            duplicate_window=min(stream.window, stream.max_age),
        )
        try:
            await self._trying(lambda: self._made(config))
        except (NatsError, APIError) as error:
            raise BrokerError(f"the stream {stream.name!r} cannot be kept: {error}") from None

    async def _made(self, config: StreamConfig) -> None:
        try:
            await self._context.add_stream(config)
        except BadRequestError:
            await self._context.update_stream(config)

    async def last(self, stream: str, site: str | None = None) -> int:
        """The number of a stream's newest message."""
        try:
            info = await Trying(_ANSWER)(lambda: self._at(site).stream_info(escaped(stream)))
        except NotFoundError:
            raise BrokerError(f"there is no stream {stream!r}", hint="keep() it first") from None
        except (NatsError, TimeoutError) as error:
            raise BrokerError(f"the stream {stream!r} cannot be reached: {error}") from None
        return int(info.state.last_seq)

    async def follow(
        self,
        stream: str,
        topics: Sequence[Topic],
        after: int = 0,
        site: str | None = None,
        where: Condition | None = None,
    ) -> NatsFollowing:
        """Read a stream, of this site's broker or of another's."""
        return self._follow(escaped(stream), [subject_of(topic) for topic in topics], after, site, where)

    def _follow(
        self, stream: str, subjects: list[str], after: int, site: str | None, where: Condition | None = None
    ) -> NatsFollowing:
        following = NatsFollowing(
            self._client, self._at(site), stream, subjects, after, self.divide(where), self._patience
        )
        self._following.add(following)
        return following

    async def bucket(self, name: str, site: str | None = None) -> NatsBucket:
        """A bucket, made if it is not there."""
        context = self._at(site)
        config = StreamConfig(
            name=f"KV_{escaped(name)}",
            subjects=[f"$KV.{escaped(name)}.>"],
            max_msgs_per_subject=1,
            allow_rollup_hdrs=True,
            allow_direct=True,
            deny_delete=True,
            discard="new",  # type: ignore[arg-type]
            storage=StorageType.FILE,
        )
        with contextlib.suppress(BadRequestError):
            await self._trying(lambda: context.add_stream(config))

        async def follow(stream: str, subjects: list[str]) -> NatsFollowing:
            return self._follow(stream, subjects, 0, site)

        return NatsBucket(context, escaped(name), follow, self._trying)

    def _at(self, site: str | None) -> JetStreamContext:
        """The JetStream of a site's server; a site that is none of the servers' own is at this one."""
        if site is None or site == self.site or self.site is None:
            return self._context
        return JetStreamContext(self._client, domain=site, timeout=_ANSWER)

    async def renew(self) -> None:
        """The connection was lost and is there again: readers begin where they were."""
        for following in self._following:
            following.renew()

    async def close(self) -> None:
        """End the connection; what was published is with the broker by then."""
        for following in list(self._following):
            await following.stop()
        with contextlib.suppress(NatsError, TimeoutError):
            await self._client.flush(timeout=1)
        await self._client.close()
