"""What NATS adds: servers as children, sites as leaf nodes, and links and servers that go away and come back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from penstock.brokers.nats.broker import connect
from penstock.brokers.nats.server import Server, free_port
from penstock.brokers.protocol import Following, Stream
from penstock.brokers.topics import REST
from penstock.errors import BrokerError
from penstock.testing.links import Link


async def taken(following: Following, count: int) -> list[bytes]:
    bodies: list[bytes] = []
    while len(bodies) < count:
        bodies += [message.body for message in await following.batch()]
    return bodies


def test_nobody_at_an_address_is_said_at_once() -> None:
    with pytest.raises(BrokerError, match="no NATS server answers"):
        asyncio.run(connect(f"nats://127.0.0.1:{free_port()}"))


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    with Server() as server, pytest.raises(BrokerError, match="did not start"):
        Server(port=server.port, folder=tmp_path).start()


def test_a_server_that_comes_back_is_read_on_without_a_gap() -> None:
    async def main(server: Server) -> None:
        one, other = await connect(server.url, patience=1), await connect(server.url, patience=1)
        await one.keep(Stream("s", (("s", REST),)))
        following = await other.follow("s", [("s", "a")])
        for n in range(3):
            await one.publish(("s", "a"), b"%d" % n, id=str(n))
        assert await taken(following, 3) == [b"0", b"1", b"2"]
        await asyncio.to_thread(server.stop)
        # While it is away, what is published waits, and is kept once although it is sent again.
        waiting = [asyncio.create_task(one.publish(("s", "a"), b"%d" % n, id=str(n))) for n in range(3, 6)]
        await asyncio.sleep(0.3)
        await asyncio.to_thread(server.start)
        await asyncio.gather(*waiting)
        assert sorted(await taken(following, 3)) == [b"3", b"4", b"5"]
        assert await following.batch(timeout=0.1) == []
        await one.close()
        await other.close()

    with Server() as server:
        asyncio.run(asyncio.wait_for(main(server), 30))


def test_a_link_between_sites_that_is_cut_and_healed_loses_nothing() -> None:
    async def main(hub: Server, leaf: Server, link: Link) -> None:
        here, there = await connect(hub.url, patience=1), await connect(leaf.url, patience=1)
        assert (here.site, there.site) == ("gateway", "office")
        await there.keep(Stream("office", (("office", REST),)))
        await here.keep(Stream("gateway", (("gateway", REST),)))
        following = await here.follow("office", [("office", "a")], site="office")
        for n in range(5):
            await there.publish(("office", "a"), b"%d" % n)
        assert await taken(following, 5) == [b"%d" % n for n in range(5)]
        link.cut()
        for n in range(5, 105):
            await there.publish(("office", "a"), b"%d" % n)
        assert await following.batch(timeout=0.2) == []
        link.heal()
        assert await taken(following, 100) == [b"%d" % n for n in range(5, 105)]
        await here.close()
        await there.close()

    with (
        Server(site="gateway", leaf_port=free_port()) as hub,
        Link(hub.leaf_address) as link,
        Server(site="office", hub=link.address) as leaf,
    ):
        asyncio.run(asyncio.wait_for(main(hub, leaf, link), 30))


def test_a_bucket_of_another_site_is_reached_through_ones_own_broker() -> None:
    async def main(hub: Server, leaf: Server) -> None:
        here, there = await connect(hub.url), await connect(leaf.url)
        bucket, seen = await here.bucket("directory", site="gateway"), await there.bucket("directory", site="gateway")
        first = await seen.put("k", b"1", revision=0)
        assert first is not None
        assert await bucket.put("k", b"2", revision=0) is None
        assert await bucket.put("k", b"2", revision=first) is not None
        found = await seen.get("k")
        assert found is not None
        assert found.value == b"2"
        watching = seen.watch()
        assert (await anext(watching)).value == b"2"
        await bucket.put("k", b"3")
        assert (await anext(watching)).value == b"3"
        await watching.aclose()  # type: ignore[attr-defined]
        await here.close()
        await there.close()

    with Server(site="gateway", leaf_port=free_port()) as hub, Server(site="office", hub=hub.leaf_address) as leaf:
        asyncio.run(asyncio.wait_for(main(hub, leaf), 30))
