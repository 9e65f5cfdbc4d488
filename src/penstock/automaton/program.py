"""What a pattern is compiled to: an immutable program that every runtime runs.

A *position* is an atom (or a ``||``) at one place of the pattern; a run waits at a set of them. Moving
through a position leads to the *alternatives* that may follow it: each is a set of *options* for a run to
wait at, or an end, or both. Everything refers to everything else by index, so that an engine can lay the
program out in tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.algebra.conditions import Condition
from penstock.algebra.expressions import DescribableSet, Selected, TimeSpec


@dataclass(frozen=True)
class Timer:
    """A timing's timer. ``order`` is its place among the timers of the definition that fire at one instant."""

    name: str
    spec: TimeSpec
    order: int


@dataclass(frozen=True)
class Limit:
    """A ``within``: how long what is matched inside it may be, in microseconds."""

    microseconds: int


@dataclass(frozen=True)
class Position:
    """An atom or a ``||`` of the pattern, with all that stands around it.

    Attributes:
        label: Sets, one of which an event must be in; for a negated atom, in none of.
        written: Sets of the domain as it is written, the label's among them; for a negated atom, the list.
        scope: Sets that scopes around it add to the domain of a run that has matched something.
        negated: Whether it is ``[!E in {S}]``.
        sides: For a ``||``: the index of its sides among the program's; else ``None``.
        ticks: Timers whose time event moves a run here.
        hears: Timers in whose second part it stands: their time event is in its domain.
        sets_timers: Timers in whose first part it stands.
        labels: Labels under which what it matches can be read.
        limits: Limits inside which it stands, outermost first.
    """

    text: str
    label: tuple[int, ...] = ()
    written: tuple[int, ...] = ()
    scope: tuple[int, ...] = ()
    negated: bool = False
    sides: int | None = None
    ticks: tuple[int, ...] = ()
    hears: tuple[int, ...] = ()
    sets_timers: tuple[int, ...] = ()
    labels: tuple[int, ...] = ()
    limits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Option:
    """A position to wait at, if all guards hold when the run gets there; ``enters`` are limits begun anew."""

    position: int
    strong: bool = False
    enters: tuple[int, ...] = ()
    guards: tuple[int, ...] = ()


@dataclass(frozen=True)
class Alternative:
    """Options of one run; ``end`` says that a composite is made, if these guards hold, ``None`` that none is."""

    options: tuple[Option, ...]
    end: tuple[int, ...] | None


@dataclass(frozen=True)
class Program:
    """One definition, or one side of a ``||``, compiled.

    >>> from penstock import parse
    >>> from penstock.automaton.compile import compile_pattern
    >>> program = compile_pattern(parse("[A] ; [B]"))[0]
    >>> [option.strong for option in program.follow[0][0].options]
    [True]
    """

    name: str
    parameters: tuple[str, ...]
    sets: tuple[DescribableSet, ...]
    positions: tuple[Position, ...]
    start: tuple[Alternative, ...]
    follow: tuple[tuple[Alternative, ...], ...]
    timers: tuple[Timer, ...] = ()
    limits: tuple[Limit, ...] = ()
    labels: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    selected: tuple[Selected, ...] = ()
    sides: tuple[tuple[Program, ...], ...] = field(default=())
