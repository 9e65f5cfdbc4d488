"""The service that applications use (figure 5 of the paper): types, publishers, subscriptions to types and patterns.

An application never sees where detectors run. It is connected to the broker of one site; a subscription to a pattern is
written into the directory, the nodes start detectors for it, and the subscriber reads what they find.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Self

from penstock.algebra.pattern import Pattern
from penstock.brokers.connecting import connect
from penstock.brokers.memory.broker import Memory
from penstock.brokers.protocol import Broker, Bucket
from penstock.brokers.tasks import end
from penstock.checks.check import parse
from penstock.detection.plan import plan_of
from penstock.errors import BrokerError, DataError
from penstock.events.durations import parse_duration
from penstock.events.event import Event, Value
from penstock.events.times import EARLIEST
from penstock.network.addresses import ADMINISTRATION, DIRECTORY, beat_topic, site_stream
from penstock.network.agreement import put_json, remove, write
from penstock.network.detecting import Beat
from penstock.network.directory import EventType, Hints, Options, Site, Source, record_of
from penstock.network.directory import Subscription as Wanted
from penstock.network.node import NetworkNode, Settings
from penstock.network.policies import policy_of
from penstock.network.schemas import unknown_type
from penstock.ordering.policies import Policy, parse_policy
from penstock.service.listening import filter_of, known_types, listen_to_pattern, listen_to_type, unknown_types
from penstock.service.publishers import Publisher
from penstock.service.subscriptions import Callback, Subscription
from penstock.service.types import event_type

_READY = 30.0
_LOOKS, _SOON = 20, 0.05
"""So often it is looked for what was asked of the nodes, with so many seconds between, until they are asked again."""


def _now() -> int:
    return time.time_ns() // 1000


class Service:
    """A connection of an application to a system of brokers and nodes.

    Args:
        broker: An address such as ``nats://127.0.0.1:4222``, ``memory:`` for a broker of its own in this process, or a
            `penstock.testing.broker.Memory` that is shared.
        site: The name of the broker's site; its own name for it, if it has one, or ``local``.
        embedded: Whether a node runs inside; it does with ``memory:``, since there is no other.
        settings: Those of nodes; of them ``directory`` is the site whose broker has the directory.
        clock: Tells the time in microseconds, for events that are not given one.
        lease: If nothing is heard of this application for so long, it is taken to be dead, and its subscriptions go,
            but for durable ones. It says three times as often that it lives.

    >>> import asyncio
    >>> async def doors() -> int:
    ...     async with Service() as service:
    ...         opened = service.create_type("Open", door=str)
    ...         closed = service.create_type("Close", door=str)
    ...         door = await service.register_type(opened, "door-1", heartbeat=None)
    ...         await service.register_type(closed, "door-1")
    ...         found = await service.subscribe("[Open(door = $d)] ; [Close(door = $d)]")
    ...         await door.publish(door.create(opened, 5, door="D1"), door.create(closed, 9, door="D1"))
    ...         await door.heartbeat(at=10)
    ...         return (await anext(found)).hi
    >>> asyncio.run(doors())
    9
    """

    def __init__(
        self,
        broker: str | Memory = "memory:",
        *,
        site: str | None = None,
        embedded: bool | None = None,
        settings: Settings | None = None,
        clock: Callable[[], int] = _now,
        name: str | None = None,
        patience: float | None = None,
        lease: str = "1 min",
    ) -> None:
        self.name = name or f"client-{uuid.uuid4().hex[:8]}"
        self.site = site or ""
        self.node: NetworkNode | None = None
        self._address, self._patience, self._clock = broker, patience, clock
        self._embedded = broker == "memory:" if embedded is None else embedded
        self._settings = settings or Settings()
        self._types: dict[str, EventType] = {}
        self._publishers: dict[str, Publisher] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self._lease = parse_duration(lease)
        self._renewing: asyncio.Task[None] | None = None
        self._noted: dict[str, dict[str, int]] = {}
        self._broker: Broker
        self._directory: Bucket

    async def __aenter__(self) -> Self:
        self._broker = await connect(self._address, name=self.name, patience=self._patience)
        self.site = self.site or self._broker.site or "local"
        self._directory = await self._broker.bucket(DIRECTORY, self._settings.directory)
        if self._embedded:
            self.node = NetworkNode(self._broker, self.site, f"{self.site}-{self.name}", self._settings)
            await self.node.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for subscription in list(self._subscriptions.values()):
            await (self._leave(subscription) if subscription.durable else self.unsubscribe(subscription))
        if self._renewing is not None:
            await end(self._renewing)
            await self._directory.delete(f"clients/{self.name}")
        for publisher in list(self._publishers.values()):
            await self._retire(publisher)
        if self.node is not None:
            await self.node.stop()
        await self._broker.close()

    def create_type(self, name: str, **attributes: object) -> EventType:
        """A type of events, with the kind of each attribute: ``bool``, ``int``, ``float``, ``str`` or ``datetime``."""
        return event_type(name, attributes)

    async def register_type(
        self,
        type: EventType,
        publisher: str,
        *,
        heartbeat: str | None = "1 s",
        clock_error: str | None = None,
    ) -> Publisher:
        """Say that a source will publish events of a type; the same source may be given more types.

        Args:
            type: What `create_type` made. If the type is known already, its attributes must be the same.
            publisher: The name of the source.
            heartbeat: After how long without events it says that it has none; None to do so only when told.
            clock_error: By how much its clock may be wrong, either way.
        """
        await self._declare(type)
        known = self._publishers.get(publisher)
        if known is None:
            period = 0 if heartbeat is None else parse_duration(heartbeat)
            error = 0 if clock_error is None else parse_duration(clock_error)
            known = Publisher(Source(publisher, self.site, (), period, error), {}, self._broker, self._clock)
        types = {**known.types, type.name: type}
        source = Source(publisher, self.site, tuple(sorted(types)), known.source.heartbeat, known.source.clock_error)
        if not known.types:
            await self._broker.keep(site_stream(self.site, self._settings.max_age, self._settings.max_bytes))
            await write(self._directory, Site(self.site))
        hello = Beat(publisher, EARLIEST)
        place = await self._broker.publish(beat_topic(self.site, type.name), hello.to_bytes())
        if not known.types:
            await put_json(self._directory, f"origins/{publisher}", place - 1)
        await write(self._directory, source)
        is_first = not known.types
        known.source, known.types = source, types
        self._publishers[publisher] = known
        if is_first:
            known.begin()
        return known

    async def _declare(self, type: EventType) -> None:
        entry = await self._directory.get(f"types/{type.name}")
        if entry is not None and entry.value is not None:
            before = record_of(entry.key, json.loads(entry.value))
            if before != type:
                raise DataError(f"the type {type.name!r} is registered with other attributes: {before}")
        else:
            await write(self._directory, type)
        self._types[type.name] = type

    async def unregister_type(self, type: EventType, publisher: str) -> None:
        """Say that a source will publish no more events of a type; with its last type the source leaves."""
        known = self._publishers.get(publisher)
        if known is None or type.name not in known.types:
            raise DataError(f"{publisher!r} has not registered the type {type.name!r}")
        if len(known.types) == 1:
            await self._retire(known)
            return
        del known.types[type.name]
        old = known.source
        known.source = Source(publisher, self.site, tuple(sorted(known.types)), old.heartbeat, old.clock_error)
        await write(self._directory, known.source)

    async def _retire(self, publisher: Publisher) -> None:
        del self._publishers[publisher.name]
        await publisher.leave()
        await self._directory.delete(f"origins/{publisher.name}")
        await remove(self._directory, publisher.source)

    def create(
        self,
        type: EventType | str,
        publisher: Publisher | str,
        time: int | str | datetime | None = None,
        *,
        id: str | None = None,
        **attributes: Value,
    ) -> Event:
        """An event of a registered type, checked; now, unless it is given a time."""
        return self._publisher(publisher).create(type, time, id=id, **attributes)

    async def publish(self, *events: Event) -> None:
        """Publish events of publishers that were registered here."""
        for source in dict.fromkeys(event.source for event in events):
            await self._publisher(source).publish(*(event for event in events if event.source == source))

    def _publisher(self, publisher: Publisher | str) -> Publisher:
        if isinstance(publisher, Publisher):
            return publisher
        if publisher not in self._publishers:
            raise DataError(f"{publisher!r} has registered no type", hint="register_type() makes it a publisher")
        return self._publishers[publisher]

    async def subscribe(
        self,
        wanted: Pattern | EventType | str,
        *,
        policy: Policy | str = "guaranteed",
        context: str = "continuous",
        restart: bool = False,
        zone: str | None = None,
        carry: str | Iterable[str] = "all",
        only: Iterable[str] = (),
        distribution: str = "minimum_latency",
        hints: Hints | None = None,
        where: str | None = None,
        callback: Callback | None = None,
        durable: str | None = None,
        timeout: float = _READY,
    ) -> Subscription:
        """Subscribe to a pattern, or to all events of a type; returns when everything that is published is heard.

        Args:
            wanted: A pattern or its text, or a type.
            policy: When an event may be consumed, as for `penstock.Detector`.
            distribution: How and where detectors are placed: ``minimum_latency``, ``minimum_bandwidth`` or ``hash``.
            hints: What must not be factored out, or must stay together.
            where: For a type: a filter over its attributes, such as ``temp < 15``.
            callback: Called with each composite, in place of iterating over the subscription; may be asynchronous.
            durable: A name by which the subscription stays, also when this application ends or dies, until it is
                unsubscribed. Whoever subscribes to the same by that name goes on behind the last event that was taken.
            timeout: How many seconds to wait for the detectors.

        The other options are those of `penstock.detect`. ``carry="none"`` keeps composites small.
        """
        subscription = Subscription(durable or f"{self.name}-{uuid.uuid4().hex[:8]}", self._broker, callback)
        if durable is not None:
            subscription.durable = True
            subscription.positions = await self._read_so_far(durable)
        if isinstance(wanted, EventType):
            if await self._directory.get(f"types/{wanted.name}") is None:
                raise unknown_type(wanted.name, await known_types(self._directory))
            subscription.where = None if where is None else filter_of(wanted.name, where)
            await listen_to_type(subscription, wanted.name, self._broker, self._directory)
        else:
            pattern = parse(wanted) if isinstance(wanted, str) else wanted
            plan_of(pattern, context=context, carry=carry, zone=zone)
            chosen = policy if isinstance(policy, str) else str(policy)
            options = Options(
                str(parse_policy(chosen)), context, restart, zone, carry if isinstance(carry, str) else ",".join(carry)
            )
            chosen_policy = policy_of(distribution).name
            record = Wanted(
                subscription.name, str(pattern), self.site, options, chosen_policy, tuple(only), hints or Hints()
            )
            if durable is None:
                record = replace(record, client=self.name, lease=self._lease)
            else:
                await self._check_same(record)
            await self._live()
            subscription.warnings = await unknown_types(pattern, self._directory)
            await listen_to_pattern(subscription, record, self._broker, self._directory, timeout)
        self._subscriptions[subscription.name] = subscription
        await self._note(subscription)
        return subscription

    async def _read_so_far(self, name: str) -> dict[str, int]:
        """Where a durable subscription was left."""
        entry = await self._directory.get(f"read/{name}")
        return {str(key): int(number) for key, number in json.loads((entry and entry.value) or b"{}").items()}

    async def _check_same(self, record: Wanted) -> None:
        """A durable subscription that is there already must be to the same."""
        entry = await self._directory.get(f"subscriptions/{record.name}")
        if entry is not None and entry.value is not None:
            before = record_of(entry.key, json.loads(entry.value))
            if not isinstance(before, Wanted) or replace(before, site=record.site, policy=record.policy) != record:
                raise DataError(
                    f"there is another durable subscription {record.name!r}", hint="unsubscribe it, or choose a name"
                )

    async def _live(self) -> None:
        """Says that this application lives, and does so from now on."""
        if self._renewing is None:
            await put_json(self._directory, f"clients/{self.name}", 0)
            self._renewing = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        said = 0
        while True:
            await asyncio.sleep(self._lease / 3_000_000)
            said += 1
            with suppress(BrokerError):
                await put_json(self._directory, f"clients/{self.name}", said)
                for subscription in list(self._subscriptions.values()):
                    await self._note(subscription)

    async def _note(self, subscription: Subscription) -> None:
        """Writes down how far a durable subscription was read."""
        if subscription.durable and self._noted.get(subscription.name) != subscription.positions:
            self._noted[subscription.name] = dict(subscription.positions)
            await put_json(self._directory, f"read/{subscription.name}", subscription.positions)

    async def _leave(self, subscription: Subscription) -> None:
        """Hears a durable subscription no more, and leaves it for later."""
        self._subscriptions.pop(subscription.name, None)
        await subscription.stop()
        await self._note(subscription)

    async def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription; detectors that nobody else needs are stopped."""
        self._subscriptions.pop(subscription.name, None)
        await subscription.stop()
        for table in ("subscriptions", "told", "read"):
            if await self._directory.get(f"{table}/{subscription.name}") is not None:
                await self._directory.delete(f"{table}/{subscription.name}")

    async def change_policy(self, subscription: Subscription, distribution: str) -> None:
        """Ask the nodes, on the administration topic, to distribute a running subscription by another policy.

        Its detectors keep what they have seen and move with it. Returns when the nodes have written the policy down.
        """
        wanted = policy_of(distribution).name
        request = {"do": "policy", "subscription": subscription.name, "policy": wanted}
        key = f"subscriptions/{subscription.name}"
        async with asyncio.timeout(_READY):
            while True:
                await self._broker.tell(ADMINISTRATION, json.dumps(request).encode())
                if await self._has_policy(key, wanted):
                    return

    async def _has_policy(self, key: str, policy: str) -> bool:
        """Waits a while for the nodes to write a policy down: what is told may be lost."""
        for _ in range(_LOOKS):
            entry = await self._directory.get(key)
            if entry is None or entry.value is None:
                raise DataError("this subscription is not to a pattern, or is over", hint="subscribe to a pattern")
            record = record_of(key, json.loads(entry.value))
            if isinstance(record, Wanted) and record.policy == policy:
                return True
            await asyncio.sleep(_SOON)
        return False
