"""A pattern that is detected in several places: which of its definitions are detected elsewhere, and which only stand
for a part of an expression."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra.pattern import Pattern
from penstock.errors import PatternError


@dataclass(frozen=True)
class Division:
    """How a pattern is divided; both are names of its definitions.

    ``elsewhere`` are definitions whose composites are delivered. ``inlined`` ones stand for a part of the expressions
    that use them, so what they matched is listed, and not they themselves. ``publishes`` says that it must be known
    at which place each composite was completed.
    """

    elsewhere: frozenset[str] = frozenset()
    inlined: frozenset[str] = frozenset()
    publishes: bool = False

    def check(self, pattern: Pattern) -> None:
        """Refuses names that the pattern does not define."""
        for name in sorted((self.elsewhere | self.inlined) - {one.name for one in pattern.definitions}):
            raise PatternError(f"there is no definition `{name}` that could be detected elsewhere")


WHOLE = Division()
