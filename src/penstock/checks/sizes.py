"""Sizes: what a program's masks can hold."""

from __future__ import annotations

from penstock.algebra.pattern import Pattern
from penstock.automaton.compile import compile_pattern
from penstock.automaton.program import Program

MAX_BITS = 62
"""Sets, timers, limits and labels are bits of 64-bit masks."""


def check_sizes(pattern: Pattern) -> None:
    """Refuses a definition with more of something than can be detected together."""
    definitions = {definition.name: definition for definition in pattern.definitions}
    for program in compile_pattern(pattern):
        for what, size in largest_sizes(program).items():
            if size > MAX_BITS:
                raise pattern.error(
                    f"one definition has {size} {what}; at most {MAX_BITS} can be detected together",
                    definitions[program.name],
                    "give a name to a part of it and use that",
                )


def largest_sizes(program: Program) -> dict[str, int]:
    """How many of each there are, in the definition or in a side of it."""
    sides = [side for group in program.sides for side in group]
    sizes = {
        "event sets": len(program.sets) + len(sides),
        "timers": len(program.timers),
        "limits": len(program.limits),
        "labels": len(program.labels),
    }
    inner = [largest_sizes(side) for side in sides]
    return {what: max([size, *(one[what] for one in inner)]) for what, size in sizes.items()}
