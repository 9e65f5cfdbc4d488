"""What was detected in a day, in words: tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from penstock.events.times import SECOND, format_time
from penstock.scenarios.live import Progress
from penstock.scenarios.office.findings import Findings
from penstock.scenarios.office.simulator import Day


@dataclass(frozen=True)
class Course:
    """Where patterns were detected, how many seconds that took, and what was counted."""

    engine: str
    seconds: float
    progress: Progress


def summary(day: Day, found: Findings, course: Course) -> Iterator[RenderableType]:
    """The two scenarios, and how detection went."""
    yield _cold(found)
    yield _meetings(found)
    yield Text("\n".join(_words(day, found, course)))


def _table(title: str, *columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold")
    for name in columns:
        table.add_column(name)
    return table


def _cold(found: Findings) -> Table:
    table = _table("Scenario 1: cold and occupied", "from – to", "room", "coldest", "readings")
    for one in found.cold:
        span = f"{_clock(one.begin)} – {_clock(one.end)}"
        table.add_row(span, one.room, f"{one.celsius:.1f} °C", str(one.readings))
    return table


def _meetings(found: Findings) -> Table:
    table = _table("Scenario 2: meetings and their notes", "from – to", "board", "people", "notes to", "logged in")
    for one in found.meetings:
        span = f"{_clock(one.begin)} – {_clock(one.end)}"
        table.add_row(span, one.board, str(one.people), ", ".join(one.notified), ", ".join(one.logged_in))
    return table


def _words(day: Day, found: Findings, course: Course) -> Iterator[str]:
    told = course.progress
    events = len(day.sent.table)
    yield (
        f"{events:,} events and {len(day.sent.heartbeats):,} heartbeats of {len(day.sources)} sources, "
        f"in {course.seconds:.1f} s ({events / course.seconds:,.0f} events/s) on {course.engine}"
    )
    counts = ", ".join(f"{type} {count}" for type, count in found.counts.items())
    yield f"{sum(found.counts.values())} composites: {counts}"
    yield (
        f"policy guaranteed: {told.late} late; an event waited {told.delay / SECOND:.2f} s "
        f"until nothing earlier could come; {told.live} runs still wait"
    )


def _clock(at: int) -> str:
    return format_time(at)[11:16]
