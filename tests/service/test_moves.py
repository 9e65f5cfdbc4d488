"""Divided patterns on several nodes in one process, with nodes that come, leave and are killed at any time."""

from __future__ import annotations

import asyncio
import random

import pytest

import penstock as ps
from penstock.brokers.memory.broker import Memory
from penstock.events.event import Event
from penstock.network.node import NetworkNode, Settings
from penstock.service.publishers import Publisher
from penstock.service.service import Service

QUICK = Settings(beat=0.02, expiry=0.1, save=0.05)
PATTERNS = [
    "[A(k = $k)] ; [B(k = $k)]",
    "([A(k = $k)] ; [B(k = $k)], [T in {T, C(k = $k)}]){T = 7 us}",
    "([A(k = $k)] ; [B(k = $k)]) ; [C(k = $k)]",
    "([A] ; [B]) | ([B] ; [C])",
    "([A(k = $k)] ; [B(k = $k)]) || [C(k = $k)]",
    "Pair := [A(k = $k)] ; [B(k = $k)]\n[Pair(k = $k)] ; [C(k = $k)]",
    "x: ([A(k = $j)] ; [B(k = $j)]) ; [C(k = $j)]",
]


class Play:
    """Publishers at two sites, subscriptions, and nodes, on one broker."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.memory = Memory()
        self.nodes: list[NetworkNode] = []
        self.events: list[Event] = []
        self.time = 0

    async def add_node(self) -> None:
        node = NetworkNode(self.memory.connect(), self.random.choice(["office", "gateway"]), settings=QUICK)
        await node.start()
        self.nodes.append(node)

    async def trouble(self) -> None:
        """A node comes, and another leaves or is killed."""
        await self.add_node()
        node = self.nodes.pop(0)
        await (node.kill() if self.random.random() < 0.6 else node.stop())

    async def publish(self, publishers: list[Publisher], count: int) -> None:
        for _ in range(count):
            self.time += self.random.choice([0, 1, 1, 3])
            publisher = self.random.choice(publishers)
            type, key = self.random.choice("ABC"), self.random.randrange(3)
            event = publisher.create(type, self.time, id=f"{len(self.events):04}", k=key)
            self.events.append(event)
            await publisher.publish(event)
            if self.random.random() < 0.2:
                for one in publishers:
                    await one.heartbeat(at=self.time - 1)
            if self.random.random() < 0.1:
                await asyncio.sleep(0.01)

    def expected(self, pattern: str) -> dict[str, Event]:
        records = [
            {"type": one.type, "source": one.source, "id": one.id, "time": one.hi, "data": one.attributes}
            for one in self.events
        ]
        return {one.id: one for one in ps.detect(records, pattern, until=self.time + 100)}


async def play(seed: int) -> None:
    scene = Play(seed)
    await scene.add_node()
    await scene.add_node()
    async with (
        Service(scene.memory, site="office", settings=QUICK) as office,
        Service(scene.memory, site="gateway", settings=QUICK) as gateway,
    ):
        publishers = []
        for service, name in ((office, "one"), (gateway, "two")):
            for type in "ABC":
                publisher = await service.register_type(service.create_type(type, k=int), name, heartbeat=None)
            publishers.append(publisher)
        wanted = scene.random.sample(PATTERNS, 4)
        policies = ["minimum_latency", "minimum_bandwidth", "hash"]
        subscriptions = [
            await scene.random.choice([office, gateway]).subscribe(text, distribution=scene.random.choice(policies))
            for text in wanted
        ]
        for _ in range(3):
            await scene.publish(publishers, 25)
            await scene.trouble()
        await scene.publish(publishers, 25)
        for publisher in publishers:
            await publisher.heartbeat(at=scene.time + 101)
        for text, subscription in zip(wanted, subscriptions, strict=True):
            expected = scene.expected(text)
            came = await subscription.take(len(expected), timeout=10)
            assert {one.id: one for one in came} == expected, (seed, text)
            assert await subscription.take(1, timeout=0.05) == []
    for node in scene.nodes:
        await node.stop()


@pytest.mark.parametrize("seed", range(4))
def test_results_do_not_depend_on_what_happens_to_nodes(seed: int) -> None:
    asyncio.run(asyncio.wait_for(play(seed), 60))
