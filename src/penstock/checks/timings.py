"""Timings: parts that match something, names that stand for one time event, used only where it can be."""

from __future__ import annotations

from penstock.algebra import expressions as x
from penstock.algebra.node import Node, walk
from penstock.algebra.pattern import Definition, Pattern
from penstock.checks.shape import may_be_empty


def check_timings(pattern: Pattern) -> None:
    """Refuses timings that can mean nothing."""
    for definition in pattern.definitions:
        timings: dict[str, x.Timing] = {}
        for node in walk(definition):
            if isinstance(node, x.Timing):
                _check_parts(pattern, node)
                _check_name(pattern, node, timings)
                timings[node.timer] = node
        _check_uses(pattern, definition, frozenset(timings), frozenset(), frozenset())


def check_repetitions(pattern: Pattern) -> None:
    """Refuses ``{3,1}``."""
    for definition in pattern.definitions:
        for node in walk(definition):
            if isinstance(node, x.Repetition) and node.high is not None and node.high < node.low:
                raise pattern.error(
                    f"at least {node.low} and at most {node.high} times can never be",
                    node,
                    f"write {{{node.high},{node.low}}}",
                )


def _check_parts(pattern: Pattern, timing: x.Timing) -> None:
    for part, name in ((timing.first, "first"), (timing.second, "second")):
        if may_be_empty(part):
            raise pattern.error(
                f"the {name} part of the timing {timing.timer} may match nothing",
                part,
                "use + instead of *, or leave ? away",
            )


def _check_name(pattern: Pattern, timing: x.Timing, timings: dict[str, x.Timing]) -> None:
    if timing.timer in timings:
        raise pattern.error(f"a second timing is called {timing.timer}", timing, "give each its own name")
    if any(item.name == timing.timer for item in pattern.items):
        raise pattern.error(f"{timing.timer} is already the name of a definition", timing, "choose another name")


def _check_uses(
    pattern: Pattern, node: Node, timers: frozenset[str], usable: frozenset[str], outside: frozenset[str]
) -> None:
    """``usable``: the timers that may be named here; ``outside``: those of a second part around a side."""
    match node:
        case x.DescribableSet(type=name) if name in timers:
            _check_use(pattern, node, usable, outside)
        case x.Timing(first=first, second=second, timer=timer):
            _check_uses(pattern, first, timers, usable, outside)
            _check_uses(pattern, second, timers, usable | {timer}, outside)
        case x.Parallel(sides=sides):
            for side in sides:
                _check_uses(pattern, side, timers, frozenset(), outside | usable)
        case Definition() | Node():
            for child in node.children:
                _check_uses(pattern, child, timers, usable, outside)


def _check_use(pattern: Pattern, use: x.DescribableSet, usable: frozenset[str], outside: frozenset[str]) -> None:
    if use.type in outside:
        raise pattern.error(
            f"the time event {use.type} cannot be used inside a side of ||",
            use,
            "each side is detected by itself: put the timing inside the side",
        )
    if use.type not in usable:
        raise pattern.error(
            f"the time event {use.type} is used outside the second part of its timing",
            use,
            f"it only exists in C2 of (C1, C2){{{use.type} = …}}",
        )
    if use.filter is not None:
        raise pattern.error(f"the time event {use.type} has no attributes to filter", use)
