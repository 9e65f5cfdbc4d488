"""What all expressions and conditions share: a place in the text, and children."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Span:
    """A stretch of the pattern's text, as offsets."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Node:
    """Anything written in a pattern. Nodes are equal if they say the same, wherever they stand."""

    span: Span = field(default=Span(0, 0), compare=False, repr=False)

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The nodes directly inside, in the order in which they are written."""
        found: list[Node] = []
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple):
                found += [member for member in value if isinstance(member, Node)]
        return tuple(found)


def walk_inside_first(node: Node) -> Iterator[Node]:
    """``node`` and everything inside it, inside first: the order in which they end in the text."""
    for child in node.children:
        yield from walk_inside_first(child)
    yield node


def walk(node: Node) -> Iterator[Node]:
    """``node`` and everything inside it, outside first.

    >>> from penstock import parse
    >>> [type(node).__name__ for node in walk(parse("[A] ; [B]").definitions[0].body)]
    ['Sequence', 'Atom', 'DescribableSet', 'Atom', 'DescribableSet']
    """
    yield node
    for child in node.children:
        yield from walk(child)
