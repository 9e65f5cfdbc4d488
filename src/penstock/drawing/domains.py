"""What a state listens to, in words: the labels that move a run on, and what fails it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.algebra.expressions import DescribableSet
from penstock.automaton.program import Position, Program
from penstock.languages.core.printer import print_set, print_sets

SideNames = Sequence[tuple[str, ...]]
"""For each ``||`` of a program, the names of its sides."""


def label(program: Program, position: Position, sides: SideNames) -> str:
    """What moves a run through a position, as an atom: time events are named in it, the rest of the domain is not."""
    names = "".join(f"{program.labels[number]}: " for number in reversed(position.labels))
    if position.sides is not None:
        return names + " || ".join(sides[position.sides])
    every = position.written if position.negated else position.label
    wanted = ", ".join([print_set(program.sets[n]) for n in every] + _timers(program, position.ticks))
    if position.negated and position.label:
        return f"{names}[!{print_sets(program.sets[n] for n in position.label)} in {{{wanted}}}]"
    return f"{names}[{wanted}]"


def domain(program: Program, positions: Sequence[Position], start: bool) -> tuple[str, ...]:
    """All that a run listens to that waits at these positions; one that has matched nothing hears no scope."""
    numbers = [n for one in positions for n in (*one.written, *(() if start else one.scope))]
    heard = [print_set(program.sets[n]) for n in numbers]
    return tuple(dict.fromkeys([*heard, *_heard_timers(program, positions)]))


def fails_on(program: Program, positions: Sequence[Position], start: bool) -> tuple[str, ...]:
    """What fails a run that waits at these positions: sets of their domains that move it through none, and timers.

    A set is called *other* if some of its events do move the run.
    """
    refused = dict.fromkeys(one for position in positions for one in _refused(program, position, start))
    failing = [one for one in refused if not any(_takes_all(program, p, one) for p in positions)]
    words = [_other(program, positions, one) + print_set(one) for one in failing]
    later = [one for p in positions if start and p.sides is not None for one in _sets(program, p.scope)]
    words += [f"{print_set(one)} once a side is there" for one in dict.fromkeys(later)]
    ticking = {name for position in positions for name in _timers(program, position.ticks)}
    return (*words, *(name for name in _heard_timers(program, positions) if name not in ticking))


def _timers(program: Program, numbers: Iterable[int]) -> list[str]:
    return [program.timers[number].name for number in numbers]


def _heard_timers(program: Program, positions: Iterable[Position]) -> list[str]:
    return list(dict.fromkeys(name for one in positions for name in _timers(program, one.hears)))


def _sets(program: Program, numbers: Iterable[int]) -> list[DescribableSet]:
    return [program.sets[number] for number in numbers]


def _refused(program: Program, position: Position, start: bool) -> list[DescribableSet]:
    """Sets of a position's domain that it does not take itself."""
    written, named = _sets(program, position.written), _sets(program, position.label)
    if position.negated:
        own = [one for one in named if any(_overlap(one, other) for other in written)]
    else:
        own = [one for one in written if one not in named]
    return own + ([] if start else _sets(program, position.scope))


def _takes_all(program: Program, position: Position, one: DescribableSet) -> bool:
    """Whether every event of a set moves a run through a position."""
    written, named = _sets(program, position.written), _sets(program, position.label)
    if not position.negated:
        return any(_covers(other, one) for other in named)
    return any(_covers(other, one) for other in written) and not any(_overlap(other, one) for other in named)


def _other(program: Program, positions: Iterable[Position], one: DescribableSet) -> str:
    taken = [other for p in positions if not p.negated for other in _sets(program, p.label)]
    return "other " if any(_overlap(other, one) for other in taken) else ""


def _covers(one: DescribableSet, other: DescribableSet) -> bool:
    return one == other or (one.filter is None and one.type in (None, other.type))


def _overlap(one: DescribableSet, other: DescribableSet) -> bool:
    return None in (one.type, other.type) or one.type == other.type
