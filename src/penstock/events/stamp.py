"""Interval time stamps and the two orders over them.

The strong order is partial: one stamp was certainly over before the other began. The weak order is
total and is the order in which detectors meet primitive events.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import DataError

WeakKey = tuple[int, int, bytes, bool, int, bytes]


@dataclass(frozen=True, slots=True)
class Stamp:
    """An interval of time, both ends included, in microseconds since the epoch, UTC.

    >>> Stamp(1, 3).strongly_before(Stamp(4, 4))
    True
    >>> Stamp(1, 3).strongly_before(Stamp(3, 5))
    False
    """

    lo: int
    hi: int

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise DataError(
                f"lo ({self.lo}) is after hi ({self.hi})",
                hint="an interval ends when it begins or later; perhaps the two are swapped",
            )

    def strongly_before(self, other: Stamp) -> bool:
        """Whether this was certainly over before the other began.

        >>> Stamp(1, 2).strongly_before(Stamp(2, 3))
        False
        """
        return self.hi < other.lo

    def union(self, other: Stamp) -> Stamp:
        """The smallest stamp that contains both.

        >>> Stamp(1, 2).union(Stamp(5, 9))
        Stamp(lo=1, hi=9)
        """
        return Stamp(min(self.lo, other.lo), max(self.hi, other.hi))

    def widened(self, error: int) -> Stamp:
        """The stamp of a source whose clock may be wrong by ``error`` either way.

        >>> Stamp(10, 10).widened(2)
        Stamp(lo=8, hi=12)
        """
        return Stamp(self.lo - error, self.hi + error)

    @property
    def length(self) -> int:
        """Microseconds from its beginning to its end.

        >>> Stamp(3, 10).length
        7
        """
        return self.hi - self.lo

    @property
    def is_point(self) -> bool:
        """Whether it is a single instant.

        >>> Stamp(3, 3).is_point
        True
        """
        return self.lo == self.hi


def weak_key(hi: int, lo: int, source: str, seq: int | None, id: str) -> WeakKey:
    """A key that sorts primitive events in the weak order: an absent ``seq`` first, text by its bytes.

    >>> weak_key(5, 5, "a", None, "x") < weak_key(5, 5, "a", -3, "b")
    True
    """
    return (hi, lo, source.encode(), seq is not None, seq or 0, id.encode())
