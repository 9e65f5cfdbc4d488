"""One event as a Python object, for the edges; inside, events are rows of an `EventTable`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from penstock.events.stamp import Stamp, WeakKey, weak_key

Value = bool | int | float | str | datetime
"""What an attribute can be; an absent attribute is simply not there."""


@dataclass(frozen=True)
class Event:
    """A primitive or composite event.

    ``arrival`` is when it was received, ``uncertain`` says that its interval stands for clock error and not
    for a duration, ``retracted`` that a composite is taken back.

    >>> door = Event("Open", "door-1", "17", 5, 5, attributes={"door": "D1"})
    >>> door.stamp, door.is_composite
    (Stamp(lo=5, hi=5), False)
    """

    type: str
    source: str
    id: str
    lo: int
    hi: int
    seq: int | None = None
    attributes: Mapping[str, Value] = field(default_factory=dict, hash=False)
    parts: tuple[Event, ...] = ()
    arrival: int | None = None
    uncertain: bool = False
    retracted: bool = False

    def __post_init__(self) -> None:
        Stamp(self.lo, self.hi)

    @property
    def stamp(self) -> Stamp:
        """Its interval time stamp.

        >>> Event("A", "", "1", 2, 3).stamp
        Stamp(lo=2, hi=3)
        """
        return Stamp(self.lo, self.hi)

    @property
    def weak_key(self) -> WeakKey:
        """A key that sorts events in the weak order.

        >>> Event("A", "s", "1", 2, 3).weak_key
        (3, 2, b's', False, 0, b'1')
        """
        return weak_key(self.hi, self.lo, self.source, self.seq, self.id)

    @property
    def is_composite(self) -> bool:
        """Whether it was detected: it has parts, or the source that composites of its type have.

        >>> Event("Meeting", "penstock/Meeting", "1", 2, 3).is_composite
        True
        """
        return bool(self.parts) or self.source == f"penstock/{self.type}"
