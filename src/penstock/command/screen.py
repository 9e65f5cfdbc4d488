"""How detection goes while it runs, on standard error: a table that changes, or a line now and then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from penstock.events.times import SECOND
from penstock.scenarios.live import Progress

EVERY = 5.0
"""Seconds between two lines where there is no terminal."""


class Screen:
    """Shows how far detection has come."""

    def __init__(self, title: str, total: int, console: Console, live: Live | None) -> None:
        self._title, self._total = title, total
        self._console, self._live = console, live
        self._began = self._said = time.monotonic()

    def show(self, sent: int, progress: Progress) -> None:
        """So many events were sent, and detection is there."""
        if self._live is not None:
            self._live.update(self._table(sent, progress))
        elif time.monotonic() > self._said + EVERY:
            self._said = time.monotonic()
            words = ", ".join(f"{name} {value}" for name, value in self._values(sent, progress))
            self._console.print(f"{self._title}: {words}", soft_wrap=True, highlight=False)

    def _values(self, sent: int, progress: Progress) -> Iterator[tuple[str, str]]:
        passed = max(time.monotonic() - self._began, 1e-3)
        yield "events", f"{sent:,} of {self._total:,}"
        yield "consumed", f"{progress.consumed:,}"
        yield "events/s", f"{progress.consumed / passed:,.0f}"
        yield "delay", f"{progress.delay / SECOND:.2f} s"
        yield "live runs", f"{progress.live:,}"
        yield "late", f"{progress.late:,}"
        yield "composites", f"{progress.composites:,}"

    def _table(self, sent: int, progress: Progress) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_row(Text(self._title, style="bold"), ProgressBar(total=self._total, completed=sent, width=40))
        for name, value in self._values(sent, progress):
            table.add_row(Text(name, style="cyan"), value)
        return table


@contextmanager
def watching(title: str, total: int) -> Iterator[Screen]:
    """A screen that is gone in the end."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Screen(title, total, console, None)
        return
    with Live(Text(f"{title}: starting"), console=console, transient=True) as live:
        yield Screen(title, total, console, live)
