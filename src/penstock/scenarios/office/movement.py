"""How people move: a Markov process with a matrix of probabilities for each person and one step a minute.

Residents are predisposed to use their offices, visitors prefer the rooms for meetings (section 7.1 of the framework
paper). The whiteboards are part of the process: several people switch one on, stay while it is on, and then go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from penstock.events.times import SECOND
from penstock.scenarios.office.building import Building, Person

MINUTE = 60 * SECOND
SHORTEST_STAY = 20 * SECOND
LONGEST_WALK = 40.0
IN_A_MEETING, AFTER_A_MEETING = 0.01, 0.5
"""How likely people leave in a minute while a board is on, and soon after it was switched off."""
SOON, PAUSE, SHORTEST_MEETING = 3 * MINUTE, 20 * MINUTE, 6 * MINUTE
BEGINS, ENDS = 0.1, 0.03
"""How likely a board is switched on in a minute if at least three are there, and off if at least two still are."""
TOPICS = ("budget", "event algebra", "field trial", "hiring", "network plan", "open questions", "release", "thesis")


@dataclass(frozen=True)
class Stay:
    """A person is in a room from one instant to another."""

    person: str
    room: str
    begin: int
    end: int


@dataclass(frozen=True)
class Meeting:
    """A board is on from one instant to another, and has something on it in the end."""

    room: str
    begin: int
    end: int
    content: str


@dataclass(frozen=True)
class Story:
    """What really happens in the building; nobody but the simulator knows it."""

    begin: int
    end: int
    stays: tuple[Stay, ...]
    meetings: tuple[Meeting, ...]


def matrix(building: Building, person: Person) -> NDArray[np.float64]:
    """The probability of each movement in a minute, from each room (row) to each (column).

    >>> from penstock.scenarios.office.building import BUILDING
    >>> jean = matrix(BUILDING, BUILDING.people[0])
    >>> jean.shape, bool(np.allclose(jean.sum(axis=1), 1)), round(float(jean[0, 0]), 3)
    ((9, 9), True, 0.975)
    """
    likes = np.array([_weight(room.name, room.kind, person) for room in building.rooms])
    leaves = np.array([_leaving(room.name, room.kind, person) for room in building.rooms])
    moves = np.tile(likes, (len(likes), 1))
    np.fill_diagonal(moves, 0)
    moves *= (leaves / moves.sum(axis=1))[:, None]
    np.fill_diagonal(moves, 1 - leaves)
    return moves


def _weight(room: str, kind: str, person: Person) -> float:
    """How much a person who moves is drawn to a room."""
    if room == person.office:
        return 0.6
    if kind == "office":
        return 0.02
    return (0.1 if person.office else 0.3) * (0.5 if kind == "seminar room" else 1)


def _leaving(room: str, kind: str, person: Person) -> float:
    """How likely a person leaves a room within a minute."""
    if room == person.office:
        return 0.025
    return 0.12 if kind == "office" else 0.05


@dataclass
class _Walker:
    """Where a person is, since when, and how they move."""

    person: Person
    room: int
    since: int
    moves: NDArray[np.float64]


@dataclass
class _Board:
    """When a board was switched on, if it is on, when it was last switched off, and after how many meetings."""

    room: int
    since: int | None = None
    off: int = -PAUSE
    held: int = 0

    def leaving(self, minute: int) -> float | None:
        """How likely people leave its room, where that depends on the board."""
        if self.since is not None:
            return IN_A_MEETING
        return AFTER_A_MEETING if minute < self.off + SOON else None


@dataclass
class _Course:
    """The process as it goes on."""

    building: Building
    random: Generator
    walkers: list[_Walker]
    boards: list[_Board]
    stays: list[Stay] = field(default_factory=list)
    meetings: list[Meeting] = field(default_factory=list)

    def step(self, minute: int) -> None:
        """A minute passes."""
        leaving = {board.room: board.leaving(minute) for board in self.boards}
        for walker in self.walkers:
            self._walk(walker, minute, leaving.get(walker.room))
        for board in self.boards:
            self._hold(board, minute)

    def _walk(self, walker: _Walker, minute: int, leaving: float | None) -> None:
        chances = walker.moves[walker.room].copy()
        if leaving is not None:
            chances *= leaving / (1 - chances[walker.room])
            chances[walker.room] = 1 - leaving
        room = int(self.random.choice(len(chances), p=chances))
        at = minute + int(self.random.uniform(0, MINUTE))
        walk = int(self.random.uniform(10, LONGEST_WALK) * SECOND)
        if room != walker.room and at >= walker.since + SHORTEST_STAY:
            self._leave(walker, at)
            walker.room, walker.since = room, at + walk

    def _leave(self, walker: _Walker, at: int) -> None:
        name = self.building.rooms[walker.room].name
        self.stays.append(Stay(walker.person.name, name, walker.since, at))

    def _hold(self, board: _Board, minute: int) -> None:
        at = minute + int(self.random.uniform(0, MINUTE))
        present = sum(walker.room == board.room and walker.since < at for walker in self.walkers)
        chance = self.random.random()
        if board.since is None:
            if present >= 3 and chance < BEGINS and at > board.off + PAUSE:
                board.since = at
        elif present < 2 or (chance < ENDS and at > board.since + SHORTEST_MEETING):
            self._end(board, board.since, max(at, board.since + SHORTEST_STAY))

    def _end(self, board: _Board, since: int, at: int) -> None:
        board.since, board.off, board.held = None, at, board.held + 1
        name = self.building.rooms[board.room].name
        topic = TOPICS[int(self.random.integers(len(TOPICS)))]
        self.meetings.append(Meeting(name, since, at, f"{name}.{board.held} {topic}"))

    def finish(self, end: int) -> None:
        """Everybody is where they are until the end; a board that is still on is no meeting yet."""
        for walker in self.walkers:
            if walker.since < end:
                self._leave(walker, end)


def walk(building: Building, begin: int, minutes: int, random: Generator) -> Story:
    """What happens in so many minutes.

    >>> from penstock.scenarios.office.building import BUILDING
    >>> story = walk(BUILDING, 0, 120, np.random.default_rng(1))
    >>> len({stay.person for stay in story.stays}), all(stay.begin < stay.end for stay in story.stays)
    (15, True)
    """
    walkers = list(_walkers(building, begin, random))
    boards = [_Board(place) for place, room in enumerate(building.rooms) if room.has_board]
    course = _Course(building, random, walkers, boards)
    for minute in range(minutes):
        course.step(begin + minute * MINUTE)
    end = begin + minutes * MINUTE
    course.finish(end)
    meetings = tuple(one for one in course.meetings if one.end < end)
    return Story(begin, end, tuple(course.stays), meetings)


def _walkers(building: Building, begin: int, random: Generator) -> Iterator[_Walker]:
    """Everybody arrives within the first minutes, where they like to be."""
    for person in building.people:
        moves = matrix(building, person)
        likes = np.array([_weight(room.name, room.kind, person) for room in building.rooms])
        room = int(random.choice(len(likes), p=likes / likes.sum()))
        yield _Walker(person, room, begin + int(random.uniform(5, 900) * SECOND), moves)
