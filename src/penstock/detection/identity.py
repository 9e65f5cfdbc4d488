"""The id of a composite: a hash of what makes it the one that it is.

Type, parameters and selected values, stamp, and parts with their labels count: of a primitive part its
source and id, of a composite part its id. Where a part's attributes are not carried, the id is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

from penstock.detection.values import present
from penstock.events.event import Event, Value
from penstock.events.found import Composite
from penstock.events.times import format_time, of_datetime


def source_of(type: str) -> str:
    """The source of a composite.

    >>> source_of("Meeting")
    'penstock/Meeting'
    """
    return f"penstock/{type}"


def composite_id(
    type: str,
    attributes: Mapping[str, Value],
    lo: int,
    hi: int,
    parts: Iterable[tuple[list[str], Iterable[str]]],
) -> str:
    """The hash, as 24 hexadecimal digits; a part is ``[source, id]`` or ``[id]``, and its labels.

    1 and 1.0 are the same, and so are a time and its RFC 3339 text.

    >>> one = composite_id("Pair", {"d": 1}, 5, 9, [(["door-1", "17"], ["a"])])
    >>> one, one == composite_id("Pair", {"d": 1.0}, 5, 9, [(["door-1", "17"], ["a"])])
    ('bcda57fea1b5c3ad6ae6ac0a', True)
    """
    values = {name: _plain(value) for name, value in attributes.items()}
    matched = [[name, sorted(labels)] for name, labels in parts]
    text = json.dumps([type, values, lo, hi, matched], sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, bool | int | float | str) else format_time(of_datetime(value))


class Identities:
    """The ids of composites, each computed once; a composite that was read keeps its own."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Composite, str]] = {}

    def of(self, composite: Event | Composite) -> str:
        """The id of a composite."""
        if isinstance(composite, Event):
            return composite.id
        if id(composite) not in self._known:
            parts = [(self._name(part.symbol), part.labels) for part in composite.parts]
            attributes = present(composite.attributes)
            made = composite_id(composite.type, attributes, composite.lo, composite.hi, parts)
            self._known[id(composite)] = (composite, made)  # holding on to it keeps its number its own
        return self._known[id(composite)][1]

    def _name(self, symbol: Event | Composite) -> list[str]:
        if isinstance(symbol, Event) and not symbol.parts:
            return [symbol.source, symbol.id]
        return [self.of(symbol)]
