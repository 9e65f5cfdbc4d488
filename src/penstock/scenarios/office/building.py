"""Who is in the building, and which rooms it has: the layout of the papers' experiment (section 7.1 of the framework
paper, "Evaluation and Results" of its journal version): nine rooms, eight residents and seven visitors.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """A room; meetings are held in those that have a whiteboard."""

    name: str
    kind: str

    @property
    def has_board(self) -> bool:
        """Whether meetings are held there.

        >>> Room("M1", "meeting room").has_board, Room("FE02", "office").has_board
        (True, False)
        """
        return self.kind != "office"


@dataclass(frozen=True)
class Person:
    """A resident has an office with a workstation, a visitor has none."""

    name: str
    office: str | None = None


@dataclass(frozen=True)
class Building:
    """Rooms, and the people who move between them."""

    rooms: tuple[Room, ...]
    people: tuple[Person, ...]

    def place(self, room: str) -> int:
        """The number of a room.

        >>> BUILDING.place("FE04")
        1
        """
        return [one.name for one in self.rooms].index(room)

    @property
    def residents(self) -> tuple[Person, ...]:
        """Those who have an office.

        >>> len(BUILDING.residents), len(BUILDING.people)
        (8, 15)
        """
        return tuple(person for person in self.people if person.office)


BUILDING = Building(
    rooms=(
        Room("FE02", "office"),
        Room("FE04", "office"),
        Room("FE06", "office"),
        Room("FE08", "office"),
        Room("FE10", "office"),
        Room("FE12", "office"),
        Room("M1", "meeting room"),
        Room("M2", "meeting room"),
        Room("S1", "seminar room"),
    ),
    people=(
        Person("Jean", "FE02"),
        Person("Peter", "FE04"),
        Person("Brian", "FE04"),
        Person("Alice", "FE06"),
        Person("Bob", "FE06"),
        Person("Carol", "FE08"),
        Person("David", "FE10"),
        Person("Erin", "FE12"),
        Person("Frank"),
        Person("Grace"),
        Person("Heidi"),
        Person("Ivan"),
        Person("Judy"),
        Person("Karl"),
        Person("Laura"),
    ),
)
"""The building of the papers."""
