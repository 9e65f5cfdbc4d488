"""A stage fed in the notation of tests, and what it gives on."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

from penstock.algebra.pattern import Pattern
from penstock.engine.engine import Engine
from penstock.engine.prepared import Choice
from penstock.events.found import Composite
from penstock.events.table import EventTable
from penstock.ordering.stage import Ordering, Ready
from penstock.testing.match import trace
from penstock.testing.simulator import Arrival
from tests.engine.conftest import composites_of, rows

SECOND = 1_000_000
FRESH = count()


def table(text: str) -> EventTable:
    """Events in the notation of `penstock.testing.match`; ids that are not given are new in every table."""
    numbered = re.compile(r"\d{3}")
    return rows(replace(e, id=f"{next(FRESH):09}") if numbered.fullmatch(e.id) else e for e in trace(text).events)


def seen(ready: Ready) -> list[str]:
    """What may be consumed, such as ``A5``: type and end in seconds."""
    return named(ready.table)


def named(events: EventTable) -> list[str]:
    return [f"{event.type}{event.hi // SECOND}" for event in events.to_events()]


def fed(stage: Ordering, text: str, arrival: float = 0) -> Ready:
    return stage.feed(table(text), round(arrival * SECOND))


def through(stage: Ordering, arrivals: Iterable[Arrival]) -> list[Ready]:
    """All that a stage gives on, to the end."""
    given = []
    for arrival in arrivals:
        given.append(stage.feed(arrival.table, arrival.at))
        given += [stage.heartbeat(beat.source, beat.at, arrival.at) for beat in arrival.heartbeats]
    return [*given, stage.finish()]


def detected(pattern: Pattern, given: Sequence[Ready], restart: bool = False) -> list[Composite]:
    """What the engine finds in what a stage gave on."""
    engine = Engine(pattern, Choice(restart=restart))
    found = [engine.feed(ready.table, ready.progress) for ready in given]
    return [composite for one in found for composite in composites_of(one)]
