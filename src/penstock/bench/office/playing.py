"""The sources of the experiment: the day is played faster than it would pass, every event in a message of its own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.bench.office.setting import AT_OFFICE, SETTINGS, TYPES, Setting
from penstock.bench.office.talking import end_with_input, now, say
from penstock.events.event import Event
from penstock.scenarios.office.simulator import Day
from penstock.service.publishers import Publisher
from penstock.service.service import Service
from penstock.testing.simulator import Heartbeat


@dataclass(frozen=True)
class Saying:
    """What a source says at an instant of the day: an event, or a heartbeat."""

    at: int
    what: Event | Heartbeat

    @property
    def source(self) -> str:
        """Who says it."""
        return self.what.source

    @property
    def shown(self) -> int:
        """Its later events end after this, or at the same instant at the earliest."""
        return self.what.hi - 1 if isinstance(self.what, Event) else self.what.at


def sayings(day: Day) -> list[Saying]:
    """All that sources say, in the order of the instants at which they do.

    >>> from penstock.scenarios.office.simulator import simulate
    >>> said = sayings(simulate(hours=0.2))
    >>> all(one.at <= other.at for one, other in zip(said, said[1:]))
    True
    """
    sent = day.sent
    events = [Saying(at, event) for at, event in zip(sent.sent.tolist(), sent.table.to_events(), strict=True)]
    beats = [Saying(at, beat) for at, beat in zip(sent.heartbeats_sent.tolist(), sent.heartbeats, strict=True)]
    return sorted([*events, *beats], key=lambda one: one.at)


async def publish(publisher: Publisher, what: Event | Heartbeat) -> None:
    """An event goes to the topic of its type, a heartbeat to those of all types of its source."""
    if isinstance(what, Event):
        await publisher.publish(what)
    else:
        await publisher.heartbeat(what.at)


async def registered(service: Service, sources: Sequence[str]) -> dict[str, Publisher]:
    """All sources, with the types that they publish; heartbeats are those of the day."""
    types = {name: service.create_type(name, **attributes) for name, attributes in TYPES.items()}
    return {
        source: [await service.register_type(types[name], source, heartbeat=None) for name in types_of(source)][-1]
        for source in sources
    }


def types_of(source: str) -> tuple[str, ...]:
    """What a source of the building publishes.

    >>> types_of("board/M1")
    ('BoardOff', 'BoardOn')
    """
    kinds = {"bat": ("Person",), "board": ("BoardOff", "BoardOn"), "host": ("Login",)}
    return kinds[source.partition("/")[0]]


async def play(setting: Setting) -> None:
    """Plays the day, and then says what each source had shown, and when it said so."""
    day = setting.day()
    said = sayings(day)
    log: list[tuple[str, int, float]] = []
    async with Service(AT_OFFICE, name="sensors", settings=SETTINGS) as service:
        publishers = await registered(service, day.sources)
        say("ready")
        await asyncio.to_thread(sys.stdin.buffer.readline)
        end_with_input()
        began = now()
        for one in said:
            due = began + (one.at - day.story.begin) / 1e6 / setting.speed
            await asyncio.sleep(max(0.0, due - now()))
            log.append((one.source, one.shown, now()))
            await publish(publishers[one.source], one.what)
        say(json.dumps(log))
        await asyncio.Event().wait()  # sources stay: that they leave is no part of the experiment


if __name__ == "__main__":
    asyncio.run(play(Setting.of_json(sys.argv[1])))
