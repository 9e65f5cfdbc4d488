"""What all expressions and conditions share: a place in the text, and children."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Span:
    """A stretch of the pattern's text, as offsets."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Node:
    """Anything written in a pattern. Nodes are equal if they say the same, wherever they stand."""

    span: Span = field(default=Span(0, 0), compare=False, repr=False)


def children(node: Node) -> Iterator[Node]:
    """The nodes directly inside ``node``, in the order in which they are written."""
    for name in node.__dataclass_fields__:
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (member for member in value if isinstance(member, Node))


def walk_inside_first(node: Node) -> Iterator[Node]:
    """``node`` and everything inside it, inside first: the order in which they end in the text."""
    for child in children(node):
        yield from walk_inside_first(child)
    yield node


def walk(node: Node) -> Iterator[Node]:
    """``node`` and everything inside it, outside first.

    >>> from penstock import parse
    >>> [type(node).__name__ for node in walk(parse("[A] ; [B]").definitions[0].body)]
    ['Sequence', 'Atom', 'DescribableSet', 'Atom', 'DescribableSet']
    """
    yield node
    for child in children(node):
        yield from walk(child)
