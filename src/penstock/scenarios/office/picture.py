"""A picture of the building's day: a row for each room, with what was detected there, as one SVG."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from penstock.events.times import SECOND, format_time
from penstock.scenarios.office import canvas
from penstock.scenarios.office.canvas import Scale
from penstock.scenarios.office.findings import Findings
from penstock.scenarios.office.rows import RoomDay, row, shape
from penstock.scenarios.office.simulator import Day

WIDTH, LEFT, RIGHT, TOP = 1280.0, 118.0, 84.0, 108.0
FOOT = 64.0
HOUR = 3600 * SECOND


def draw(day: Day, found: Findings) -> str:
    """The day, and what was found in it.

    >>> from penstock.scenarios.office.simulator import simulate
    >>> picture = draw(simulate(hours=1), Findings((), (), {}))
    >>> picture.count('class="room"'), picture.startswith("<svg ")
    (9, True)
    """
    scale = Scale(day.story.begin, day.story.end, LEFT, WIDTH - RIGHT)
    tops = list(accumulate((shape(room).height for room in day.building.rooms), initial=TOP))
    bottom = tops[-1]
    high = bottom + FOOT
    size = f'width="{WIDTH:g}" height="{high:g}" viewBox="0 0 {WIDTH:g} {high:g}"'
    signs = [*_heading(day, found), *_hours(scale, bottom)]
    for room, top in zip(_rooms(day, found), tops, strict=False):
        signs.append(canvas.line(16, top - 4, WIDTH - 16, top - 4, canvas.RULE))
        signs += row(room, scale, top)
    signs += _legend(bottom + 34)
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="office" {size}>\n{canvas.STYLE}\n' + "\n".join(
        [canvas.box(0, 0, WIDTH, high, "#ffffff"), *signs, "</svg>\n"]
    )


def _rooms(day: Day, found: Findings) -> Iterator[RoomDay]:
    residents = {person.name for person in day.building.residents}
    table = day.events
    types, rooms = (np.array(column.to_pylist()) for column in (table.field("type"), table.attribute("room")))
    ends, warmth = table.numbers("hi"), table.attribute("celsius").to_pylist()
    for room in day.building.rooms:
        stays = [stay for stay in day.story.stays if stay.room == room.name]
        rows = np.flatnonzero((types == "Temperature") & (rooms == room.name)).tolist()
        yield RoomDay(
            room,
            [stay for stay in stays if stay.person in residents],
            [stay for stay in stays if stay.person not in residents],
            [(int(ends[one]), warmth[one]) for one in rows],
            found,
        )


def _heading(day: Day, found: Findings) -> Iterator[str]:
    counts = found.counts
    yield canvas.text(24, 38, "A day in the Active Office", "title")
    words = (
        f"{format_time(day.story.begin)[:10]}, {len(day.building.people)} people in {len(day.building.rooms)} rooms: "
        f"{len(day.sent.table):,} events of {len(day.sources)} sources. Detected: "
        f"{counts.get('ColdRoom', 0)} cold readings in occupied rooms (scenario 1); "
        f"{counts.get('Meeting', 0)} meetings and {counts.get('SendNotes', 0)} notes sent (scenario 2)."
    )
    yield canvas.text(24, 60, words, "faint")


def _hours(scale: Scale, bottom: float) -> Iterator[str]:
    """A line and its time for each full hour."""
    first = -(-scale.begin // HOUR) * HOUR
    for at in range(first, scale.end + 1, HOUR):
        x = scale.x(at)
        yield canvas.line(x, TOP - 12, x, bottom - 4, canvas.RULE)
        yield canvas.text(x, TOP - 17, format_time(at)[11:16], "faint middle")


def _legend(y: float) -> Iterator[str]:
    """What the signs mean; each stands at its place, its words some way to the right."""
    for x, shift, sign, words in (
        (24, 22, canvas.box(24, y - 9, 16, 11, canvas.RESIDENT), "residents in the room"),
        (184, 22, canvas.box(184, y - 9, 16, 11, canvas.VISITOR), "visitors"),
        (276, 58, _warmths(276, y - 8), "temperature, 11 to 23 °C"),
        (506, 14, canvas.flake(508, y - 4, canvas.COLD), "ColdRoom: below 15 °C, occupied"),
        (732, 28, canvas.box(732, y - 10, 22, 13, canvas.MEETING, 'rx="3"'), "Meeting, with its topic"),
        (910, 16, canvas.envelope(914, y - 4, canvas.NOTE), "SendNotes, to so many"),
        (1074, 20, canvas.text(1074, y, "+1", "logged"), "logged in, gets none"),
    ):
        yield sign
        yield canvas.text(x + shift, y, words)


def _warmths(x: float, y: float) -> str:
    steps = range(13)
    return "".join(canvas.box(x + 4 * step, y, 4.3, 9, canvas.warmth(11 + step)) for step in steps)
