"""What was detected in the building, by rooms: for the summary and for the picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.detection.composites import Composites
from penstock.events.event import Event
from penstock.events.times import SECOND

APART = 6 * 60 * SECOND
"""Cold readings that are not further apart belong together."""


@dataclass(frozen=True)
class Cold:
    """A room was cold while somebody was there, for so many readings; the lowest of them."""

    room: str
    begin: int
    end: int
    celsius: float
    readings: int


@dataclass(frozen=True)
class Held:
    """A meeting, and what became of those who were there at its end."""

    room: str
    begin: int
    end: int
    people: int
    board: str
    notified: tuple[str, ...]
    logged_in: tuple[str, ...]


@dataclass(frozen=True)
class Findings:
    """Cold rooms and meetings in the order of their beginnings, and how many composites there are of each type."""

    cold: tuple[Cold, ...]
    meetings: tuple[Held, ...]
    counts: dict[str, int]


def findings(composites: Composites) -> Findings:
    """What the composites of ``office.pen`` say.

    >>> from penstock import detect
    >>> from penstock.scenarios.office.patterns import OFFICE, load
    >>> from penstock.scenarios.office.simulator import simulate
    >>> found = findings(detect(simulate(seed=1, hours=3).events, load(OFFICE)))
    >>> len(found.meetings) == found.counts["Meeting"] > 0
    True
    """
    found = sorted(composites, key=lambda one: (one.hi, one.type, one.id))
    of: dict[str, list[Event]] = {}
    for one in found:
        of.setdefault(one.type, []).append(one)
    cold = sorted(_spells(of.get("ColdRoom", [])), key=lambda one: (one.begin, one.room))
    held = sorted(_held(of), key=lambda one: (one.begin, one.room))
    return Findings(tuple(cold), tuple(held), dict(sorted(Counter(one.type for one in found).items())))


def _spells(readings: Sequence[Event]) -> Iterator[Cold]:
    """Readings of one room that follow each other soon, as one."""
    spells: dict[str, list[Event]] = {}
    for one in readings:
        room = _of(one, "room")
        spell = spells.setdefault(room, [])
        if spell and one.hi - spell[-1].hi > APART:
            yield _spell(room, spell)
            spell = spells[room] = []
        spell.append(one)
    yield from (_spell(room, spell) for room, spell in spells.items())


def _spell(room: str, readings: Sequence[Event]) -> Cold:
    lowest = min(_of(one, "celsius") for one in readings)
    return Cold(room, readings[0].hi, readings[-1].hi, lowest, len(readings))


def _held(of: dict[str, list[Event]]) -> Iterator[Held]:
    """Meetings, with the people who were there at the end; a board's content is different for each."""
    there = _people(of.get("Attended", []))
    notified = _people(of.get("SendNotes", []))
    for one in of.get("Meeting", []):
        board = _of(one, "board")
        sent = notified.get(board, ())
        stayed = tuple(person for person in there.get(board, ()) if person not in sent)
        yield Held(_of(one, "room"), one.lo, one.hi, _of(one, "people"), board, sent, stayed)


def _people(composites: Sequence[Event]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for one in composites:
        found.setdefault(_of(one, "board"), set()).add(_of(one, "person"))
    return {board: tuple(sorted(people)) for board, people in found.items()}


def _of(composite: Event, attribute: str) -> Any:
    return composite.attributes[attribute]
