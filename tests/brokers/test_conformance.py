"""What every broker does, on every adapter: the same cases for all."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable

import pytest

from penstock.algebra.conditions import Attribute, Comparison, Literal
from penstock.brokers.protocol import Broker, Entry, Message, Stream
from penstock.brokers.topics import ANY, REST, Topic
from penstock.brokers.wire import batch
from penstock.errors import BrokerError

from .conftest import Connect

Case = Callable[[Broker, Broker], Awaitable[None]]


def run(connecting: Connect, case: Case) -> None:
    """Run a case with two connections to the same broker."""

    async def main() -> None:
        one, other = await connecting(), await connecting()
        try:
            async with asyncio.timeout(20):
                await case(one, other)
        finally:
            await one.close()
            await other.close()

    asyncio.run(main())


def fresh() -> str:
    return f"s{uuid.uuid4().hex[:8]}"


async def kept(broker: Broker, *more: Topic) -> str:
    """A new stream with all topics below its name."""
    name = fresh()
    await broker.keep(Stream(name, ((name, REST), *more)))
    return name


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages]


def test_a_stream_is_read_from_its_beginning_and_in_order(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = await kept(one)
        numbers = [await one.publish((name, "a"), b"%d" % n) for n in range(5)]
        following = await other.follow(name, [(name, "a")])
        assert bodies(await taken(following, 5)) == [b"0", b"1", b"2", b"3", b"4"]
        assert numbers == sorted(set(numbers))
        assert following.position == numbers[-1] == await one.last(name)

    run(connecting, case)


async def taken(following: object, count: int) -> list[Message]:
    messages: list[Message] = []
    while len(messages) < count:
        messages += await following.batch()  # type: ignore[attr-defined]
    return messages


def test_a_stream_is_read_from_a_number_on(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = await kept(one)
        numbers = [await one.publish((name, "a"), b"%d" % n) for n in range(5)]
        following = await other.follow(name, [(name, "a")], after=numbers[2])
        messages = await taken(following, 2)
        assert [message.sequence for message in messages] == numbers[3:]

    run(connecting, case)


def test_what_is_published_later_follows(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = await kept(one)
        following = await other.follow(name, [(name, "a")])
        assert await following.batch(timeout=0.05) == []
        await one.publish((name, "a"), b"late")
        assert bodies(await taken(following, 1)) == [b"late"]

    run(connecting, case)


def test_only_the_topics_that_are_asked_for_are_read(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = await kept(one)
        for topic in ("a", "b", "c", "a.b", "Tür"):
            await one.publish((name, topic), topic.encode())
        following = await other.follow(name, [(name, "a"), (name, "c"), (name, "Tür")])
        assert [message.topic[1] for message in await taken(following, 3)] == ["a", "c", "Tür"]
        following = await other.follow(name, [(name, ANY)])
        assert len(await taken(following, 5)) == 5

    run(connecting, case)


def test_an_id_is_kept_once(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = await kept(one)
        first = await one.publish((name, "a"), b"x", id="1")
        assert await other.publish((name, "a"), b"x", id="1") == first
        await one.publish((name, "a"), b"y", id="2")
        following = await other.follow(name, [(name, REST)])
        messages = await taken(following, 2)
        assert [(message.id, message.body) for message in messages] == [("1", b"x"), ("2", b"y")]
        assert await following.batch(timeout=0.05) == []

    run(connecting, case)


def test_headers_travel_with_a_message(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = await kept(one)
        await one.publish((name, "a"), b"{}", headers={"ce-type": "Open"})
        [message] = await taken(await other.follow(name, [(name, "a")]), 1)
        assert message.headers["ce-type"] == "Open"

    run(connecting, case)


def test_what_no_stream_keeps_is_an_error(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        with pytest.raises(BrokerError, match="nowhere"):
            await one.last("nowhere")
        with pytest.raises(BrokerError, match="no stream keeps nowhere/a"):
            await one.publish(("nowhere", "a"), b"")

    run(connecting, case)


def test_a_stream_that_comes_later_is_waited_for(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = fresh()
        following = await other.follow(name, [(name, "a")])
        await asyncio.sleep(0.05)
        assert following.waits
        await one.keep(Stream(name, ((name, REST),)))
        await one.publish((name, "a"), b"there")
        assert bodies(await taken(following, 1)) == [b"there"]
        assert not following.waits

    run(connecting, case)


def test_listeners_hear_what_is_told_and_what_is_published(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = await kept(one)
        listening = await other.listen([(name, ANY, "x")])
        await one.tell((name, "1", "x"), b"told")
        await one.tell((name, "1", "y"), b"not for us")
        await one.publish((name, "2", "x"), b"published")
        heard: list[Message] = []
        while len(heard) < 2:
            heard += await listening.batch(timeout=5)
        assert bodies(heard) == [b"told", b"published"]
        await listening.stop()
        await one.tell((name, "1", "x"), b"too late")
        assert await listening.batch(timeout=0.05) == []

    run(connecting, case)


def test_a_content_filter_holds_wherever_it_is_looked_at(connecting: Connect) -> None:
    wanted = Comparison(">", Attribute("v"), Literal(3))

    def record(v: int) -> bytes:
        return b'{"type":"A","time":5,"data":{"v":%d}}' % v

    async def case(one: Broker, other: Broker) -> None:
        name = fresh()
        listening = await other.listen([(name, "A")], wanted)
        assert (listening.division.pushed is None) != (listening.division.rest is None)
        for v in (1, 5, 3, 7):
            await one.tell((name, "A"), record(v))
        await one.tell((name, "A"), batch([record(2), record(9)]))
        heard: list[Message] = []
        while len(heard) < 3:
            heard += await listening.batch(timeout=5)
        assert bodies(heard) == [record(5), record(7), record(9)]

    run(connecting, case)


def test_a_content_filter_holds_for_a_stream_too_and_what_it_leaves_out_counts_as_read(connecting: Connect) -> None:
    wanted = Comparison(">", Attribute("v"), Literal(3))

    def record(v: int) -> bytes:
        return b'{"type":"A","time":5,"data":{"v":%d}}' % v

    async def case(one: Broker, other: Broker) -> None:
        name = fresh()
        await one.keep(Stream(name, ((name, "A"),)))
        for v in (5, 3):
            await one.publish((name, "A"), record(v))
        following = await other.follow(name, [(name, "A")], where=wanted)
        assert following.division == other.divide(wanted)
        assert bodies(await following.batch(timeout=5)) == [record(5)]
        waiting = asyncio.create_task(following.batch())
        await one.publish((name, "A"), batch([record(1), record(2)]))
        last = await one.publish((name, "A"), batch([record(2), record(9)]))
        assert bodies(await waiting) == [record(9)]
        assert following.position == last

    run(connecting, case)


def test_a_bucket_holds_values(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = fresh()
        here, there = await one.bucket(name), await other.bucket(name)
        assert await here.get("a/b") is None
        revision = await here.put("a/b", b"1")
        assert await there.get("a/b") == Entry("a/b", b"1", revision or 0)
        await here.put("c d", b"2")
        assert await there.keys() == ["a/b", "c d"]
        await there.delete("a/b")
        assert await here.get("a/b") is None
        assert await there.keys() == ["c d"]

    run(connecting, case)


def test_compare_and_set_lets_one_win(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = fresh()
        here, there = await one.bucket(name), await other.bucket(name)
        first = await here.put("k", b"1", revision=0)
        assert first is not None
        assert await there.put("k", b"2", revision=0) is None
        results = await asyncio.gather(here.put("k", b"3", revision=first), there.put("k", b"4", revision=first))
        assert sorted(result is None for result in results) == [False, True]
        await here.delete("k")
        assert await there.put("k", b"5", revision=first) is None
        assert await there.put("k", b"6", revision=0) is not None

    run(connecting, case)


def test_a_watch_tells_what_is_there_and_every_change(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = fresh()
        here, there = await one.bucket(name), await other.bucket(name)
        await here.put("a", b"1")
        watching = there.watch()
        seen = [await anext(watching)]
        await here.put("b", b"2")
        seen.append(await anext(watching))
        await here.delete("a")
        seen.append(await anext(watching))
        assert [(entry.key, entry.value) for entry in seen] == [("a", b"1"), ("b", b"2"), ("a", None)]
        await watching.aclose()  # type: ignore[attr-defined]

    run(connecting, case)


def test_nothing_is_published_to_a_pattern(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        with pytest.raises(BrokerError, match="is no topic"):
            await one.tell(("a", ANY), b"")

    run(connecting, case)


def test_what_a_stream_has_let_go_of_is_counted(connecting: Connect) -> None:
    async def case(one: Broker, other: Broker) -> None:
        name = fresh()
        await one.keep(Stream(name, ((name, REST),), max_bytes=10_000))
        first = await one.publish((name, "a"), bytes(1_000))
        for _ in range(40):
            await one.publish((name, "a"), bytes(1_000))
        following = await other.follow(name, [(name, "a")], after=first)
        messages = await following.batch()
        assert following.lost == messages[0].sequence - first - 1 > 0

    run(connecting, case)
