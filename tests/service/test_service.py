"""The papers' interface: types, publishers and subscriptions, whatever the broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

import penstock as ps
from penstock.events.event import Event
from penstock.service.publishers import Publisher
from penstock.service.service import Service

from .conftest import Opening

DOORS = "[Open(door = $d)] ; [Close(door = $d)]"


def run(main: Awaitable[None]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(30):
            await main

    asyncio.run(limited())


async def doors(service: Service, name: str = "door-1") -> Publisher:
    """A publisher of doors that open and close, which sends heartbeats when it is told to."""
    for type in ("Open", "Close"):
        publisher = await service.register_type(service.create_type(type, door=str), name, heartbeat=None)
    return publisher


def record(event: Event) -> dict[str, object]:
    return {"type": event.type, "source": event.source, "id": event.id, "time": event.hi, "data": event.attributes}


def ids(events: list[Event]) -> list[str]:
    return sorted(event.id for event in events)


def test_a_subscriber_gets_what_detection_of_all_events_finds(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            publisher = await doors(service)
            found = await service.subscribe(DOORS)
            events = [publisher.create("Open" if n % 3 else "Close", n, door=f"D{n % 4}") for n in range(1, 200)]
            await publisher.publish(*events)
            await publisher.heartbeat(at=1000)
            expected = ps.detect([record(event) for event in events], DOORS)
            assert len(expected) > 20
            composites = await found.take(len(expected))
            assert ids(composites) == ids(list(expected))
            assert {one.id: one for one in composites} == {one.id: one for one in expected}

    run(main())


def test_two_services_share_a_broker(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as one, opening() as other:
            found = await other.subscribe(DOORS)
            publisher = await doors(one)
            await publisher.publish(publisher.create("Open", 5, door="D1"), publisher.create("Close", 9, door="D1"))
            await publisher.heartbeat(at=20)
            [composite] = await found.take(1)
            assert [part.id for part in composite.parts]
            assert composite.attributes == {"d": "D1"}

    run(main())


def test_a_callback_is_called_for_each_composite(opening: Opening) -> None:
    async def main() -> None:
        came: list[Event] = []
        done = asyncio.Event()

        async def callback(event: Event) -> None:
            came.append(event)
            if len(came) == 2:
                done.set()

        async with opening() as service:
            publisher = await doors(service)
            await service.subscribe("[Open]", callback=callback)
            await publisher.publish(*(publisher.create("Open", n, door="D1") for n in (1, 2)))
            await publisher.heartbeat(at=5)
            await done.wait()
        assert [one.hi for one in came] == [1, 2]

    run(main())


def test_a_type_can_be_subscribed_to(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service, opening() as other:
            publisher = await doors(service)
            found = await other.subscribe(other.create_type("Open", door=str))
            await publisher.publish(publisher.create("Open", 5, door="D1"), publisher.create("Close", 6, door="D1"))
            assert [event.hi for event in await found.take(1)] == [5]
            assert await found.take(1, timeout=0.1) == []

    run(main())


def test_all_sources_are_waited_for(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            one, other = await doors(service, "door-1"), await doors(service, "door-2")
            found = await service.subscribe(DOORS)
            await one.publish(one.create("Open", 5, door="D1"), one.create("Close", 9, door="D1"))
            await one.heartbeat(at=20)
            assert await found.take(1, timeout=0.2) == []
            await other.publish(other.create("Close", 7, door="D1"))
            await other.heartbeat(at=20)
            [composite] = await found.take(1)
            assert (composite.lo, composite.hi) == (5, 7)

    run(main())


def test_heartbeats_come_by_themselves(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            one = await service.register_type(service.create_type("A", v=int), "a", heartbeat="20 ms")
            other = await service.register_type(service.create_type("B"), "b", heartbeat="20 ms")
            found = await service.subscribe("[A] ; [B]")
            await one.publish(one.create("A", v=1))
            await other.publish(other.create("B"))
            assert len(await found.take(1)) == 1

    run(main())


def test_a_source_that_leaves_is_no_longer_waited_for(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            one = await doors(service, "door-1")
            await doors(service, "door-2")
            found = await service.subscribe(DOORS)
            await one.publish(one.create("Open", 5, door="D1"), one.create("Close", 9, door="D1"))
            await one.heartbeat(at=20)
            for type in ("Open", "Close"):
                await service.unregister_type(service.create_type(type, door=str), "door-2")
            assert len(await found.take(1)) == 1

    run(main())


def test_a_source_that_comes_later_is_heard_and_waited_for(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            one = await doors(service, "door-1")
            found = await service.subscribe(DOORS)
            await one.publish(one.create("Open", 5, door="D1"))
            other = await doors(service, "door-2")
            await asyncio.sleep(0.3)
            await one.publish(one.create("Close", 9, door="D1"))
            await one.heartbeat(at=20)
            assert await found.take(1, timeout=0.2) == []
            await other.heartbeat(at=20)
            assert len(await found.take(1)) == 1

    run(main())


def test_a_clock_error_makes_stamps_intervals(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            a = service.create_type("A")
            publisher = await service.register_type(a, "a", heartbeat=None, clock_error="5 us")
            found = await service.subscribe("[A]")
            await publisher.publish(publisher.create(a, 50))
            await publisher.heartbeat(at=100)
            [composite] = await found.take(1)
            assert (composite.lo, composite.hi) == (45, 55)

    run(main())


def test_what_is_wrong_is_said_clearly(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            publisher = await doors(service)
            with pytest.raises(ps.DataError, match="'Opne' is not registered"):
                publisher.create("Opne", 5, door="D1")
            with pytest.raises(ps.DataError, match="has no attribute 'door'"):
                publisher.create("Open", 5)
            with pytest.raises(ps.DataError, match="is 3, not text"):
                publisher.create("Open", 5, door=3)
            with pytest.raises(ps.DataError, match="have no attribute 'room'"):
                publisher.create("Open", 5, door="D1", room="R1")
            with pytest.raises(ps.DataError, match="registered with other attributes"):
                await service.register_type(service.create_type("Open", door=int), "door-2")
            with pytest.raises(ps.DataError, match="'door-9' has registered no type"):
                service.create("Open", "door-9", 5, door="D1")
            with pytest.raises(ps.DataError, match="'Windows' is not registered"):
                await service.subscribe(service.create_type("Windows"))
            with pytest.raises(ps.ParseError):
                await service.subscribe("[Open ;")
            with pytest.raises(ps.PatternError, match="chronical"):
                await service.subscribe(DOORS, context="chronical")
            with pytest.raises(ps.PatternError, match="garanteed"):
                await service.subscribe(DOORS, policy="garanteed")

    run(main())


def test_nobody_to_detect_is_said_after_a_while(opening: Opening) -> None:
    async def main() -> None:
        async with opening(embedded=False) as service:
            with pytest.raises(ps.BrokerError, match="no node took the subscription"):
                await service.subscribe(DOORS, timeout=0.2)

    run(main())


def test_a_detector_that_nobody_needs_is_stopped(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            await doors(service)
            one, other = await service.subscribe(DOORS), await service.subscribe(DOORS)
            assert service.node is not None
            assert len(service.node.running) == 1
            await service.unsubscribe(one)
            await asyncio.sleep(0.2)
            assert len(service.node.running) == 1
            await service.unsubscribe(other)
            while service.node.running:
                await asyncio.sleep(0.02)
            with pytest.raises(StopAsyncIteration):
                await anext(one)

    run(main())


def test_parts_may_leave_their_attributes_behind(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            publisher = await doors(service)
            found = await service.subscribe(DOORS, carry="none")
            await publisher.publish(publisher.create("Open", 5, door="D1"), publisher.create("Close", 9, door="D1"))
            await publisher.heartbeat(at=20)
            [composite] = await found.take(1)
            assert [part.attributes for part in composite.parts] == [{}, {}]

    run(main())


def test_a_subscriber_hears_nothing_from_before(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            publisher = await doors(service)
            first = await service.subscribe("[Open]")
            await publisher.publish(publisher.create("Open", 5, door="D1"))
            await publisher.heartbeat(at=6)
            assert len(await first.take(1)) == 1
            second = await service.subscribe("[Open]")
            await publisher.publish(publisher.create("Open", 15, door="D1"))
            await publisher.heartbeat(at=16)
            assert [one.hi for one in await second.take(2, timeout=0.3)] == [15]

    run(main())


def test_a_type_that_nobody_has_registered_is_warned_of(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            await doors(service)
            found = await service.subscribe("[Open] ; [Clsoe]")
            assert found.warnings == ("the type 'Clsoe' is not registered\nhint: did you mean Close?",)

    run(main())


def test_events_of_a_type_can_be_filtered(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            publisher = await doors(service)
            found = await service.subscribe(service.create_type("Open", door=str), where="door = 'D2'")
            await publisher.publish(*(publisher.create("Open", n, door=f"D{n % 3}") for n in range(1, 6)))
            assert [event.hi for event in await found.take(2)] == [2, 5]
            with pytest.raises(ps.ParseError):
                await service.subscribe(service.create_type("Open", door=str), where="door = = 2")

    run(main())


def test_a_callback_that_fails_is_called_again(opening: Opening) -> None:
    async def main() -> None:
        came: list[Event] = []
        done = asyncio.Event()

        def callback(event: Event) -> None:
            came.append(event)
            if len(came) == 2:
                done.set()
            raise ValueError("not today")

        async with opening() as service:
            publisher = await doors(service)
            found = await service.subscribe("[Open]", callback=callback)
            await publisher.publish(*(publisher.create("Open", n, door="D1") for n in (1, 2)))
            await publisher.heartbeat(at=5)
            await done.wait()
            assert found.failed == 2

    run(main())
