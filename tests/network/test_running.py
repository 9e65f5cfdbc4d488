"""A detector at a node: in which order it tells what it has found."""

from __future__ import annotations

import asyncio
import json

import pytest

from penstock.brokers.memory.broker import Memory
from penstock.brokers.memory.streams import Kept
from penstock.brokers.protocol import Message
from penstock.brokers.wire import lines_of
from penstock.network.addresses import found_topic, site_stream
from penstock.network.detecting import Beat, Work
from penstock.network.directory import Detector, EventInput
from penstock.network.running import Running
from penstock.network.states import States

PATTERN = "[Open]"
RECORD = Detector("d", PATTERN, ("composite",), "n", events=(EventInput("Open", ("door",)),))


class Failing(Memory):
    """A broker that is away when the first composite comes to it: whoever publishes tries again after a while."""

    def connect(self):  # type: ignore[no-untyped-def]
        broker = super().connect()
        publish = broker.publish
        tried: list[int] = []

        async def later(topic, body, **options):  # type: ignore[no-untyped-def]
            tried.append(0)
            if topic[1] == "found" and len(tried) == 1:
                await asyncio.sleep(0.01)
            return await publish(topic, body, **options)

        broker.publish = later
        return broker


async def told(has_parents: bool) -> list[str]:
    memory = Failing()
    broker = memory.connect()
    await broker.keep(site_stream("office"))
    running = Running(
        Work.begin(RECORD, {}, lambda: 0),
        broker,
        States(await broker.bucket("states")),
        node="n",
        site="office",
        born=1,
        revision=0,
    )
    running.has_parents = has_parents
    lines = [b'{"type":"Open","source":"door","id":"%d","time":%d}' % (at, at) for at in range(1, 9)]
    events = [Message(("office", "event", "Open"), line) for line in lines]
    beat = Message(("office", "beat", "Open"), Beat("door", 20).to_bytes())
    await running._step([*events, beat])
    kept: Kept = memory.streams["penstock-office"]
    messages = [one for one in kept.messages if one.topic == found_topic("office", "d")]
    return [json.loads(line)["timehi"] for one in messages for line in lines_of(one)]


def test_other_detectors_hear_composites_in_order_also_if_the_broker_goes_away_in_between() -> None:
    ends = asyncio.run(told(has_parents=True))
    assert len(ends) == 8
    assert ends == sorted(ends)


@pytest.mark.parametrize("has_parents", [True, False])
def test_all_composites_are_told_once(has_parents: bool) -> None:
    assert len(set(asyncio.run(told(has_parents)))) == 8
