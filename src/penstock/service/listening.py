"""How a subscription finds what it shall hear: the detectors of its pattern wherever they run, or a type's sources."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from penstock.brokers.protocol import Broker, Bucket
from penstock.errors import BrokerError, DataError, PatternError
from penstock.network.addresses import event_topic, found_topic, stream_of
from penstock.network.agreement import Places, remove, write
from penstock.network.directory import Source, record_of
from penstock.network.directory import Subscription as Wanted
from penstock.network.plan import Listening
from penstock.network.records import from_json
from penstock.service.subscriptions import Subscription


async def listen_to_pattern(
    subscription: Subscription, record: Wanted, broker: Broker, directory: Bucket, timeout: float
) -> None:
    """Write a subscription down, and return when its detectors run; then follow them wherever they go."""
    before = await _now_at(broker, directory)
    await write(directory, record)
    try:
        async with asyncio.timeout(timeout):
            listening = await _told(directory, record.name)
    except TimeoutError:
        await remove(directory, record)
        raise BrokerError(
            f"no node took the subscription in {timeout:g} seconds", hint="start one: penstock node --site NAME"
        ) from None
    except PatternError:
        await remove(directory, record)
        raise
    subscription.listening = listening
    ready = asyncio.Event()
    subscription.also(_follow(subscription, listening, directory, before, ready))
    try:
        async with asyncio.timeout(timeout):
            await ready.wait()
    except TimeoutError:
        raise BrokerError(f"the detectors did not start in {timeout:g} seconds") from None


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


async def _told(directory: Bucket, name: str) -> Listening:
    async for entry in directory.watch(f"told/{name}"):
        if entry.value is not None:
            form: dict[str, Any] = json.loads(entry.value)
            if "refused" in form:
                raise PatternError(str(form["refused"]))
            return from_json(Listening, form)
    raise BrokerError("the directory is closed")


async def _follow(
    subscription: Subscription, listening: Listening, directory: Bucket, before: dict[str, int], ready: asyncio.Event
) -> None:
    """Hears the detectors at every place where they are or will be."""
    missing = set(listening.detectors)
    async for entry in directory.watch(*(f"places/{name}" for name in listening.detectors)):
        if entry.value is None:
            continue
        name = entry.key.partition("/")[2]
        for place in from_json(Places, json.loads(entry.value)).places:
            start = max(place.after, before.get(place.site, 0))
            await subscription.hear(f"{place.site} {name}", place.site, (found_topic(place.site, name),), start)
        missing.discard(name)
        if not missing:
            ready.set()


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


async def _hear_source(subscription: Subscription, type: str, key: str, value: bytes, before: dict[str, int]) -> None:
    try:
        source = record_of(key, json.loads(value))
    except DataError:
        return
    if isinstance(source, Source) and type in source.types:
        site = source.site
        await subscription.hear(site, site, (event_topic(site, type),), before.get(site, 0))
