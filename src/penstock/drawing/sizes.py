"""How much room a state takes in a drawing: its circle, the loops above it, the options beside it, the notes below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from penstock.drawing.graph import Move, State, Wait
from penstock.drawing.lettering import BOLD_SIZE, LABEL_SIZE, NOTE_SIZE, width, wrapped

RADIUS, WIDE_RADIUS = 24.0, 40.0
LABEL_HEIGHT, NOTE_HEIGHT = 15.0, 14.0
ARM = 22.0
"""From a circle to where its options' labels begin."""
LANDING = 18.0
"""Left of a circle, for arrows."""
LOOP, LOOP_STEP = 30.0, 7.0
ROW_GAP = 10.0
CLOCK = 17.0
"""The width of a clock before a timer's name."""


@dataclass(frozen=True)
class Caption:
    """What is written at an option: label lines above its line, note lines below."""

    label: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def above(self) -> float:
        """Height above the line."""
        return len(self.label) * LABEL_HEIGHT + 4

    @property
    def below(self) -> float:
        """Height below the line."""
        return len(self.notes) * NOTE_HEIGHT + (4 if self.notes else 0)

    @property
    def width(self) -> float:
        """Width of the widest line."""
        return max(lines_width(self.label, LABEL_SIZE), lines_width(self.notes, NOTE_SIZE))


@dataclass(frozen=True)
class Note:
    """A line under a state."""

    text: str
    full: str
    kind: Literal["name", "timer", "note"]

    @property
    def width(self) -> float:
        """Width, with the clock that a timer has."""
        if self.kind == "name":
            return width(self.text, BOLD_SIZE)
        return width(self.text, NOTE_SIZE) + (CLOCK if self.kind == "timer" else 0)


@dataclass(frozen=True)
class Row:
    """An option that leads to other states; ``offset`` is where its line is, from the circle's middle."""

    wait: int
    caption: Caption
    offset: float


@dataclass(frozen=True)
class Size:
    """A state's parts, measured from the middle of its circle."""

    radius: float
    name_inside: bool
    rows: tuple[Row, ...]
    loops: tuple[Caption, ...]
    loop_height: float
    notes: tuple[Note, ...]
    notes_top: float
    above: float
    below: float
    left: float
    right: float


def size_of(state: State, number: int, waits: Sequence[int]) -> Size:
    """The size of a state whose options lead to other states in this order, from top to bottom."""
    fits = width(state.name, BOLD_SIZE) < 2 * (WIDE_RADIUS if state.kind == "generative" else RADIUS) - 5
    radius = WIDE_RADIUS if state.kind == "generative" and fits else RADIUS
    rows = _rows([(n, _caption(state.waits[n], state.waits[n].moves)) for n in waits])
    rows_top = max((row.caption.above - row.offset for row in rows), default=0.0)
    rows_bottom = max((row.caption.below + row.offset for row in rows), default=0.0)
    loops = tuple(_caption(wait, ()) for wait in state.waits if number in (move.target for move in wait.moves))
    loop_height = max(LOOP, rows_top - radius + 6) + LOOP_STEP * (len(loops) - 1)
    loops_top = radius + loop_height + sum(one.above + one.below for one in loops) if loops else 0.0
    notes = _notes(state, fits)
    notes_top = max(radius, rows_bottom) + 6
    half = max([radius, *(note.width / 2 for note in notes), *(loop.width / 2 for loop in loops)])
    return Size(
        radius=radius,
        name_inside=fits,
        rows=rows,
        loops=loops,
        loop_height=loop_height,
        notes=notes,
        notes_top=notes_top,
        above=max(radius, rows_top, loops_top),
        below=max(radius, rows_bottom, notes_top + len(notes) * NOTE_HEIGHT if notes else 0.0),
        left=max(half, radius + LANDING),
        right=max([half, *(radius + ARM + row.caption.width + 8 for row in rows)]),
    )


def lines_width(lines: Sequence[str], size: float) -> float:
    """The width of the widest line."""
    return max((width(line, size) for line in lines), default=0.0)


def _caption(wait: Wait, moves: Iterable[Move]) -> Caption:
    ends = [f"ends if {move.condition}" for move in moves if move.condition]
    notes = tuple(line for note in (*wait.notes, *ends) for line in wrapped(note, 34, 2))
    return Caption(wrapped(wait.label), notes)


def _rows(captions: list[tuple[int, Caption]]) -> tuple[Row, ...]:
    """Options below each other, so that the middle of their lines is the middle of the circle."""
    lines: list[float] = []
    bottom = 0.0
    for _, caption in captions:
        lines.append(bottom + caption.above)
        bottom = lines[-1] + caption.below + ROW_GAP
    middle = (lines[0] + lines[-1]) / 2 if lines else 0.0
    return tuple(Row(n, caption, line - middle) for (n, caption), line in zip(captions, lines, strict=True))


def _notes(state: State, name_inside: bool) -> tuple[Note, ...]:
    """A state's name if it is too long for the circle, its timers, and what fails it."""
    names = [] if name_inside else [Note(wrapped(state.name, 32, 1)[0], state.name, "name")]
    already = {timer.partition(" = ")[0] for timer in state.sets}
    timers = [*state.sets, *(f"{name} runs" for name in state.timers if name not in already)]
    clocks = [Note(wrapped(timer, 26, 1)[0], timer, "timer") for timer in timers]
    fails = f"fails on {', '.join(state.fails_on)}" if state.fails_on else ""
    return (*names, *clocks, *(Note(line, fails, "note") for line in wrapped(fails, 26, 4)))
