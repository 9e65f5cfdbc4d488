"""One form for conditions and expressions that mean the same, so that equal ones have equal text.

Filters have three values, and so have the laws that are used here: De Morgan's, the opposite of a comparison,
``BETWEEN`` as two comparisons, the order of what is joined. Of expressions, only those are taken as equal that give the
same composites at the same places in the continuous context; elsewhere alternatives keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.node import Node, walk
from penstock.languages.core.printer import print_condition, print_expression, print_set

N = TypeVar("N", bound=Node)
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def rebuilt(node: N, change: Callable[[Any], Any]) -> N:
    """The node with each child changed."""
    changes: dict[str, Any] = {}
    for one in fields(node):
        value = getattr(node, one.name)
        if isinstance(value, Node):
            changes[one.name] = change(value)
        elif isinstance(value, tuple):
            changes[one.name] = tuple(change(member) if isinstance(member, Node) else member for member in value)
    return replace(node, **changes)


def same_condition(condition: c.Condition) -> c.Condition:
    """The one form of a condition.

    >>> from penstock import parse
    >>> def form(text):
    ...     return print_condition(same_condition(parse(f"[A({text})]").definitions[0].body.label[0].filter))
    >>> form("NOT (3 >= v OR w IS NULL)")
    'v > 3 AND w IS NOT NULL'
    >>> form("b = 1 AND a BETWEEN 1.0 AND 5") == form("5 >= a AND (a >= 1 AND b = 1)")
    True
    """
    match condition:
        case c.Not(operand=operand):
            return _opposite(same_condition(operand))
        case c.Between(value=value, low=low, high=high, negated=negated):
            inside = c.And((c.Comparison(">=", value, low), c.Comparison("<=", value, high)))
            return same_condition(c.Not(inside) if negated else inside)
        case c.Comparison():
            return _comparison(condition)
        case c.And(parts=parts) | c.Or(parts=parts):
            return _joined(type(condition), map(same_condition, parts))
        case c.In(choices=choices):
            ordered = sorted(dict.fromkeys(map(_plain, choices)), key=print_condition)
            return replace(condition, choices=tuple(ordered))
    return condition


def _comparison(condition: c.Comparison) -> c.Comparison:
    left, right = _plain(condition.left), _plain(condition.right)
    if _side(left) > _side(right):
        return c.Comparison(_MIRRORED[condition.operator], right, left)  # type: ignore[arg-type]
    return c.Comparison(condition.operator, left, right)


def _side(value: c.Value) -> tuple[int, str]:
    """What stands on the left of a comparison comes first: attributes, then what is known before, then constants."""
    kinds = (c.Attribute, c.ClockFunction, c.LabelRead, c.Aggregate, c.Arithmetic, c.Negative, c.Parameter, c.Literal)
    return kinds.index(type(value)), print_condition(value)


def _plain(value: c.Value) -> c.Value:
    """A constant that is compared: a whole float is equal to the integer."""
    if isinstance(value, c.Literal) and isinstance(value.value, float) and value.value == int(value.value):
        return c.Literal(int(value.value))
    return value


def _opposite(condition: c.Condition) -> c.Condition:
    match condition:
        case c.Not(operand=operand):
            return operand
        case c.Comparison(operator=operator, left=left, right=right):
            return c.Comparison(_OPPOSITE[operator], left, right)  # type: ignore[arg-type]
        case c.And(parts=parts):
            return _joined(c.Or, map(_opposite, parts))
        case c.Or(parts=parts):
            return _joined(c.And, map(_opposite, parts))
        case c.In() | c.Like() | c.IsNull():
            return replace(condition, negated=not condition.negated)
    return c.Not(condition)


def _joined(kind: type[c.And] | type[c.Or], parts: Iterable[c.Condition]) -> c.Condition:
    flat = [inner for one in parts for inner in (one.parts if isinstance(one, kind) else (one,))]
    ordered = sorted(dict.fromkeys(flat), key=print_condition)
    return ordered[0] if len(ordered) == 1 else kind(tuple(ordered))


def same_expression(here: x.Expression, reorder: bool) -> x.Expression:
    """The one form of an expression; ``reorder`` says that the order of alternatives does not matter.

    >>> from penstock import parse
    >>> def form(text):
    ...     return print_expression(same_expression(parse(text).definitions[0].body, reorder=True))
    >>> form("([C] | [B, A in {C, B}]) ; ([D] ; [E]{1,1})")
    '([A, B in {C}] | [C]) ; [D] ; [E]'
    """
    inner = rebuilt(here, lambda child: _same(child, reorder))
    match inner:
        case x.Sequence(parts=parts) | x.Concatenation(parts=parts):
            kind = type(inner)
            flat = [one for part in parts for one in (part.parts if type(part) is kind else (part,))]
            return replace(inner, parts=tuple(flat))
        case x.Alternation(choices=choices):
            return _alternation(inner, choices, reorder)
        case x.Atom():
            return _atom(inner)
        case x.Scope(body=x.Scope(body=body, domain=own), domain=domain):
            return x.Scope(body, same_sets((*own, *domain)))
        case x.Scope(domain=domain):
            return replace(inner, domain=same_sets(domain))
        case x.Within(body=x.Within(body=body, microseconds=own), microseconds=limit):
            return x.Within(body, min(own, limit))
        case x.Repetition(body=body, low=1, high=1):
            return body
        case x.Where(condition=condition):
            return replace(inner, condition=same_condition(condition))
    return inner


def _same(child: Node, reorder: bool) -> Node:
    if isinstance(child, x.Expression):
        return same_expression(child, reorder)
    return _set(child) if isinstance(child, x.DescribableSet) else child


def _set(one: x.DescribableSet) -> x.DescribableSet:
    return one if one.filter is None else replace(one, filter=same_condition(one.filter))


def same_sets(sets: Iterable[x.DescribableSet]) -> tuple[x.DescribableSet, ...]:
    """Sets, each once, in the order of their text."""
    return tuple(sorted(dict.fromkeys(sets), key=print_set))


def _atom(atom: x.Atom) -> x.Atom:
    label, domain = same_sets(atom.label), same_sets(atom.domain)
    if not atom.negated:
        domain = tuple(one for one in domain if one not in label)
    return replace(atom, label=label, domain=domain)


def _alternation(here: x.Alternation, choices: tuple[x.Expression, ...], reorder: bool) -> x.Expression:
    """Alternatives without order, unless several have timers, which fire in the order of the text."""
    flat = [one for choice in choices for one in (choice.choices if isinstance(choice, x.Alternation) else (choice,))]
    timed = sum(any(isinstance(node, x.Timing) for node in walk(one)) for one in flat)
    if reorder and timed < 2:
        flat = sorted(dict.fromkeys(flat), key=print_expression)
    return flat[0] if len(flat) == 1 else replace(here, choices=tuple(flat))
