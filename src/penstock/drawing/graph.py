"""The automaton of a definition as a small graph, ready to be drawn.

A state is a set of options that a run can have. From it, each option leads to one state for each alternative
that may follow, and to the generative state if the pattern may end there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Move:
    """Where an option leads.

    Attributes:
        target: The state's index.
        sets: Timers set by the move, such as ``T1 = 1 h``.
        condition: For a move into the generative state, what must hold for a composite to be made, if anything.
    """

    target: int
    sets: tuple[str, ...] = ()
    condition: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say of it."""
        return (*([f"if {self.condition}"] if self.condition else []), *(f"sets {timer}" for timer in self.sets))


@dataclass(frozen=True)
class Wait:
    """One option of a state.

    Attributes:
        label: What moves the run on, such as ``[A, T1]``.
        strong: Whether it must strongly follow what was matched before. What comes first always does.
        conditions: Of ``where``: what must hold for the option to be there.
        within: Limits that the move must keep, such as ``5 min``.
        begins: Limits that the move begins.
        moves: Where it leads, each to another state; the run goes to all of them.
    """

    label: str
    strong: bool
    conditions: tuple[str, ...]
    within: tuple[str, ...]
    begins: tuple[str, ...]
    moves: tuple[Move, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What else there is to say of it, beside its label and its strength."""
        return (
            *(f"if {condition}" for condition in self.conditions),
            *(f"begins a limit of {limit}" for limit in self.begins),
            *(f"within {limit}" for limit in self.within),
        )


@dataclass(frozen=True)
class State:
    """What a run can wait for at one time.

    Attributes:
        kind: ``start`` (nothing matched yet), ``ordinary`` or ``generative`` (a composite is made).
        domain: All that it listens to.
        fails_on: What of that fails the run.
        sets: Timers that are set on entering it, such as ``T1 = 1 h``.
        timers: Timers that run in it.
    """

    name: str
    kind: Literal["start", "ordinary", "generative"]
    waits: tuple[Wait, ...] = ()
    domain: tuple[str, ...] = ()
    fails_on: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    timers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Graph:
    """The automaton of a definition or of a side of a ``||``; the generative state is the last one.

    Attributes:
        name: The type of the composites that it makes, or the side's name.
        title: What it is, for people.
        text: The definition's expression, if that is known.
    """

    name: str
    title: str
    text: str
    states: tuple[State, ...]

    def edges(self) -> Iterator[tuple[int, Wait, Move]]:
        """Every edge: the index of the state it leaves, the option, and where that leads."""
        for number, state in enumerate(self.states):
            for wait in state.waits:
                for move in wait.moves:
                    yield number, wait, move
