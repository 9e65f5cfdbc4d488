"""What a program starts with: before anything is matched, it is known whether a ``where`` lets a part be left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from penstock.algebra import conditions as c
from penstock.algebra.node import walk
from penstock.automaton.program import Alternative, Option

_NULL = c.Attribute("")
"""A value that is absent: no attribute has this name."""
_COUNTED = ("count", "distinct")


Bound = Callable[[Option, c.Condition], Option]
"""Makes an option that is there only in instances whose parameters meet a condition."""


def starting(
    alternatives: Iterable[Alternative], conditions: Sequence[c.Condition], bound: Bound
) -> tuple[Alternative, ...]:
    """The alternatives of a start, with those options whose guards hold, and without guards.

    Where it depends on parameters whether a guard holds, the option is ``bound`` to instances where it does.
    """
    found: dict[Alternative, None] = {}
    for one in alternatives:
        options: dict[Option, None] = {}
        for option, left in _left(one.options, conditions):
            options[bound(option, left) if left is not None else option] = None
        ends = one.end is not None and all(at_start(conditions[guard]) is True for guard in one.end)
        if options:
            found[Alternative(tuple(options), () if ends else None)] = None
    return tuple(found)


def _left(options: Sequence[Option], conditions: Sequence[c.Condition]) -> Iterator[tuple[Option, c.Condition | None]]:
    """The options whose guards may hold, with what is left to be asked; none that is surely there as well."""
    known = [(replace(one, guards=()), [at_start(conditions[guard]) for guard in one.guards]) for one in options]
    sure = {option for option, truths in known if all(truth is True for truth in truths)}
    for option, truths in known:
        asked = tuple(dict.fromkeys(truth for truth in truths if isinstance(truth, c.Condition)))
        if False not in truths and not (asked and option in sure):
            yield option, c.And(asked) if asked else None


def at_start(condition: c.Condition) -> c.Condition | bool:
    """Whether a condition over labels holds where nothing has been matched; the condition if parameters decide.

    >>> from penstock.algebra.conditions import Aggregate, Comparison, Literal
    >>> count = Aggregate("count", "x", None)
    >>> [at_start(Comparison("=", count, Literal(number))) for number in (0, 1)]
    [True, False]
    """
    known = _known(condition)
    if any(isinstance(node, c.Parameter) for node in walk(known)):
        return condition
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
