"""Patterns as the reference sees them: trees with repetitions written out, and the options in them.

Sets of alternatives are joined here as the language's description says; what leads to what is in `reference`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from penstock.algebra import expressions as x


@dataclass(frozen=True, eq=False)
class Tree:
    """An expression with repetitions written out; every occurrence of an atom is a tree of its own.

    ``number`` is its place in the text of the pattern so written, outside first.
    """

    expression: x.Expression
    parent: Tree | None
    number: int
    children: list[Tree] = field(default_factory=list)

    @cached_property
    def above(self) -> tuple[Tree, ...]:
        """This tree and all around it."""
        return (self, *(self.parent.above if self.parent else ()))

    def inside(self, other: Tree) -> bool:
        """Whether it is part of the other."""
        return other in self.above


@dataclass(frozen=True)
class Option:
    """An atom or a ``||`` that a run waits for. ``entered``: the limits that it enters anew.

    Of a ``||``, ``remaining`` are the sides still waited for, ``base`` is the end of the stamp previous to the
    whole, and ``waiting`` says that one side is there.
    """

    tree: Tree
    strong: bool = False
    entered: frozenset[Tree] = frozenset()
    remaining: tuple[int, ...] = ()
    base: int | None = None
    waiting: bool = False

    def stays_inside(self, limit: Tree) -> bool:
        """Whether a move through it goes on inside a limit that was entered before."""
        return self.tree.inside(limit) and limit not in self.entered

    @property
    def order(self) -> tuple[Any, ...]:
        """By place in the pattern; of one reached in several ways, the weak one and the one inside a limit first."""
        return self.tree.number, self.strong, sorted(limit.number for limit in self.entered)

    @property
    def awaited(self) -> tuple[Any, ...]:
        """What is waited for, whatever came before. Once a side of a ``||`` is there, it is weak."""
        return (self.tree, self.remaining) if self.waiting else (self.tree, self.strong)


Alternatives = list[tuple[frozenset[Option], bool]]
"""Each a set of options, and whether the expression may end there."""


def grow(expression: x.Expression, parent: Tree | None, numbers: Iterator[int]) -> Tree:
    """The tree of an expression, with repetitions written out."""
    expression = written_out(expression)
    tree = Tree(expression, parent, next(numbers))
    match expression:
        case x.Concatenation(parts=parts) | x.Sequence(parts=parts) | x.Alternation(choices=parts):
            children = parts
        case x.Timing(first=first, second=second):
            children = (first, second)
        case x.Atom() | x.Parallel():
            children = ()
        case _:
            children = (expression.body,)  # type: ignore[attr-defined]
    tree.children.extend(grow(child, tree, numbers) for child in children)
    return tree


def written_out(expression: x.Expression) -> x.Expression:
    """``C+``, ``C{n}`` and ``C{n,m}`` by concatenation, ``C*`` and ``C?``."""
    if not isinstance(expression, x.Repetition) or (expression.low, expression.high) in ((0, None), (0, 1)):
        return expression
    body, parts = expression.body, [expression.body] * expression.low
    more: x.Expression | None = x.Repetition(body, 0, None) if expression.high is None else None
    for _ in range((expression.high or 0) - expression.low):
        more = x.Repetition(x.Concatenation((body, more)) if more else body, 0, 1)
    return x.Concatenation((*parts, more) if more else tuple(parts))


def within(tree: Tree) -> Iterator[Tree]:
    """A tree and all trees inside it."""
    yield tree
    for child in tree.children:
        yield from within(child)


def led(alternatives: Alternatives, strong: bool) -> Alternatives:
    """The alternatives as an operator leads to them: it sets the strength of all their options."""
    return [(frozenset(replace(option, strong=strong) for option in options), e) for options, e in alternatives]


def joined(before: Alternatives, after: Alternatives) -> Alternatives:
    """Where what comes before may be empty, its options and those of each alternative after it are one set."""
    whole: Alternatives = []
    for options, empty in before:
        whole += [(weakest(options | more), end) for more, end in after] if empty else [(options, False)]
    return whole


def in_order(options: Iterable[Option]) -> tuple[Option, ...]:
    """Options by their places in the pattern."""
    return tuple(sorted(options, key=lambda option: option.order))


def weakest(options: frozenset[Option]) -> frozenset[Option]:
    """Of an option reached both strongly and weakly, the weak one."""
    return frozenset(o for o in options if not o.strong or replace(o, strong=False) not in options)
