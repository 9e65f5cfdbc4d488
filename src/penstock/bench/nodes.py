"""How many events a node takes in on one core, and how long it is from an event to the composite that it completes.

A real server and a real node on loopback, each a process of its own; the publisher and the subscriber are in this one.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from penstock.brokers.connecting import connect
from penstock.brokers.nats.server import Server
from penstock.brokers.protocol import Bucket
from penstock.events.event import Event
from penstock.network.addresses import NODES
from penstock.network.records import from_json
from penstock.network.reports import NodeReport
from penstock.service.publishers import Publisher
from penstock.service.service import Service
from penstock.testing.network import NodeProcess

PATTERN = "[Open(door = $d)] ; [Close(door = $d AND alarm = true)]"
"""Every event is listened to, and one closing in a hundred completes something."""
_DOORS = 1000
_RARE = 100
_WARM = 20_000
"""So many events go before those that are measured."""
_PAUSE = 0.05
_FAR = 10**12


@dataclass(frozen=True)
class Throughput:
    """Events that went through a node: how many in a message, how long it took, and what it cost the node's core."""

    events: int
    together: int
    found: int
    seconds: float
    node_cpu: float

    @property
    def per_core_second(self) -> float:
        """Events for each second that the node worked.

        >>> Throughput(100_000, 500, 0, 4.0, 2.0).per_core_second
        50000.0
        """
        return self.events / self.node_cpu


@dataclass(frozen=True)
class Delay:
    """Notification delays in milliseconds: from just before an event is published until the composite is there."""

    notifications: int
    p50: float
    p90: float
    p99: float


def measure(events: int, together: int, notifications: int) -> tuple[Throughput, Delay]:
    """Publish events as fast as the broker takes them; then one at a time, and wait for what each completes."""
    with Server() as server, NodeProcess(server.url, "bench", beat="100 ms"):
        return asyncio.run(_measure(server.url, events, together, notifications))


async def _measure(url: str, events: int, together: int, notifications: int) -> tuple[Throughput, Delay]:
    watching = await connect(url)
    nodes = await watching.bucket(NODES)
    async with Service(url, site="bench") as service:
        opened = service.create_type("Open", door=int)
        doors = await service.register_type(opened, "doors", heartbeat=None)
        await service.register_type(service.create_type("Close", door=int, alarm=bool), "doors")
        found = await service.subscribe(PATTERN, carry="none")
        warm = min(events, _WARM)
        await _flow(doors, nodes, 0, warm, together)
        throughput = await _flow(doors, nodes, warm, events, together)
        while await found.take(1, timeout=1):
            pass
        delays = []
        for number in range(notifications):
            at = _FAR + 10 * number
            await doors.publish(doors.create("Open", at, door=-1))
            last = doors.create("Close", at + 1, door=-1, alarm=True)
            began = time.perf_counter()
            await doors.publish(last)
            await anext(found)
            delays.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(_PAUSE / 5)
    await watching.close()
    p50, p90, p99 = (float(one) for one in np.percentile(delays, [50, 90, 99]))
    return throughput, Delay(notifications, p50, p90, p99)


async def _flow(doors: Publisher, nodes: Bucket, first: int, events: int, together: int) -> Throughput:
    """Publishes so many events, and waits until the node has taken in all of them."""
    prepared = list(_events(doors, first, events))
    before = await _report(nodes)
    began = time.perf_counter()
    for start in range(0, events, together):
        await doors.publish(*prepared[start : start + together])
    while True:
        report = await _report(nodes)
        if report.detectors and report.detectors[0].events >= first + events:
            break
        await asyncio.sleep(_PAUSE)
    seconds = time.perf_counter() - began
    found = report.detectors[0].found - (before.detectors[0].found if before.detectors else 0)
    return Throughput(events, together, found, seconds, report.cpu - before.cpu)


def _events(doors: Publisher, first: int, count: int) -> Iterator[Event]:
    """Doors that open, as many as there are, and then close, and so on."""
    for number in range(first, first + count):
        door = number % _DOORS
        if number // _DOORS % 2 == 0:
            yield doors.create("Open", number + 1, id=str(number), door=door)
        else:
            yield doors.create("Close", number + 1, id=str(number), door=door, alarm=door % _RARE == 0)


async def _report(nodes: Bucket) -> NodeReport:
    [key] = await nodes.keys()
    entry = await nodes.get(key)
    return from_json(NodeReport, json.loads(entry.value or b"{}")) if entry else NodeReport("", "")
