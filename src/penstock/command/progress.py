"""A progress bar on standard error, where that is a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


class Bar:
    """What a command does at the moment, and how far it has come."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("reading", total=None)

    def read(self, name: str, done: int, total: int) -> None:
        """A file was read."""
        self._bar.update(self._task, completed=done, total=total, description=f"read {done} of {total}: {name}")

    def count(self, doing: str, done: int, total: int) -> None:
        """One of several things begins."""
        self._bar.update(self._task, completed=done, total=total, description=doing)

    def step(self, doing: str) -> None:
        """Something else begins, and nobody knows how long it takes."""
        self._bar.remove_task(self._task)
        self._task = self._bar.add_task(doing, total=None)


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """A bar that is gone in the end; where there is no terminal, there is none at all."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield Bar(bar)
