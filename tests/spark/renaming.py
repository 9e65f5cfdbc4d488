"""Patterns with other names for their types and definitions, so that many can be detected beside each other."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from penstock.algebra.expressions import DescribableSet, Timing
from penstock.algebra.node import Node, walk
from penstock.algebra.pattern import Definition, Pattern


def renamed(pattern: Pattern, name: Callable[[str], str]) -> Pattern:
    """The pattern with other types; timers keep their names."""
    timers = {node.timer for one in pattern.items for node in walk(one) if isinstance(node, Timing)}

    def change(node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(change(member) for member in node)
        if not isinstance(node, Node):
            return node
        changed = {item.name: change(getattr(node, item.name)) for item in fields(node) if item.name != "span"}
        if isinstance(node, DescribableSet) and node.type is not None and node.type not in timers:
            changed["type"] = name(node.type)
        if isinstance(node, Definition):
            changed |= {"name": name(node.name), "bare": False}
        return replace(node, **changed)

    return Pattern(tuple(change(item) for item in pattern.items))
