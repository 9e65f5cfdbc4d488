"""Buckets of NATS: a stream that keeps the last message of each subject, read like any other."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError

from penstock.brokers.nats.streams import NatsFollowing
from penstock.brokers.nats.trying import Trying
from penstock.brokers.protocol import Entry
from penstock.brokers.topics import escaped, unescaped
from penstock.errors import BrokerError

_OPERATION = "KV-Operation"
_EXPECTED = "Nats-Expected-Last-Subject-Sequence"
_WRONG_REVISION = (10071, 10164)
T = TypeVar("T")
Follow = Callable[[str, list[str]], Awaitable[NatsFollowing]]


class NatsBucket:
    """Values under keys, as NATS clients in every language see them."""

    def __init__(self, context: JetStreamContext, name: str, follow: Follow, trying: Trying) -> None:
        self._context, self._name, self._follow, self._trying = context, name, follow, trying
        self._stream = f"KV_{name}"
        # The bucket of another site is reached through the API of its JetStream, values included.
        prefix = context._prefix
        self._written = f"$KV.{name}." if prefix == "$JS.API" else f"{prefix}.$KV.{name}."

    async def get(self, key: str) -> Entry | None:
        """The value of a key, if there is one."""
        entry = await self._asked(lambda: self._latest(key))
        return entry if entry is not None and entry.value is not None else None

    async def _latest(self, key: str) -> Entry | None:
        try:
            found = await self._context.get_last_msg(self._stream, f"$KV.{self._name}.{_level(key)}")
        except NotFoundError:
            return None
        gone = _OPERATION in (found.headers or {})
        return Entry(key, None if gone else found.data or b"", found.seq or 0)

    async def put(self, key: str, value: bytes, revision: int | None = None) -> int | None:
        """Set a value, with a ``revision`` only if the key still has that."""
        if revision == 0:
            latest = await self._asked(lambda: self._latest(key))
            if latest is not None and latest.value is not None:
                return None
            revision = latest.revision if latest else 0
        headers = {} if revision is None else {_EXPECTED: str(revision)}
        return await self._asked(lambda: self._publish(key, value, headers))

    async def _publish(self, key: str, value: bytes, headers: dict[str, str]) -> int | None:
        try:
            made = await self._context.publish(self._written + _level(key), value, headers=dict(headers))
        except APIError as error:
            if error.err_code in _WRONG_REVISION:
                return None
            raise
        return int(made.seq)

    async def _asked(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What the broker answers, as soon as it is there."""
        try:
            return await self._trying(ask)
        except NatsError as error:
            raise BrokerError(f"the bucket {self._name!r} cannot be used: {error}") from None

    async def delete(self, key: str) -> None:
        """Remove a key."""
        await self._asked(lambda: self._publish(key, b"", {_OPERATION: "DEL"}))

    async def keys(self, table: str | None = None) -> list[str]:
        """All keys that have values, or those of one table."""
        prefix = f"$KV.{self._name}."
        wanted = f"{prefix}>" if table is None else f"{prefix}{escaped(table)}.>"
        info = await self._asked(lambda: self._context.stream_info(self._stream, subjects_filter=wanted))
        subjects = (info.state.subjects or {}).keys()
        names = sorted(_key(subject.removeprefix(prefix)) for subject in subjects)
        return [name for name in names if await self.get(name) is not None]

    async def watch(self, *keys: str) -> AsyncGenerator[Entry, None]:
        """All values that there are, or those of some keys, then every change."""
        names = [_level(key) for key in keys] or [">"]
        following = await self._follow(self._stream, [f"$KV.{self._name}.{name}" for name in names])
        try:
            while True:
                for message in await following.batch():
                    gone = _OPERATION in message.headers
                    yield Entry("/".join(message.topic[1:]), None if gone else message.body, message.sequence)
        finally:
            await following.stop()


def _level(key: str) -> str:
    """A key or a pattern of keys as the end of a subject.

    >>> _level("sources/door-1"), _level("sources/*"), _level("agreement")
    ('sources.door-1', 'sources.*', 'agreement')
    """
    table, slash, row = key.partition("/")
    return escaped(table) + (f".{'*' if row == '*' else escaped(row)}" if slash else "")


def _key(level: str) -> str:
    """The key at the end of a subject."""
    return "/".join(unescaped(part) for part in level.split("."))
