"""Where records come from, so that an error about one can say which, and the collection of such errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from penstock.errors import DataError, Place
from penstock.events.fields import FieldError

OnBad = Callable[[DataError], None]
"""What is told of each record that is skipped."""
_WIDTH = 100


class Origin(Protocol):
    """Knows what the rows of a table were before they were read; rows count from 0."""

    def where(self, row: int) -> str:
        """The record's place in words, such as ``events.jsonl, line 3``."""

    def located(self, row: int, error: DataError) -> DataError:
        """The error with the record's place added."""


@dataclass(frozen=True)
class Numbered:
    """Records that have a number and nothing else.

    >>> Numbered("record").where(2)
    'record 3'
    """

    word: str

    def where(self, row: int) -> str:
        """The record's place in words."""
        return f"{self.word} {row + 1}"

    def located(self, row: int, error: DataError) -> DataError:
        """The error with the record's number before its message."""
        return DataError(f"{self.where(row)}: {error.message}", hint=error.hint)


@dataclass(frozen=True)
class FileLine(Place):
    """A stretch of one line of a file, cut to a width that can be read."""

    number: int = 1
    cut: int = 0

    @property
    def line(self) -> int:
        """The line in the file, from 1."""
        return self.number

    @property
    def column(self) -> int:
        """The column in that line, from 1."""
        return self.start + self.cut + 1


def file_line(name: str, number: int, text: str, start: int = 0, end: int = 1) -> FileLine:
    """A place in a line of a file, with as much of the line around it as can be shown.

    >>> print(file_line("events.jsonl", 3, '{"type": }', 9, 10).excerpt())
    {"type": }
             ^
    """
    cut = 0 if len(text) <= _WIDTH else max(0, min(start - _WIDTH // 2, len(text) - _WIDTH))
    window = text[cut : cut + _WIDTH]
    start = min(start - cut, len(window))
    return FileLine(window, start, max(start + 1, min(end - cut, len(window))), name, number, cut)


class Lines(Sequence[str]):
    """The lines of a text, which are told apart only when one is asked for.

    >>> Lines(b"one\\ntwo")[1]
    'two'
    """

    def __init__(self, content: bytes) -> None:
        self._content = content

    @cached_property
    def _lines(self) -> list[str]:
        return self._content.decode().split("\n")

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, place: Any) -> Any:
        return self._lines[place]


@dataclass(frozen=True)
class JsonLines:
    """Records that are lines of a JSON lines file; blank lines are none."""

    name: str
    lines: Sequence[str]
    numbers: Sequence[int]

    def where(self, row: int) -> str:
        """The record's place in words."""
        return f"{self.name}, line {self.numbers[row]}"

    def located(self, row: int, error: DataError) -> DataError:
        """The error with the line and, for a field, a caret below its value."""
        line = self.lines[row]
        start, end = _json_value(line, error.field) if isinstance(error, FieldError) else (0, len(line))
        place = file_line(self.name, self.numbers[row], line, start, end)
        return DataError(error.message, hint=error.hint, place=place)


def _json_value(line: str, field: str) -> tuple[int, int]:
    """Where the value of the field stands in the line, as far as can be told."""
    key = re.escape(json.dumps(field.removeprefix("data.")))
    match = re.search(key + r'\s*:\s*("(?:[^"\\]|\\.)*"|[^,}\]]*)', line)
    return match.span(1) if match else (0, len(line))


class BadRows:
    """The rows of one input that are no events, each with what is wrong with it; the first finding counts.

    >>> bad = BadRows()
    >>> bad.add(4, DataError("no time"))
    >>> bad.settle(Numbered("record"), None)
    Traceback (most recent call last):
    penstock.errors.DataError: record 5: no time
    """

    def __init__(self) -> None:
        self.errors: dict[int, DataError] = {}

    def add(self, row: int, error: DataError) -> None:
        """Note that a row is bad."""
        self.errors.setdefault(row, error)

    def settle(self, origin: Origin, on_bad: OnBad | None) -> list[int]:
        """Raise the first error, or tell them all to ``on_bad``; the rows to leave out, in order."""
        rows = sorted(self.errors)
        for row in rows:
            error = origin.located(row, self.errors[row])
            if on_bad is None:
                raise error from None
            on_bad(error)
        return rows


def origin_of(origin: str | Origin) -> Origin:
    """An origin from the word for its records.

    >>> origin_of("row").where(0)
    'row 1'
    """
    return Numbered(origin) if isinstance(origin, str) else origin
