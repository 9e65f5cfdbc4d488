"""Subscribers that die, come back, or are given other detectors; and policies that change while events flow."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest

import penstock as ps
from penstock.brokers.memory.broker import Memory
from penstock.brokers.protocol import Bucket
from penstock.errors import BrokerError, DataError, PatternError
from penstock.events.event import Event
from penstock.network.addresses import DIRECTORY, found_topic, stream_of
from penstock.network.agreement import Place, Places, put_json
from penstock.network.node import NetworkNode, Settings
from penstock.network.records import to_json
from penstock.service.service import Service
from penstock.service.subscriptions import Subscription

from .conftest import QUICK, Opening
from .test_service import DOORS, doors, ids, record, run


async def until(is_so: object) -> None:
    """Waits until something is so: a function that says whether, or finds it out."""
    while True:
        answer = is_so()  # type: ignore[operator]
        if await answer if asyncio.iscoroutine(answer) else answer:
            return
        await asyncio.sleep(0.01)


async def die(service: Service) -> None:
    """What is left of an application that was killed: nothing that it said is taken back."""
    for subscription in service._subscriptions.values():
        await subscription.stop()
    service._subscriptions.clear()
    assert service._renewing is not None
    service._renewing.cancel()
    await service._broker.close()


async def names(bucket: Bucket) -> list[str]:
    return [key.partition("/")[2] for key in await bucket.keys("subscriptions")]


def test_the_subscription_of_a_client_that_dies_is_removed_and_its_detectors_end(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as host:
            await doors(host)
            lives = await host.subscribe(DOORS)
            dying = await opening(lease="300 ms").__aenter__()
            gone = await dying.subscribe("[Open] ; [Close]")
            directory = await host._broker.bucket(DIRECTORY)
            assert sorted(await names(directory)) == sorted([lives.name, gone.name])
            await asyncio.sleep(0.9)
            assert sorted(await names(directory)) == sorted([lives.name, gone.name])
            await die(dying)

            async def is_removed() -> bool:
                return await names(directory) == [lives.name]

            await until(is_removed)
            assert host.node is not None
            node = host.node
            await until(lambda: len(node.running) == 1)
            assert node.counts["leases over"] >= 1

            async def is_forgotten() -> bool:
                return await directory.keys("clients") == [f"clients/{host.name}"]

            await until(is_forgotten)

    run(main())


def test_a_client_that_was_taken_for_dead_subscribes_again(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            publisher = await doors(service)
            found = await service.subscribe(DOORS)
            directory = await service._broker.bucket(DIRECTORY)
            for table in ("subscriptions", "told"):
                await directory.delete(f"{table}/{found.name}")
            await until(lambda: found.lapsed == 1)
            assert service.node is not None
            node = service.node
            await until(lambda: any(one.users == (found.name,) for one in node.view.directory.detectors.values()))
            at = 0

            async def is_heard() -> bool:
                nonlocal at
                at += 10
                await publisher.publish(
                    publisher.create("Open", at, door="D"), publisher.create("Close", at + 1, door="D")
                )
                await publisher.heartbeat(at + 2)
                return bool(await found.take(1, timeout=0.1))

            await until(is_heard)

    run(main())


def test_a_durable_subscription_goes_on_where_it_was_left(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as host:
            publisher = await doors(host)

            async def pair(at: int) -> None:
                events = publisher.create("Open", at, door="D"), publisher.create("Close", at + 1, door="D")
                await publisher.publish(*events)
                await publisher.heartbeat(at=at + 2)

            async with opening() as client:
                found = await client.subscribe(DOORS, durable="mine")
                await pair(10)
                await pair(20)
                first = await found.take(1)
            for at in (30, 40):
                await pair(at)
            async with opening() as client:
                found = await client.subscribe(DOORS, durable="mine")
                rest = await found.take(3)
                assert [one.hi for one in first + rest] == [11, 21, 31, 41]
                assert await found.take(1, timeout=0.1) == []
                with pytest.raises(DataError, match="another durable subscription 'mine'"):
                    await client.subscribe("[Open]", durable="mine")
                await client.unsubscribe(found)
            directory = await host._broker.bucket(DIRECTORY)
            assert await names(directory) == []

    run(main())


def test_a_subscription_follows_a_plan_that_gives_it_other_detectors(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            publisher = await doors(service)
            found = await service.subscribe(DOORS)
            events = [publisher.create("Open", 5, door="D"), publisher.create("Close", 6, door="D")]
            await publisher.publish(*events)
            await publisher.heartbeat(at=9)
            [before] = await found.take(1)
            assert found.listening is not None
            [old] = found.listening.detectors
            told = [message for message in await told_by(service, old) if b"parts" in message]
            assert service.node is not None
            await service.node.kill()
            directory = await service._broker.bucket(DIRECTORY)
            await put_json(directory, "places/other", to_json(Places((Place(service.site, 0),))))
            other = to_json(found.listening) | {"detectors": ["other"]}
            await put_json(directory, f"told/{found.name}", other)
            again = json.loads(told[0])
            fresh = again | {"timelo": "1970-01-01T00:00:00.000004Z"}
            for body in (again, fresh):
                await service._broker.publish(found_topic(service.site, "other"), json.dumps(body).encode())
            [after] = await found.take(1)
            assert after.id != before.id
            assert found.repeated == 1
            assert found.listening.detectors == ("other",)
            service.node = None

    run(main())


def test_what_nodes_cannot_do_any_more_is_said_and_what_runs_is_heard(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            publisher = await doors(service)
            found = await service.subscribe(DOORS)
            directory = await service._broker.bucket(DIRECTORY)
            await put_json(directory, f"told/{found.name}", {"refused": "nobody can do that"})
            await until(lambda: found.warnings == ("nobody can do that",))
            await publisher.publish(publisher.create("Open", 5, door="D"), publisher.create("Close", 6, door="D"))
            await publisher.heartbeat(at=9)
            assert len(await found.take(1)) == 1

    run(main())


def test_nothing_is_left_of_a_subscription_that_failed(opening: Opening) -> None:
    async def main() -> None:
        async with opening(embedded=False) as service:
            with pytest.raises(BrokerError, match="no node took"):
                await service.subscribe(DOORS, timeout=0.1)
            with pytest.raises(BrokerError, match="no node took"):
                await service.subscribe(DOORS, durable="mine", timeout=0.1)
            directory = await service._broker.bucket(DIRECTORY)
            assert await directory.keys("subscriptions") == await directory.keys("told") == []

    run(main())


async def told_by(service: Service, detector: str) -> list[bytes]:
    following = await service._broker.follow(stream_of(service.site), [found_topic(service.site, detector)])
    return [message.body for message in await following.batch(5)]


@pytest.mark.parametrize("policies", [("minimum_latency", "minimum_bandwidth"), ("minimum_bandwidth", "hash")])
def test_a_policy_changes_while_events_flow_and_nothing_is_lost_or_doubled(policies: tuple[str, str]) -> None:
    async def main() -> None:
        memory = Memory()
        nodes = [NetworkNode(memory.connect(), site, site, QUICK) for site in ("office", "gateway")]
        for node in nodes:
            await node.start()
        async with Service(memory, site="office") as office, Service(memory, site="gateway") as gateway:
            publisher = await doors(office)
            found = await gateway.subscribe(DOORS, distribution=policies[0])
            [detector] = nodes[0].view.directory.detectors
            places = [nodes[0].view.directory.detectors[detector].node]
            events: list[Event] = []

            def has_policy(policy: str) -> bool:
                return nodes[0].view.directory.detectors[detector].policy == policy

            for policy in (*reversed(policies), *reversed(policies)):
                for _ in range(20):
                    at = len(events) + 1
                    events.append(publisher.create("Open" if at % 3 else "Close", at, id=f"{at:03}", door=f"D{at % 4}"))
                    await publisher.publish(events[-1])
                await gateway.change_policy(found, policy)
                await until(partial(has_policy, policy))
                places.append(nodes[0].view.directory.detectors[detector].node)
            await publisher.heartbeat(at=1000)
            expected = ps.detect([record(event) for event in events], DOORS)
            assert len(expected) > 10
            assert ids(await found.take(len(expected))) == ids(list(expected))
            assert await found.take(1, timeout=0.1) == []
            assert list(nodes[0].view.directory.detectors) == [detector]
            if "hash" not in policies:
                assert places == ["gateway", "office", "gateway", "office", "gateway"]
        for node in nodes:
            await node.stop()

    run(main())


def test_a_policy_that_there_is_not_is_refused(opening: Opening) -> None:
    async def main() -> None:
        async with opening() as service:
            await doors(service)
            found = await service.subscribe(DOORS)
            with pytest.raises(PatternError, match="did you mean `minimum_latency`"):
                await service.change_policy(found, "minimum_latancy")
            with pytest.raises(PatternError, match="there is no distribution policy"):
                await service.subscribe(DOORS, distribution="somewhere")
            type = service.create_type("Open", door=str)
            with pytest.raises(DataError, match="not to a pattern"):
                await service.change_policy(await service.subscribe(type), "hash")

    run(main())


def test_measured_rates_are_in_the_directory() -> None:
    async def main() -> None:
        settings = Settings(beat=0.05, measure=0.1)
        async with Service("memory:", settings=settings) as service:
            publisher = await doors(service)
            found: Subscription = await service.subscribe(DOORS)
            assert service.node is not None
            view = service.node.view
            for at in range(1, 41):
                await publisher.publish(publisher.create("Open" if at % 2 else "Close", at, door="D"))
            await publisher.heartbeat(at=100)
            await found.take(20)
            [detector] = view.directory.detectors.values()
            await until(lambda: view.directory.rate("door-1", "Open"))
            await until(lambda: view.directory.rate(detector.source, detector.gives[0]))

    run(main())
