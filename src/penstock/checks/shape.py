"""Small questions about expressions that several checks ask."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.algebra import expressions as x
from penstock.algebra.node import walk


def may_be_empty(expression: x.Expression) -> bool:
    """Whether an expression may match nothing."""
    match expression:
        case x.Atom() | x.Parallel() | x.Timing():
            return False
        case x.Alternation(choices=choices):
            return any(may_be_empty(choice) for choice in choices)
        case x.Concatenation(parts=parts) | x.Sequence(parts=parts):
            return all(may_be_empty(part) for part in parts)
        case x.Repetition(body=body, low=low):
            return low == 0 or may_be_empty(body)
    return may_be_empty(inner(expression))


def inner(expression: x.Expression) -> x.Expression:
    """What an operator with one operand stands around."""
    match expression:
        case x.Scope(body=body) | x.Labelled(body=body) | x.Within(body=body):
            return body
        case x.Where(body=body) | x.Select(body=body) | x.Repetition(body=body):
            return body
    raise TypeError(type(expression).__name__)


def starting_atoms(expression: x.Expression) -> Iterator[x.Atom]:
    """The atoms that can start a match, those of a ``||``'s sides among them."""
    match expression:
        case x.Atom():
            yield expression
        case x.Alternation(choices=parts) | x.Parallel(sides=parts):
            for part in parts:
                yield from starting_atoms(part)
        case x.Concatenation(parts=parts) | x.Sequence(parts=parts):
            for part in parts:
                yield from starting_atoms(part)
                if not may_be_empty(part):
                    return
        case x.Timing(first=first):
            yield from starting_atoms(first)
        case _:
            yield from starting_atoms(inner(expression))


def matched_sets(atom: x.Atom) -> tuple[x.DescribableSet, ...]:
    """The sets that an event must be in to be matched: for a negated atom, those it is taken from."""
    return atom.domain if atom.negated else atom.label


def bodies(body: x.Expression) -> Iterator[x.Expression]:
    """A body and, since each is detected by itself, all sides of ``||`` in it."""
    yield body
    for node in walk(body):
        if isinstance(node, x.Parallel):
            yield from node.sides
