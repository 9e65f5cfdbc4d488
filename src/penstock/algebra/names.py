"""Names: which are defined, what uses what, and patterns with their named sets written out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from penstock.algebra.conditions import And, conjuncts
from penstock.algebra.expressions import DescribableSet, Timing
from penstock.algebra.node import Node, walk
from penstock.algebra.pattern import BARE, Definition, Let, Pattern

N = TypeVar("N", bound=Node)


def check_names(pattern: Pattern) -> None:
    """Refuses a name that is defined twice or through itself."""
    known: dict[str, Let | Definition] = {}
    for item in pattern.items:
        if item.name in known:
            bare = " (the name of a pattern that has none)" if item.name == BARE else ""
            first = pattern.place(known[item.name]).line
            raise pattern.error(f"`{item.name}`{bare} is defined twice", item, f"first in line {first}")
        known[item.name] = item
    for item in pattern.items:
        circle = _circle(item.name, known, (item.name,))
        if circle:
            raise pattern.error(
                f"`{item.name}` is defined through itself: {' uses '.join(circle)}",
                _use(item, circle[1]),
                "a composite can only be made of events that come before it",
            )


def used_types(node: Node) -> set[str]:
    """The types and names that stand in a node."""
    return {one.type for one in walk(node) if isinstance(one, DescribableSet) and one.type is not None}


def primitive_types(pattern: Pattern) -> set[str]:
    """The types of events of the input that a pattern names: neither definitions nor time events.

    >>> from penstock import parse
    >>> sorted(primitive_types(parse("Met := [A] ; [B]\\n([Met], [T in {T, C}]){T = 5 min}")))
    ['A', 'B', 'C']
    """
    plain = without_lets(pattern)
    defined = {definition.name for definition in plain.definitions}
    found: set[str] = set()
    for definition in plain.definitions:
        timers = {node.timer for node in walk(definition) if isinstance(node, Timing)}
        found |= used_types(definition) - timers
    return found - defined


def _circle(name: str, known: Mapping[str, Node], path: tuple[str, ...]) -> tuple[str, ...] | None:
    for used in sorted(used_types(known[name]) & known.keys()):
        if used == path[0]:
            return (*path, used)
        if used not in path:
            found = _circle(used, known, (*path, used))
            if found:
                return found
    return None


def _use(item: Node, name: str) -> Node:
    return next(one for one in walk(item) if isinstance(one, DescribableSet) and one.type == name)


def without_lets(pattern: Pattern) -> Pattern:
    """The same pattern with its named sets written out.

    >>> from penstock import parse
    >>> from penstock.languages.core.printer import print_pattern
    >>> print_pattern(without_lets(parse("let Entry = Door(open = true), Badge\\n[Entry] ; [Board]")))
    '[Door(open = true), Badge] ; [Board]'
    """
    if not pattern.lets:
        return pattern
    lets = {let.name: let.sets for let in pattern.lets}
    items = tuple(_expanded(definition, lets) for definition in pattern.definitions)
    return Pattern(items, pattern.text, pattern.name)


def _expanded(node: N, lets: Mapping[str, tuple[DescribableSet, ...]]) -> N:
    changes: dict[str, Any] = {}
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, Node):
            changes[item.name] = _expanded(value, lets)
        elif isinstance(value, tuple):
            changes[item.name] = tuple(_expanded_members(value, lets))
    return replace(node, **changes)


def _expanded_members(members: tuple[Any, ...], lets: Mapping[str, tuple[DescribableSet, ...]]) -> Iterable[Any]:
    for member in members:
        named = lets.get(member.type or "") if isinstance(member, DescribableSet) else None
        if named is not None:
            restricted = tuple(_restricted(one, member) for one in named)
            yield from _expanded_members(restricted, lets)
        else:
            yield _expanded(member, lets) if isinstance(member, Node) else member


def _restricted(one: DescribableSet, use: DescribableSet) -> DescribableSet:
    """A named set where it is used, with the filter that is added there; errors point at the use."""
    parts = conjuncts(one.filter) + conjuncts(use.filter)
    condition = And(parts, span=use.span) if len(parts) > 1 else parts[0] if parts else None
    return DescribableSet(one.type, condition, span=use.span)


def evaluation_order(pattern: Pattern) -> list[Definition]:
    """The definitions, each after those whose composites it may meet.

    ``*`` means the named composites too: all that can be made without it come first. Otherwise the order is
    that of the text.
    """
    waiting = {definition.name: definition for definition in pattern.definitions}
    order: list[Definition] = []
    while waiting:
        ready = [one for one in waiting.values() if not used_types(one) & waiting.keys() - {one.name}]
        chosen = min(ready, key=uses_any_type)
        order.append(waiting.pop(chosen.name))
    return order


def uses_any_type(definition: Definition) -> bool:
    """Whether ``*`` stands for an event type somewhere in it."""
    return any(isinstance(one, DescribableSet) and one.type is None for one in walk(definition))
