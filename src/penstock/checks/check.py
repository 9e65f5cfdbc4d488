"""Parsing and checking in one: text to a pattern that means something."""

from __future__ import annotations

from penstock.algebra.names import check_names, without_lets
from penstock.algebra.pattern import Pattern
from penstock.checks.labels import check_labels
from penstock.checks.parameters import (
    check_composite_attributes,
    check_parameters,
    check_selected,
)
from penstock.checks.sizes import check_sizes
from penstock.checks.timings import check_repetitions, check_timings
from penstock.errors import PatternError
from penstock.languages.core.parser import parse_syntax

CHECKS = (
    check_repetitions,
    check_timings,
    check_parameters,
    check_selected,
    check_composite_attributes,
    check_sizes,
    check_labels,
)
"""What a pattern must pass, in order; named sets are written out before."""


def parse(text: str, name: str | None = None) -> Pattern:
    """The pattern that a text in the core language says; ``name`` is what errors call the text.

    >>> parse("[Open(door = $d)] ; [Close(door = $d)]").definitions[0].name
    'composite'
    >>> parse("[Open(door = $d)] ; [Close(door == $d)]")
    Traceback (most recent call last):
        ...
    penstock.errors.ParseError: pattern, line 1, column 33: `==` is not a comparison here
      [Open(door = $d)] ; [Close(door == $d)]
                                      ^^
    hint: write =
    """
    if not isinstance(text, str):
        raise PatternError(
            f"a pattern is text, and this is a {type(text).__name__}", hint="give text, such as '[A] ; [B]'"
        )
    return checked(parse_syntax(text, name))


def checked(pattern: Pattern) -> Pattern:
    """The same pattern, if it means something; else an error that says why not."""
    check_names(pattern)
    plain = without_lets(pattern)
    for check in CHECKS:
        check(plain)
    return pattern
