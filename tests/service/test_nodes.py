"""Real nodes on real NATS servers: moves, failures, cut links and bad input, with the results of one process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import penstock as ps
from penstock.brokers.nats.server import Server, free_port
from penstock.events.event import Event
from penstock.network.node import Settings
from penstock.service.publishers import Publisher
from penstock.service.service import Service
from penstock.testing.links import Link
from penstock.testing.network import NodeProcess

DOORS = "[Open(door = $d)] ; [Close(door = $d)]"
QUICK = {"beat": "100 ms", "expiry": "600 ms", "save": "300 ms", "patience": "1 s"}


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(120):
            await main()

    asyncio.run(limited())


async def doors(service: Service, name: str = "door-1") -> Publisher:
    for type in ("Open", "Close"):
        publisher = await service.register_type(service.create_type(type, door=str), name, heartbeat=None)
    return publisher


class Story:
    """Events that are published, to be compared with what one process finds in all of them."""

    def __init__(self, *publishers: Publisher) -> None:
        self._publishers = publishers
        self._events: list[Event] = []
        self._time = 0

    async def tell(self, count: int) -> None:
        """So many more events, from the publishers in turn."""
        for _ in range(count):
            self._time += 1
            publisher = self._publishers[self._time % len(self._publishers)]
            type = "Open" if self._time * 7 % 5 < 3 else "Close"
            event = publisher.create(type, self._time, id=str(self._time), door=f"D{self._time * 3 % 7}")
            self._events.append(event)
            await publisher.publish(event)

    async def end(self) -> None:
        for publisher in self._publishers:
            await publisher.heartbeat(at=self._time + 10)

    def expected(self) -> dict[str, Event]:
        records = [
            {"type": one.type, "source": one.source, "id": one.id, "time": one.hi, "data": one.attributes}
            for one in self._events
        ]
        return {one.id: one for one in ps.detect(records, DOORS)}


async def same(found: object, story: Story) -> None:
    """What came is what one process finds: nothing lost, nothing doubled."""
    expected = story.expected()
    came = await found.take(len(expected), timeout=20)  # type: ignore[attr-defined]
    assert len(expected) > 10
    assert {one.id: one for one in came} == expected
    assert len(came) == len(expected)
    assert await found.take(1, timeout=0.3) == []  # type: ignore[attr-defined]


def test_nodes_that_leave_or_are_killed_are_taken_over_while_events_flow() -> None:
    async def main() -> None:
        with (
            Server() as server,
            NodeProcess(server.url, "one", **QUICK) as first,
            NodeProcess(server.url, "two", **QUICK) as second,
        ):
            async with Service(server.url, site="one", patience=1) as service:
                publisher = await doors(service)
                found = await service.subscribe(DOORS)
                story = Story(publisher)
                await story.tell(30)
                flowing = asyncio.create_task(story.tell(100))
                await asyncio.to_thread(first.stop)
                await flowing
                with NodeProcess(server.url, "three", **QUICK):
                    flowing = asyncio.create_task(story.tell(100))
                    second.kill()
                    await flowing
                    await story.end()
                    await same(found, story)

    run(main)


def test_a_node_that_was_thought_dead_comes_back_and_nothing_is_doubled() -> None:
    async def main() -> None:
        with Server() as server, NodeProcess(server.url, "one", **QUICK) as first:
            async with Service(server.url, site="one", patience=1) as service:
                publisher = await doors(service)
                found = await service.subscribe(DOORS)
                story = Story(publisher)
                await story.tell(30)
                with NodeProcess(server.url, "two", **QUICK):
                    first.pause()
                    await story.tell(30)
                    await asyncio.sleep(1.5)
                    first.resume()
                    await story.tell(30)
                    await story.end()
                    await same(found, story)

    run(main)


def test_a_broker_that_goes_away_and_comes_back_loses_nothing() -> None:
    async def main() -> None:
        with Server() as server, NodeProcess(server.url, "one", **QUICK):
            async with Service(server.url, site="one", patience=1) as service:
                publisher = await doors(service)
                found = await service.subscribe(DOORS)
                story = Story(publisher)
                await story.tell(30)
                await asyncio.to_thread(server.stop)
                flowing = asyncio.create_task(story.tell(30))
                await asyncio.sleep(0.5)
                await asyncio.to_thread(server.start)
                await flowing
                await service.change_policy(found, "minimum_bandwidth")
                await story.end()
                await same(found, story)

    run(main)


def test_bad_input_is_counted_and_the_node_lives_on() -> None:
    async def main() -> None:
        with Server() as server:
            settings = Settings(beat=0.1, expiry=0.6, save=0.3)
            async with Service(server.url, site="one", embedded=True, settings=settings) as service:
                publisher = await doors(service)
                found = await service.subscribe(DOORS)
                story = Story(publisher)
                await story.tell(20)
                broker, topic = service._broker, ("one", "event", "Open")
                await broker.publish(topic, b"nothing at all")
                await broker.publish(
                    topic, b'{"type":"Opne","source":"door-1","id":"x","time":20,"data":{"door":"D1"}}'
                )
                await broker.publish(topic, b'{"type":"Open","source":"door-1","id":"y","time":20,"data":{"door":7}}')
                await broker.publish(topic, b'{"type":"Open","source":"door-1","id":"z","data":{"door":"D1"}}')
                await broker.publish(("one", "beat", "Open"), b"not a heartbeat")
                directory = await broker.bucket("penstock")
                bad = {"name": "bad", "pattern": "[Open ;", "site": "one"}
                await directory.put("subscriptions/bad", json.dumps(bad).encode())
                await directory.put("subscriptions/worse", b"nothing at all")
                await broker.tell(("administration",), b"nothing at all")
                await story.tell(20)
                await story.end()
                await same(found, story)
                assert service.node is not None
                [running] = service.node.running.values()
                assert sum(running.work.rejected.values()) == 5
                told = await directory.get("told/bad")
                assert told is not None
                assert "refused" in json.loads(told.value or b"")

    run(main)


def test_a_link_between_sites_is_cut_and_healed() -> None:
    async def main() -> None:
        with (
            Server(site="gateway", leaf_port=free_port()) as hub,
            Link(hub.leaf_address) as link,
            Server(site="office", hub=link.address) as leaf,
            NodeProcess(hub.url, "gateway", **QUICK),
        ):
            settings = Settings(directory="gateway")
            async with (
                Service(leaf.url, settings=settings, patience=1) as office,
                Service(hub.url, settings=settings, patience=1) as gateway,
            ):
                publishers = [await doors(office, "door-1"), await doors(gateway, "door-2")]
                found = await gateway.subscribe(DOORS)
                story = Story(*publishers)
                await story.tell(30)
                link.cut()
                await story.tell(60)
                link.heal()
                await story.tell(10)
                await story.end()
                await same(found, story)

    run(main)
