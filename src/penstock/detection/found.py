"""What an evaluator hands over: composites with everything that they are made of.

An evaluator may have classes of its own for these; it is enough that they look like this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from penstock.events.event import Event


class FoundPart(Protocol):
    """Something that was matched, and the labels it was matched under."""

    @property
    def symbol(self) -> Event | Found:
        """What was matched."""

    @property
    def labels(self) -> frozenset[str]:
        """The labels it was matched under."""


class Found(Protocol):
    """A composite: its type, stamp, parameters and selected values, and its parts in the order of matching."""

    @property
    def type(self) -> str:
        """The definition's name."""

    @property
    def lo(self) -> int:
        """When it begins."""

    @property
    def hi(self) -> int:
        """When it ends."""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Parameters and selected values; null is absent."""

    @property
    def parts(self) -> Sequence[FoundPart]:
        """What it is made of, in the order of matching."""
