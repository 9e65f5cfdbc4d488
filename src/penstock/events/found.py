"""What detection finds: composites as Python objects, with everything that they are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.events.event import Event


@dataclass(frozen=True)
class Part:
    """Something that was matched, and the labels it was matched under."""

    symbol: Event | Composite
    labels: frozenset[str]


@dataclass(frozen=True)
class Composite:
    """A composite event: its type, stamp, parameters and selected values, and its parts in the order of matching.

    >>> door = Event("Open", "door-1", "17", 5, 5)
    >>> [leaf.id for leaf in Composite("Entry", 5, 5, {}, (Part(door, frozenset()),)).leaves()]
    ['17']
    """

    type: str
    lo: int
    hi: int
    attributes: Mapping[str, Any] = field(hash=False)
    parts: tuple[Part, ...]

    @property
    def source(self) -> str:
        """Who produced it: the detector of its type."""
        return f"penstock/{self.type}"

    def leaves(self) -> Iterator[Event]:
        """The primitive events it is made of, in the order of matching."""
        for part in self.parts:
            yield from part.symbol.leaves() if isinstance(part.symbol, Composite) else (part.symbol,)
