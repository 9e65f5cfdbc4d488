"""Sizes: what a program's masks and tables can hold."""

from __future__ import annotations

from penstock.algebra.pattern import Pattern
from penstock.automaton.compile import compile_pattern
from penstock.automaton.program import Alternative, Program

MAX_BITS = 62
"""Sets, timers, limits and labels are bits of 64-bit masks."""
MAX_GUARDS = 10
"""For each combination of the conditions that decide what follows an atom there is a state."""


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
        guards = most_guards(program)
        if guards > MAX_GUARDS:
            raise pattern.error(
                f"{guards} `where` conditions decide what follows one atom; at most {MAX_GUARDS} can",
                definitions[program.name],
                "join conditions with AND, or give a name to a part of it and use that",
            )


def largest_sizes(program: Program) -> dict[str, int]:
    """How many of each there are, in the definition or in a side of it; labels are those of all together."""
    inner = [largest_sizes(side) for side in _sides(program)]
    sizes = {
        "event sets": len(program.sets) + len(inner),
        "timers": len(program.timers),
        "limits": len(program.limits),
    }
    return {what: max([size, *(one[what] for one in inner)]) for what, size in sizes.items()} | {
        "labels": len(labels_of(program))
    }


def labels_of(program: Program) -> list[str]:
    """The labels of a program and of all sides inside."""
    found = dict.fromkeys(program.labels)
    for side in _sides(program):
        found |= dict.fromkeys(labels_of(side))
    return list(found)


def most_guards(program: Program) -> int:
    """How many conditions decide, at most, what follows one atom."""
    own = [len(guards_of(one)) for alternatives in program.follow for one in alternatives]
    return max([0, *own, *(most_guards(side) for side in _sides(program))])


def guards_of(alternative: Alternative) -> list[int]:
    """The conditions that decide which of an alternative's options there are."""
    return sorted({guard for option in alternative.options for guard in option.guards})


def _sides(program: Program) -> list[Program]:
    return [side for group in program.sides for side in group]
