"""A whole pattern: named sets, definitions, and the text that they were written in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.algebra.expressions import DescribableSet, Expression
from penstock.algebra.node import Node
from penstock.errors import PatternError, Place

BARE = "composite"
"""The type of a pattern that was given no name."""


@dataclass(frozen=True)
class Let(Node):
    """``let name = sets``: a name for describable sets."""

    name: str
    sets: tuple[DescribableSet, ...]


@dataclass(frozen=True)
class Definition(Node):
    """``name := body``: a composite event type. One without a name is ``bare``."""

    name: str
    body: Expression
    bare: bool = False


@dataclass(frozen=True)
class Pattern:
    """One or more composite event types, as one text defines them.

    >>> from penstock import parse
    >>> pattern = parse("[Open(door = $d)] ; [Close(door = $d)]")
    >>> [definition.name for definition in pattern.definitions]
    ['composite']
    """

    items: tuple[Let | Definition, ...]
    text: str = field(default="", compare=False, repr=False)
    name: str | None = field(default=None, compare=False, repr=False)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The composite event types, in the order of the text."""
        return tuple(item for item in self.items if isinstance(item, Definition))

    @property
    def lets(self) -> tuple[Let, ...]:
        """The named sets, in the order of the text."""
        return tuple(item for item in self.items if isinstance(item, Let))

    def __str__(self) -> str:
        return self.text.strip()

    def __iter__(self) -> Iterator[Definition]:
        return iter(self.definitions)

    def place(self, node: Node) -> Place:
        """Where in the text a node stands."""
        return Place(self.text, node.span.start, node.span.end, self.name)

    def error(self, message: str, node: Node, hint: str | None = None) -> PatternError:
        """An error that points at a node."""
        return PatternError(message, hint=hint, place=self.place(node))
