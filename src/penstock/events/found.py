"""What detection finds: composites as Python objects, with everything that they are made of.

The id of a composite is a hash of what makes it the one that it is: type, parameters and selected values, stamp, and
parts with their labels; of a primitive part its source and id, of a composite part its id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

from penstock.events.event import Event
from penstock.events.times import format_time, of_datetime


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

    @cached_property
    def id(self) -> str:
        """The hash, as 24 hexadecimal digits. 1 and 1.0 are the same, and so are a time and its RFC 3339 text.

        >>> Composite("Pair", 5, 9, {"d": 1}, ()).id == Composite("Pair", 5, 9, {"d": 1.0, "e": None}, ()).id
        True
        """
        values = {name: _plain(value) for name, value in self.attributes.items() if value is not None}
        parts = [[_name(part.symbol), sorted(part.labels)] for part in self.parts]
        text = json.dumps([self.type, values, self.lo, self.hi, parts], sort_keys=True, separators=(",", ":"))
        return blake2b(text.encode(), digest_size=12).hexdigest()

    def leaves(self) -> Iterator[Event]:
        """The primitive events it is made of, in the order of matching."""
        for part in self.parts:
            yield from part.symbol.leaves() if isinstance(part.symbol, Composite) else (part.symbol,)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, bool | int | float | str) else format_time(of_datetime(value))


def _name(symbol: Event | Composite) -> list[str]:
    return [symbol.source, symbol.id] if isinstance(symbol, Event) and not symbol.parts else [symbol.id]
