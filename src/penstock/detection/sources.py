"""Which source holds everything up: the state of ordering as a table for a terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from penstock.events.durations import format_duration
from penstock.events.times import EARLIEST, LATEST, format_time
from penstock.ordering.status import SourceStatus, Status


def sources_table(status: Status, most: int = 10) -> Table:
    """The slowest sources, first those that all events wait for; below them how far everything is.

    >>> from rich.console import Console
    >>> from penstock.ordering.policies import guaranteed
    >>> from penstock.ordering.stage import Ordering
    >>> stage = Ordering(guaranteed(), ["badge-7", "door-1"])
    >>> ready = stage.heartbeat("door-1", at=5_000_000, arrival=6_000_000)
    >>> Console(width=100).print(sources_table(stage.status()))  # doctest: +NORMALIZE_WHITESPACE
    source               shown                  behind   silent   events   late   disordered
    ────────────────────────────────────────────────────────────────────────────────────────
    badge-7 ◀ holds up   nothing                                       0      0            0
    door-1               1970-01-01T00:00:05Z   0 us     0 us          0      0            0
    <BLANKLINE>
    guaranteed · nothing consumed, 0 events held · 2 sources
    """
    table = Table(box=SIMPLE_HEAD, caption=_caption(status), caption_justify="left", pad_edge=False)
    delays = status.delays is not None
    for title in ("source", "shown", "behind", "silent", *(["usual delay"] if delays else [])):
        table.add_column(title, overflow="fold", style="cyan" if title == "shown" else "")
    for title in ("events", "late", "disordered"):
        table.add_column(title, justify="right")
    newest = max((int(at) for at in status.shown), default=0)
    for source in status.slowest(most):
        holds = source.name in status.holding and status.held + (source.shown is None) > 0
        table.add_row(*_row(source, newest, status, holds, delays), style="bold" if holds else "")
    return table


def _row(source: SourceStatus, newest: int, status: Status, holds: bool, delays: bool) -> list[Text]:
    cells = [
        (source.name or "(no name)") + (" ◀ holds up" if holds else ""),
        _time(source.shown),
        "" if source.shown is None else format_duration(newest - source.shown),
        "" if source.heard is None else format_duration(max(status.now - source.heard, 0)),
    ]
    if delays:
        cells.append("" if source.delay is None else _signed(round(source.delay / 1000) * 1000))
    return [Text(cell) for cell in [*cells, *(f"{n:,}" for n in (source.events, source.late, source.disordered))]]


def _signed(microseconds: int) -> str:
    return format_duration(microseconds) if microseconds >= 0 else f"−{format_duration(-microseconds)}"


def _time(at: int | None) -> str:
    return "nothing" if at is None else format_time(min(max(at, EARLIEST), LATEST))


def _caption(status: Status) -> str:
    counters = status.counters
    known = EARLIEST <= status.progress <= LATEST
    words = [f"consumed up to {format_time(status.progress)}" if known else "nothing consumed"]
    words.append(_counted(status.held, "event") + " held")
    counts = {"late": counters.late, "twice": counters.duplicate, "out of order": counters.out_of_order}
    words += [f"{count:,} {name}" for name, count in counts.items() if count]
    return f"{status.policy} · {', '.join(words)} · {_counted(len(status), 'source')}"


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
