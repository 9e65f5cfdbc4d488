"""The syntax tree as the compiler walks it: repetitions written out, every occurrence of an atom by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.algebra import expressions as x
from penstock.algebra.node import Node
from penstock.algebra.pattern import Pattern

MAX_POSITIONS = 2_000


@dataclass(eq=False)
class Occurrence:
    """One occurrence of an expression. A repetition has a child for each round; an endless one repeats its last."""

    expression: x.Expression
    parent: Occurrence | None
    place: int
    children: list[Occurrence] = field(default_factory=list)

    def around(self) -> Iterator[Occurrence]:
        """This occurrence and those around it, inside first."""
        here: Occurrence | None = self
        while here is not None:
            yield here
            here = here.parent

    def inside(self, other: Occurrence) -> bool:
        """Whether it is part of the other."""
        return any(one is other for one in self.around())


def occurrences(pattern: Pattern, body: x.Expression) -> list[Occurrence]:
    """All occurrences of a body, outside first, in the order of the text."""
    found: list[Occurrence] = []
    waiting = [Occurrence(body, None, 0)]
    while waiting:
        here = waiting.pop()
        found.append(here)
        if len(found) > 4 * MAX_POSITIONS:
            raise too_large(pattern, body)
        here.children = [Occurrence(child, here, place) for place, child in enumerate(_parts(here.expression))]
        waiting.extend(reversed(here.children))
    return found


def too_large(pattern: Pattern, node: Node) -> Exception:
    """The error for a pattern whose program would be too large."""
    return pattern.error(
        "the pattern is too large to compile",
        node,
        f"written out it has more than {MAX_POSITIONS:,} atoms, or as many ways to go on; use smaller {{n,m}}",
    )


def _parts(expression: x.Expression) -> tuple[x.Expression, ...]:
    match expression:
        case x.Atom() | x.Parallel():
            return ()
        case x.Concatenation(parts=parts) | x.Sequence(parts=parts) | x.Alternation(choices=parts):
            return parts
        case x.Timing(first=first, second=second):
            return (first, second)
        case x.Repetition(body=body, low=low, high=high):
            return (body,) * (low + 1 if high is None else high)
        case x.Scope(body=body) | x.Labelled(body=body) | x.Within(body=body):
            return (body,)
        case x.Where(body=body) | x.Select(body=body):
            return (body,)
    raise TypeError(type(expression).__name__)
