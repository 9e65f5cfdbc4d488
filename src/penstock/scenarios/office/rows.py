"""One room's row of the building's picture: who was there, how warm it was, and what was detected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.drawing.lettering import width
from penstock.events.times import format_time
from penstock.scenarios.office import canvas
from penstock.scenarios.office.building import Room
from penstock.scenarios.office.canvas import Scale
from penstock.scenarios.office.findings import Cold, Findings, Held
from penstock.scenarios.office.movement import Stay

STRIP, GAP = 8.0, 3.0
"""The height of the strip of temperatures, and the room above it."""


@dataclass(frozen=True)
class Shape:
    """The heights of a row's bar of meetings and of its people, and how many people fill it."""

    bar: float
    people: float
    crowd: int

    @property
    def height(self) -> float:
        """Of the whole row."""
        return self.bar + self.people + GAP + STRIP + 12


OFFICE, MEETINGS = Shape(4, 30, 4), Shape(17, 44, 11)


def shape(room: Room) -> Shape:
    """How a room's row is laid out."""
    return MEETINGS if room.has_board else OFFICE


@dataclass(frozen=True)
class RoomDay:
    """A room, and what is drawn of it."""

    room: Room
    residents: Sequence[Stay]
    visitors: Sequence[Stay]
    readings: Sequence[tuple[int, float]]
    found: Findings


def row(day: RoomDay, scale: Scale, top: float) -> Iterator[str]:
    """Everything in a room's row, from its top down."""
    look = shape(day.room)
    floor = top + look.bar + look.people
    yield canvas.text(24, floor - 16, day.room.name, "room")
    yield canvas.text(24, floor, day.room.kind, "faint")
    yield from _people(day, scale, floor)
    yield from _warmth(day, scale, floor + GAP)
    for cold in day.found.cold:
        if cold.room == day.room.name:
            yield from _cold(cold, scale, top + look.bar, floor)
    for held in day.found.meetings:
        if held.room == day.room.name:
            yield from _meeting(held, scale, top)
    yield from _counts(day, scale, floor)


def _people(day: RoomDay, scale: Scale, floor: float) -> Iterator[str]:
    """How many were there, visitors on top of residents."""
    look = shape(day.room)
    everybody = [*day.residents, *day.visitors]
    edges = np.unique([scale.begin, *(at for stay in everybody for at in (stay.begin, stay.end))])
    residents = _present(day.residents, edges)
    for counts, colour in ((residents + _present(day.visitors, edges), canvas.VISITOR), (residents, canvas.RESIDENT)):
        yield canvas.area(_steps(edges, np.minimum(counts, look.crowd), scale, floor, look.people / look.crowd), colour)
    yield canvas.line(scale.left, floor, scale.right, floor, canvas.FAINT, 'stroke-width="0.6"')


def _present(stays: Sequence[Stay], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many are there from each edge on."""
    change = np.zeros(len(edges) + 1, np.int64)
    for stay in stays:
        change[np.searchsorted(edges, stay.begin)] += 1
        change[np.searchsorted(edges, stay.end)] -= 1
    return np.cumsum(change)[: len(edges)]


def _steps(
    edges: NDArray[np.int64], counts: NDArray[np.int64], scale: Scale, floor: float, unit: float
) -> Iterator[tuple[float, float]]:
    yield scale.x(int(edges[0])), floor
    for place, (at, count) in enumerate(zip(edges.tolist(), counts.tolist(), strict=True)):
        height = floor - count * unit
        following = edges[place + 1] if place + 1 < len(edges) else at
        yield scale.x(at), height
        yield scale.x(int(following)), height
    yield scale.x(int(edges[-1])), floor


def _warmth(day: RoomDay, scale: Scale, top: float) -> Iterator[str]:
    """The strip of temperatures, a little rectangle for each reading."""
    instants = [at for at, _ in day.readings]
    for (at, celsius), end in zip(day.readings, [*instants[1:], scale.end], strict=True):
        left = scale.x(at)
        yield canvas.box(left, top, scale.x(end) - left + 0.3, STRIP, canvas.warmth(celsius), title=f"{celsius} °C")


def _cold(cold: Cold, scale: Scale, top: float, floor: float) -> Iterator[str]:
    left, right = scale.x(cold.begin), scale.x(cold.end)
    words = (
        f"ColdRoom {cold.room}: {cold.celsius} °C, {cold.readings} times, {_clock(cold.begin)} to {_clock(cold.end)}"
    )
    shade = 'fill-opacity="0.16" rx="2"'
    yield canvas.box(left - 1.5, top, right - left + 3, floor - top + GAP + STRIP, canvas.COLD, shade, words)
    yield canvas.flake((left + right) / 2, top + 8, canvas.COLD, words)


def _meeting(held: Held, scale: Scale, top: float) -> Iterator[str]:
    left, right = scale.x(held.begin), scale.x(held.end)
    words = f"Meeting {held.board}: {held.people} people, {_clock(held.begin)} to {_clock(held.end)}"
    yield canvas.box(left, top + 1, right - left, 13, canvas.MEETING, 'rx="3"', words)
    label = next((one for one in _labels(held) if width(one, 10.0) < right - left - 6), "")
    yield canvas.text(left + 5, top + 10.5, label, "held")
    yield from _sent(held, right, top + 24)


def _sent(held: Held, x: float, y: float) -> Iterator[str]:
    """Who got the notes and who did not, after a meeting's end."""
    if held.notified:
        words = f"SendNotes {held.board}: to {', '.join(held.notified)}"
        yield canvas.envelope(x + 12, y, canvas.NOTE, words)
        yield canvas.text(x + 22, y + 4, str(len(held.notified)))
    if held.logged_in:
        yield canvas.text(x + (31 if held.notified else 6), y + 4, f"+{len(held.logged_in)}", "logged")


def _labels(held: Held) -> tuple[str, ...]:
    """What may stand on a meeting's bar, the longest first."""
    topic = held.board.partition(" ")[2]
    return f"{topic}, {held.people} people", f"{topic}, {held.people}", topic, str(held.people)


def _counts(day: RoomDay, scale: Scale, floor: float) -> Iterator[str]:
    """How much was detected there, in words."""
    cold = sum(one.readings for one in day.found.cold if one.room == day.room.name)
    held = [one for one in day.found.meetings if one.room == day.room.name]
    lines = [f"{cold} cold"] if cold else []
    lines += [f"{len(held)} held", f"{sum(len(one.notified) for one in held)} notes"] if held else []
    for place, words in enumerate(lines):
        yield canvas.text(scale.right + 12, floor - 16 + place * 15, words, "faint")


def _clock(at: int) -> str:
    return format_time(at)[11:16]
