"""How far the input may be consumed."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.ordering.places import FAR, NEVER, Place


@dataclass(frozen=True)
class Bound:
    """Events up to ``place`` may be consumed, timers before ``progress`` may fire."""

    place: Place
    progress: int

    def before_instant(self) -> Bound:
        """The same bound, or a lower one at which an instant ends.

        >>> Bound(Place(5, 5, b"b"), 5).before_instant().place < Place(5, 0, b"")
        True
        """
        if self.place.lo == FAR:
            return self
        return Bound(Place(self.place.hi, NEVER, b""), self.progress)


def up_to(end: int) -> Place:
    """The place behind all events that end then.

    >>> Place(5, 5, b"a") < up_to(5) < Place(6, 0, b"")
    True
    """
    return Place(end, FAR, b"")
