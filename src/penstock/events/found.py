"""What detection finds, as Python objects: composites with everything that they are made of.

The id of a composite is a hash of what makes it the one that it is: type, parameters and selected values, stamp, and
parts with their labels; of a primitive part its source and id, of a composite part its id. What it is is said here; the
engine, which has composites as columns, computes the same.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from penstock.events.digest import START, Lanes, absorbed, digits, finished, text_lanes, text_words
from penstock.events.event import Event
from penstock.events.times import format_time, of_datetime

BOOLEAN, NUMBER, FLOAT, TEXT = range(1, 5)
"""Kinds of values as ids tell them apart: a whole number is no float, a time is its text."""
PRIMITIVE, COMPOSITE = range(2)
"""Kinds of parts as ids tell them apart."""
NO_LABELS: Lanes = (0, 0)


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
        lanes = absorbed(START, *text_lanes(self.type))
        there = {name: value for name, value in self.attributes.items() if value is not None and value == value}
        for name in sorted(there, key=str.encode):
            kind, *words = _value_words(there[name])
            first, second = text_lanes(name)
            lanes = absorbed(lanes, first + kind, second + words[0], *words[1:])
        lanes = absorbed(lanes, len(there), self.lo, self.hi)
        for part in self.parts:
            name_lanes, label_lanes = part_lanes(part.symbol), labels_lanes(part.labels)
            lanes = absorbed(lanes, name_lanes[0] + label_lanes[0], name_lanes[1] + label_lanes[1])
        return digits(finished(absorbed(lanes, len(self.parts))))

    def leaves(self) -> Iterator[Event]:
        """The primitive events it is made of, in the order of matching."""
        for part in self.parts:
            yield from part.symbol.leaves() if isinstance(part.symbol, Composite) else (part.symbol,)


def part_lanes(symbol: Event | Composite) -> Lanes:
    """What the id of a composite takes from a part."""
    if isinstance(symbol, Event) and not symbol.parts:
        return finished(absorbed(START, PRIMITIVE, *text_lanes(symbol.source), *text_words(symbol.id)))
    return finished(absorbed(START, COMPOSITE, *text_words(symbol.id)))


def labels_lanes(labels: Iterable[str]) -> Lanes:
    """What an id takes from the labels of a part.

    >>> labels_lanes(["x", "y"]) == labels_lanes(["y", "x"])
    True
    """
    return _names_lanes(tuple(sorted(labels, key=str.encode)))


@lru_cache(maxsize=1024)
def _names_lanes(names: tuple[str, ...]) -> Lanes:
    words = [word for name in names for word in text_words(name)]
    return finished(absorbed(START, len(names), *words)) if names else NO_LABELS


def _value_words(value: Any) -> tuple[int, ...]:
    if isinstance(value, bool):
        return BOOLEAN, int(value)
    if isinstance(value, float) and math.isinf(value):
        return FLOAT, *struct.unpack("<Q", struct.pack("<d", value))
    if isinstance(value, int | float) and value == int(value) and -(2**63) <= value < 2**63:
        return NUMBER, int(value)
    if isinstance(value, float):
        return FLOAT, *struct.unpack("<Q", struct.pack("<d", value))
    return TEXT, *text_lanes(value if isinstance(value, str) else format_time(of_datetime(value)))
