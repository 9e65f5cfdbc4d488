"""The queries that are measured: a pattern of ours, and what the other ways need to know to say the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from penstock.events.durations import format_duration

MINUTE = 60_000_000


class Shape(StrEnum):
    """How the types of a query hang together."""

    CHAIN = "chain"
    """One after the other: ``A ; B ; C``."""
    REPETITION = "repetition"
    """The second as often as it comes: ``A ; B+ ; C``."""
    ABSENCE = "absence"
    """The first, and no second for as long as the window."""


@dataclass(frozen=True)
class Query:
    """What to find for each key ``k``; times are microseconds.

    >>> QUERIES["Q1"].pattern
    '[A(k = $k)] ; [B(k = $k)] within 5 min'
    >>> QUERIES["Q4"].pattern
    '([A(k = $k)], [T in {T, B(k = $k)}]){T = 5 min}'
    """

    name: str
    shape: Shape
    types: str
    window: int

    @property
    def title(self) -> str:
        """What is asked, in short.

        >>> QUERIES["Q3"].title
        'A ; B+ ; C within 10 min'
        """
        duration = format_duration(self.window)
        if self.shape == Shape.ABSENCE:
            return f"{self.types[0]} and no {self.types[1]} within {duration}"
        return f"{' ; '.join(self._repeated(list(self.types)))} within {duration}"

    @property
    def pattern(self) -> str:
        """The query in the core language."""
        atoms = [f"{type}(k = $k)" for type in self.types]
        duration = format_duration(self.window)
        if self.shape == Shape.ABSENCE:
            return f"([{atoms[0]}], [T in {{T, {atoms[1]}}}]){{T = {duration}}}"
        return f"{' ; '.join(self._repeated([f'[{atom}]' for atom in atoms]))} within {duration}"

    def _repeated(self, parts: list[str]) -> list[str]:
        return [parts[0], f"{parts[1]}+", *parts[2:]] if self.shape == Shape.REPETITION else parts

    def over(self, window: int) -> Query:
        """The same with another window.

        >>> QUERIES["Q1"].over(60_000_000).title
        'A ; B within 1 min'
        """
        return replace(self, window=window)


QUERIES = {
    query.name: query
    for query in (
        Query("Q1", Shape.CHAIN, "AB", 5 * MINUTE),
        Query("Q2", Shape.CHAIN, "ABC", 10 * MINUTE),
        Query("Q3", Shape.REPETITION, "ABC", 10 * MINUTE),
        Query("Q4", Shape.ABSENCE, "AB", 5 * MINUTE),
        Query("Q6", Shape.CHAIN, "ABCABCABC", 120 * MINUTE),
    )
}
