"""Parsing and checking in one: text to a pattern that means something."""

from __future__ import annotations

from penstock.algebra.names import check_names
from penstock.algebra.pattern import Pattern
from penstock.languages.core.parser import parse_syntax

CHECKS = (check_names,)


def parse(text: str, name: str | None = None) -> Pattern:
    """The pattern that a text in the core language says.

    >>> parse("[Open(door = $d)] ; [Close(door = $d)]").definitions[0].name
    'composite'
    """
    pattern = parse_syntax(text, name)
    for check in CHECKS:
        check(pattern)
    return pattern
