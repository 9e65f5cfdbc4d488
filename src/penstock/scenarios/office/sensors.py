"""The sources of the building: what each sensor says of what happens, by a clock that is a little wrong.

Bats say where their person is, at least once a minute (section 2.1 of the framework paper). Doors say that they are
opened and closed, thermometers read every two minutes, boards are switched on and off, workstations tell of logins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.random import Generator

from penstock.events.table import EventTable, concat, make_table
from penstock.events.times import SECOND
from penstock.scenarios.office.building import Building
from penstock.scenarios.office.climate import temperatures
from penstock.scenarios.office.movement import Story
from penstock.testing.delays import Constant, DelayLaw, Exponential, HeavyTailed
from penstock.testing.simulator import Heartbeat, Ints, Route, Sent, beats_between

MILLISECOND = 1000
BAT_PERIOD = 55 * SECOND
READING_PERIOD = 120 * SECOND
DOOR_OPEN = 4 * SECOND
LOGS_IN = 0.7
HEARTBEAT = 60 * SECOND


@dataclass(frozen=True)
class Kind:
    """A kind of sensors: how wrong their clocks may be, and how their messages are delayed."""

    name: str
    error: int
    delay: DelayLaw


BAT = Kind("bat", 250 * MILLISECOND, Exponential(400 * MILLISECOND, 50 * MILLISECOND))
DOOR = Kind("door", 100 * MILLISECOND, Exponential(200 * MILLISECOND, 20 * MILLISECOND))
THERMOMETER = Kind("thermometer", SECOND, HeavyTailed(500 * MILLISECOND, 2.0))
BOARD = Kind("board", 500 * MILLISECOND, Exponential(SECOND, 50 * MILLISECOND))
HOST = Kind("host", 20 * MILLISECOND, Constant(20 * MILLISECOND))


@dataclass(frozen=True)
class Said:
    """What one source says: rows of type, true instant and attributes, in order."""

    kind: Kind
    name: str
    rows: Sequence[tuple[str, int, dict[str, object]]]

    @property
    def source(self) -> str:
        """The source's name.

        >>> Said(DOOR, "FE02", []).source
        'door/FE02'
        """
        return f"{self.kind.name}/{self.name}"


def observed(building: Building, story: Story, random: Generator) -> Iterator[Said]:
    """What all sources of the building say, each in the order of its own instants."""
    for person in building.people:
        yield Said(BAT, person.name.lower(), _in_order(_sightings(story, person.name)))
    for room in building.rooms:
        yield Said(DOOR, room.name, _in_order(_door(story, room.name)))
    for room in building.rooms:
        yield Said(THERMOMETER, room.name, list(_readings(story, room.name, random)))
    for room in building.rooms:
        if room.has_board:
            yield Said(BOARD, room.name, _in_order(_board(story, room.name)))
    for person in building.residents:
        yield Said(HOST, f"ws-{person.name.lower()}", list(_logins(story, person.name, str(person.office), random)))


Row = tuple[str, int, dict[str, object]]


def _in_order(rows: Iterator[Row]) -> list[Row]:
    """Sorted, and never twice at one instant: a source's stamps rise."""
    found: list[Row] = []
    for type, at, data in sorted(rows, key=lambda row: row[1]):
        found.append((type, max(at, found[-1][1] + 1) if found else at, data))
    return found


def _sightings(story: Story, person: str) -> Iterator[Row]:
    for stay in story.stays:
        if stay.person == person:
            for at in range(stay.begin, stay.end, BAT_PERIOD):
                yield "Person", at, {"person": person, "room": stay.room}


def _door(story: Story, room: str) -> Iterator[Row]:
    """A door is opened by those who come, just before they are noticed inside, and by those who go."""
    for stay in story.stays:
        if stay.room == room:
            for at in (stay.begin - DOOR_OPEN, stay.end):
                if story.begin < at and at + DOOR_OPEN < story.end:
                    yield "Door", at, {"room": room, "open": True}
                    yield "Door", at + DOOR_OPEN, {"room": room, "open": False}


def _readings(story: Story, room: str, random: Generator) -> Iterator[Row]:
    """Thermometers read at instants of their own, and a last time at the very end."""
    first = story.begin + int(random.integers(1, READING_PERIOD))
    instants = [*range(first, story.end, READING_PERIOD), story.end]
    for at, celsius in zip(instants, temperatures(len(instants), random).tolist(), strict=True):
        yield "Temperature", at, {"room": room, "celsius": celsius}


def _board(story: Story, room: str) -> Iterator[Row]:
    for meeting in story.meetings:
        if meeting.room == room:
            yield "BoardOn", meeting.begin, {"room": room}
            yield "BoardOff", meeting.end, {"room": room, "content": meeting.content}


def _logins(story: Story, person: str, office: str, random: Generator) -> Iterator[Row]:
    """Who comes back to the office often logs in there after a while."""
    for stay in sorted((one for one in story.stays if one.person == person), key=lambda one: one.begin):
        at = stay.begin + int(random.exponential(60 * SECOND)) + SECOND
        if stay.room == office and random.random() < LOGS_IN and at < stay.end:
            yield "Login", at, {"person": person, "host": f"ws-{person.lower()}"}


def sent_by(said: Said, story: Story, random: Generator) -> Sent:
    """What a source sends: its events with interval stamps, and heartbeats when it has nothing to say."""
    at: Ints = np.array([row[1] for row in said.rows], np.int64)
    error = said.kind.error
    clock = int(random.integers(-error, error + 1))
    beats = beats_between(at, HEARTBEAT, story.begin, story.end)
    promises = tuple(Heartbeat(said.source, beat + clock + error) for beat in beats.tolist())
    return Sent(_table(said, at + clock - error, at + clock + error), at, promises, beats)


def _table(said: Said, lo: Ints, hi: Ints) -> EventTable:
    count = len(said.rows)
    fields = {
        "type": pa.array([row[0] for row in said.rows], pa.string()),
        "source": pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([said.source])),
        "id": pa.array(np.arange(1, count + 1)).cast(pa.string()),
        "seq": pa.array(np.arange(1, count + 1)),
        "lo": pa.array(lo),
        "hi": pa.array(hi),
        "uncertain": pa.array(np.full(count, True)),
    }
    names = dict.fromkeys(name for row in said.rows for name in row[2])
    return make_table(fields, {name: pa.array([row[2].get(name) for row in said.rows]) for name in names})


def joined(pieces: Sequence[Sent]) -> Sent:
    """What several sources send."""
    return Sent(
        concat([one.table for one in pieces]),
        np.concatenate([one.sent for one in pieces]),
        tuple(beat for one in pieces for beat in one.heartbeats),
        np.concatenate([one.heartbeats_sent for one in pieces]),
    )


def route(said: Said) -> Route:
    """The way from a source to the detector."""
    return Route(said.kind.delay)
