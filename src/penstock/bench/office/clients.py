"""The subscribers of the experiment: each with a connection of its own over the air.

In the network, they are told composites. For themselves, they hear all events of the types that the subscription needs,
with the heartbeats, and detect.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock import Detector
from penstock.bench.office.setting import (
    DISTRIBUTION,
    OFFICE,
    OVER_THE_AIR,
    SETTINGS,
    TYPES,
    WANTED,
    Setting,
    expected,
    pattern,
)
from penstock.bench.office.talking import end_with_input, now, say
from penstock.brokers.connecting import connect
from penstock.brokers.protocol import Message
from penstock.brokers.wire import lines_of, read_lines
from penstock.detection.composites import Composites
from penstock.network.addresses import beat_topic, event_topic
from penstock.network.detecting import Beat
from penstock.service.service import Service

PATIENCE = 120.0
"""After so many seconds of silence a subscriber asks whether its stream is still there; asking costs bytes."""
LEASE = "6 min"
"""To say that one lives costs bytes too."""


@dataclass
class Received:
    """What a subscriber was told: ids of composites, their ends, and when they came."""

    wanted: int
    told: list[tuple[str, int, float]] = field(default_factory=list)
    full: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, id: str, hi: int) -> None:
        """A composite came."""
        self.told.append((id, hi, now()))
        if len(self.told) >= self.wanted:
            self.full.set()


class OwnDetection:
    """What a client does that hears primitive events."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._detector = Detector(pattern(), sources=sources, only=[WANTED])

    def take(self, messages: Sequence[Message]) -> Composites:
        """Events and heartbeats came; those of one batch are taken together."""
        lines = [line for one in messages if one.topic[1] == "event" for line in lines_of(one)]
        beats = [Beat.of_bytes(one.body) for one in messages if one.topic[1] == "beat"]
        promised = {beat.source: beat.at for beat in beats}
        return self._detector.feed(read_lines(lines, _refused), heartbeats=promised)


def _refused(error: Exception) -> None:
    raise error


async def detect_alone(received: Received, sources: Sequence[str], subscribed: Callable[[], None]) -> None:
    """A client that detects for itself."""
    broker = await connect(OVER_THE_AIR, name="client")
    listening = await broker.listen([topic(OFFICE, type) for topic in (event_topic, beat_topic) for type in TYPES])
    detection = OwnDetection(sources)
    subscribed()
    while True:
        found = detection.take(await listening.batch()).table
        for id, hi in zip(found["id"].to_pylist(), found["hi"].cast("int64").to_pylist(), strict=True):
            received.add(id, hi)


async def run(setting: Setting, subscribe: Callable[[Received, Callable[[], None]], Awaitable[None]]) -> None:
    """All subscribers, until everyone was told everything."""
    day = setting.day()
    wanted = len(expected(day))
    all_received = [Received(wanted) for _ in range(setting.subscribers)]
    waiting = asyncio.Semaphore(0)
    tasks = [asyncio.ensure_future(subscribe(one, waiting.release)) for one in all_received]
    for _ in tasks:
        await _first(waiting.acquire(), tasks)
    say("ready")
    end_with_input()
    await _first(asyncio.gather(*(one.full.wait() for one in all_received)), tasks)
    await asyncio.sleep(0.3)  # what comes twice comes soon
    say(json.dumps([one.told for one in all_received]))


async def _first(work: Awaitable[Any], tasks: Sequence[asyncio.Future[None]]) -> None:
    """Wait for something, or for the error of a task that must not end."""
    awaited: list[asyncio.Future[Any]] = [asyncio.ensure_future(work), *tasks]
    done, _ = await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
    for one in done:
        one.result()


async def be_told(received: Received, subscribed: Callable[[], None]) -> None:
    """A client that is told composites."""
    async with Service(OVER_THE_AIR, settings=SETTINGS, patience=PATIENCE, lease=LEASE) as service:
        subscription = await service.subscribe(pattern(), only=[WANTED], distribution=DISTRIBUTION, timeout=60)
        subscribed()
        async for composite in subscription:
            received.add(composite.id, composite.hi)


def main(setting: Setting) -> None:
    """Subscribers of one way or the other."""
    sources = setting.day().sources

    async def subscribe(received: Received, subscribed: Callable[[], None]) -> None:
        if setting.way == "network":
            await be_told(received, subscribed)
        else:
            await detect_alone(received, sources, subscribed)

    asyncio.run(run(setting, subscribe))
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main(Setting.of_json(sys.argv[1]))
