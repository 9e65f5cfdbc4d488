"""What a program starts with: before anything is matched, it is known whether a ``where`` lets a part be left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from penstock.algebra import conditions as c
from penstock.algebra.node import walk
from penstock.automaton.program import Alternative

_NULL = c.Attribute("")
"""A value that is absent: no attribute has this name."""
_COUNTED = ("count", "distinct")


class Undecided(Exception):  # noqa: N818
    """Whether a condition holds before anything is matched depends on a parameter."""

    def __init__(self, parameter: c.Parameter) -> None:
        super().__init__(parameter.name)
        self.parameter = parameter


def starting(alternatives: Iterable[Alternative], conditions: Sequence[c.Condition]) -> tuple[Alternative, ...]:
    """The alternatives of a start, with those options whose guards hold, and without guards."""
    found: dict[Alternative, None] = {}
    for one in alternatives:
        true = {guard for guard in _guards(one) if holds_at_start(conditions[guard])}
        options = dict.fromkeys(replace(option, guards=()) for option in one.options if {*option.guards} <= true)
        end = () if one.end is not None and {*one.end} <= true else None
        if options:
            found[Alternative(tuple(options), end)] = None
    return tuple(found)


def _guards(alternative: Alternative) -> set[int]:
    return {*(alternative.end or ()), *(guard for option in alternative.options for guard in option.guards)}


def holds_at_start(condition: c.Condition) -> bool:
    """Whether a condition over labels holds where nothing has been matched.

    >>> from penstock.algebra.conditions import Aggregate, Comparison, Literal
    >>> count = Aggregate("count", "x", None)
    >>> [holds_at_start(Comparison("=", count, Literal(number))) for number in (0, 1)]
    [True, False]
    """
    known = _known(condition)
    for node in walk(known):
        if isinstance(node, c.Parameter):
            raise Undecided(node)
    return _is_true(known)


def _is_true(condition: c.Condition) -> bool:
    """Whether a condition that reads nothing is true. Few patterns ask this, and columns take long to load."""
    from penstock.events.table import make_table
    from penstock.filters.arrow import evaluate

    nothing = make_table({"type": ["nothing"], "lo": [0], "hi": [0]}, {})
    return evaluate(condition, nothing, "UTC")[0].as_py() is True


def _known(node: c.Condition) -> c.Condition:
    """The condition with what labels say of nothing; a comparison with nothing is unknown, whatever it is with."""
    match node:
        case c.Aggregate(function=function):
            return c.Literal(0) if function in _COUNTED else _NULL
        case c.LabelRead():
            return _NULL
    changed: dict[str, Any] = {
        name: _known_value(getattr(node, name)) for name in node.__dataclass_fields__ if name != "span"
    }
    known = replace(node, **changed)
    is_unknown = isinstance(known, c.Comparison | c.Arithmetic) and _NULL in (known.left, known.right)
    return _NULL if is_unknown else known


def _known_value(value: object) -> object:
    if isinstance(value, c.Condition):
        return _known(value)
    return tuple(map(_known_value, value)) if isinstance(value, tuple) else value
