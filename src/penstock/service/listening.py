"""How a subscription finds what it shall hear: the detectors of its pattern wherever they run, or a type's sources."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from penstock.algebra.conditions import Condition
from penstock.algebra.expressions import DescribableSet
from penstock.algebra.names import primitive_types
from penstock.algebra.node import walk
from penstock.algebra.pattern import Pattern
from penstock.brokers.protocol import Broker, Bucket, Entry
from penstock.checks.check import parse
from penstock.errors import BrokerError, DataError, PatternError
from penstock.network.addresses import event_topic, found_topic, stream_of
from penstock.network.agreement import Places, remove, write
from penstock.network.directory import Source, key_of, record_of
from penstock.network.directory import Subscription as Wanted
from penstock.network.plan import Listening
from penstock.network.records import from_json
from penstock.network.schemas import unknown_type
from penstock.service.subscriptions import Subscription


async def listen_to_pattern(
    subscription: Subscription, record: Wanted, broker: Broker, directory: Bucket, timeout: float
) -> None:
    """Write a subscription down, and return when its detectors run; then follow them wherever they go."""
    before = await _now_at(broker, directory)
    is_new = not subscription.durable or await directory.get(key_of(record)) is None
    await write(directory, record)
    try:
        await _begin(subscription, record, directory, before, timeout)
    except BaseException:
        await subscription.stop()
        if is_new:
            await remove(directory, record)
            await directory.delete(f"told/{record.name}")
        raise


async def _begin(
    subscription: Subscription, record: Wanted, directory: Bucket, before: dict[str, int], timeout: float
) -> None:
    ready = asyncio.Event()
    try:
        async with asyncio.timeout(timeout):
            told = await _first_told(directory, record.name)
            subscription.listening = told.listening
            subscription.also(_Hearing(subscription, record, directory, before, ready).follow(told))
            await ready.wait()
    except TimeoutError:
        if subscription.listening is not None:
            raise BrokerError(f"the detectors did not start in {timeout:g} seconds") from None
        raise BrokerError(
            f"no node took the subscription in {timeout:g} seconds", hint="start one: penstock node --site NAME"
        ) from None


async def _now_at(broker: Broker, directory: Bucket) -> dict[str, int]:
    """How far the streams of all sites are: what was found before is not for this subscriber."""
    before = {}
    for key in await directory.keys("sites"):
        site = key.partition("/")[2]
        try:
            before[site] = await broker.last(stream_of(site), site)
        except BrokerError:
            continue  # a site that cannot be reached says itself where its detectors begin
    return before


@dataclass(frozen=True)
class _Told:
    """What the nodes have told a subscriber, and the revision at which they did."""

    listening: Listening
    revision: int


def _read(entry: Entry) -> _Told:
    form: dict[str, Any] = json.loads(entry.value or b"{}")
    if "refused" in form:
        raise PatternError(str(form["refused"]))
    return _Told(from_json(Listening, form), entry.revision)


async def _first_told(directory: Bucket, name: str) -> _Told:
    async with aclosing(directory.watch(f"told/{name}")) as watching:
        async for entry in watching:
            if entry.value is not None:
                return _read(entry)
    raise BrokerError("the directory is closed")


@dataclass(frozen=True)
class _Hearing:
    """A subscription that hears detectors; ``before`` is how far streams were, ``ready`` is set when all are heard."""

    subscription: Subscription
    record: Wanted
    directory: Bucket
    before: dict[str, int]
    ready: asyncio.Event

    async def follow(self, told: _Told) -> None:
        """Hears the detectors at every place where they are or will be, and others if a plan gives it others."""
        while True:
            told = await self._hear(told)
            self.subscription.listening = told.listening

    async def _hear(self, told: _Told) -> _Told:
        """Hears some detectors, until the nodes tell it to hear others. Those from before are heard to their end."""
        missing = set(told.listening.detectors)
        keys = [f"places/{name}" for name in told.listening.detectors]
        async with aclosing(self.directory.watch(f"told/{self.record.name}", *keys)) as watching:
            async for entry in watching:
                table, _, name = entry.key.partition("/")
                if table == "told" and entry.revision > told.revision:
                    told = replace(told, revision=entry.revision)
                    if entry.value is None:
                        self.subscription.lapsed += 1
                        await write(self.directory, self.record)
                    else:
                        try:
                            return _read(entry)
                        except PatternError as error:
                            self.subscription.warnings += (str(error),)
                if table == "told" or entry.value is None:
                    continue
                await self._hear_places(name, from_json(Places, json.loads(entry.value)))
                missing.discard(name)
                if not missing:
                    self.ready.set()
        return told

    async def _hear_places(self, detector: str, places: Places) -> None:
        for place in places.places:
            start = max(place.after, self.before.get(place.site, 0))
            topics = (found_topic(place.site, detector),)
            await self.subscription.hear(f"{place.site} {detector}", place.site, topics, start)


async def listen_to_type(subscription: Subscription, type: str, broker: Broker, directory: Bucket) -> None:
    """Hear all events of a type, at every site where there is a source of it."""
    before = await _now_at(broker, directory)
    for key in await directory.keys("sources"):
        entry = await directory.get(key)
        if entry is not None and entry.value is not None:
            await _hear_source(subscription, type, key, entry.value, before)

    async def follow() -> None:
        async for entry in directory.watch("sources/*"):
            if entry.value is not None:
                await _hear_source(subscription, type, entry.key, entry.value, before)

    subscription.also(follow())


def filter_of(type: str, text: str) -> Condition | None:
    """A filter over the attributes of a type, from its text.

    >>> filter_of("Temp", "temp < 15")
    Comparison(operator='<', left=Attribute(name='temp'), right=Literal(value=15))
    """
    quoted = type.replace("'", "''")
    pattern = parse(f"['{quoted}'({text})]")
    sets = [node for node in walk(pattern.definitions[0]) if isinstance(node, DescribableSet)]
    return sets[0].filter


async def _hear_source(subscription: Subscription, type: str, key: str, value: bytes, before: dict[str, int]) -> None:
    try:
        source = record_of(key, json.loads(value))
    except DataError:
        return
    if isinstance(source, Source) and type in source.types:
        site = source.site
        await subscription.hear(site, site, (event_topic(site, type),), before.get(site, 0))


async def known_types(directory: Bucket) -> list[str]:
    """The names of all types that are registered."""
    return [key.partition("/")[2] for key in await directory.keys("types")]


async def unknown_types(pattern: Pattern, directory: Bucket) -> tuple[str, ...]:
    """Warnings about types of a pattern that nobody has registered, where any is; each with the nearest name."""
    types = sorted(primitive_types(pattern))
    missing = [type for type in types if await directory.get(f"types/{type}") is None]
    known = await known_types(directory) if missing else []
    return tuple(str(unknown_type(type, known)) for type in missing) if known else ()
