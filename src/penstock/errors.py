"""Everything that Penstock raises, one class for each stage.

Every error says what is wrong in ``message``, what to do in ``hint`` and, where there is a text,
where: ``line`` and ``column`` (from 1) and an ``excerpt`` of that text with a caret below.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

LONGEST_EXCERPT = 100


@dataclass(frozen=True)
class Place:
    """A stretch of a text that an error points at, given as offsets into the text."""

    text: str
    start: int
    end: int
    name: str | None = None

    @property
    def line(self) -> int:
        """Line of the first character, from 1."""
        return self.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """Column of the first character, from 1."""
        return self.start - (self.text.rfind("\n", 0, self.start) + 1) + 1

    def excerpt(self) -> str:
        """The line in question with carets under the stretch."""
        begin = self.text.rfind("\n", 0, self.start) + 1
        finish = self.text.find("\n", self.start)
        line = self.text[begin : finish if finish >= 0 else len(self.text)]
        column = self.start - begin
        width = max(1, min(self.end, begin + len(line)) - self.start)
        if len(line) > LONGEST_EXCERPT:
            first = max(0, column - LONGEST_EXCERPT // 2)
            line, column = line[first : first + LONGEST_EXCERPT], column - first
            width = min(width, len(line) - column + 1)
        indent = "".join("\t" if c == "\t" else " " for c in line[:column])
        return f"{line}\n{indent}{'^' * width}"


class PenstockError(Exception):
    """The root of all errors that Penstock raises.

    >>> from penstock.errors import DataError
    >>> print(DataError("lo is after hi", hint="swap the two columns"))
    lo is after hi
    hint: swap the two columns
    """

    def __init__(self, message: str, *, hint: str | None = None, place: Place | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.place = place
        self.line = place.line if place else None
        self.column = place.column if place else None
        self.excerpt = place.excerpt() if place else None

    def __str__(self) -> str:
        lines = [self.message]
        if self.place and self.excerpt:
            where = f"{self.place.name or 'pattern'}, line {self.line}, column {self.column}"
            lines = [f"{where}: {self.message}", *("  " + row for row in self.excerpt.splitlines())]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class ParseError(PenstockError):
    """A text that is not in the language."""


class PatternError(PenstockError):
    """A pattern that is well-formed but means nothing, or does not fit its data."""


class DataError(PenstockError):
    """A record that is not an event."""


class StateError(PenstockError):
    """Saved state that cannot be read, or a detector that cannot go on."""


class BrokerError(PenstockError):
    """A broker that cannot be reached or used."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like ``name``, if one does.

    >>> nearest("rom", ["room", "temp"])
    'room'
    """
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return close[0] if close else None


_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}


def visible(text: str) -> str:
    """The same text for a terminal: what would steer it stands there as a sign, as wide as before.

    >>> visible("D1\\x1b[2J")
    'D1␛[2J'
    """
    return text.translate(_PICTURES)
