"""Automata as plain text: a line for each option of each state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.algebra.pattern import Pattern
from penstock.automaton.program import Program
from penstock.drawing.automata import graphs
from penstock.drawing.graph import Graph, Move, State, Wait

WIDEST_COLUMN = 60
"""Arrows are below each other unless what stands before them is longer than this."""


def draw_text(programs: Iterable[Program], pattern: Pattern | None = None) -> str:
    """The automata as text; the pattern, if given, is written above.

    >>> from penstock import parse
    >>> from penstock.automaton.compile import compile_pattern
    >>> pattern = parse("([B], [P in {P, T1}]){T1 = 1 h}")
    >>> print(draw_text(compile_pattern(pattern), pattern), end="")
    composite := ([B], [P in {P, T1}]){T1 = 1 h}
      S0  start  waits for  [B]         → S1 (sets T1 = 1 h)
      S1         waits for  [P] weakly  → composite
                 fails on   T1
    """
    return "\n".join(_graph(graph) for graph in graphs(programs, pattern))


def _graph(graph: Graph) -> str:
    states = [state for state in graph.states if state.kind != "generative"]
    name_width = max(len(state.name) for state in states)
    wait_width = max(len(_wait(state, wait)) for state in states for wait in state.waits)
    title = f"{graph.title} := {graph.text}" if graph.text else graph.title
    lines = [title.replace("\n", " ")]
    for state in states:
        names = [f"{state.name:{name_width}}  {'start' if state.kind == 'start' else '':5}"]
        for what in _lines(graph, state, min(wait_width, WIDEST_COLUMN)):
            lines.append(f"  {names.pop() if names else ' ' * (name_width + 7)}  {what}")
    return "".join(f"{line}\n" for line in lines)


def _lines(graph: Graph, state: State, width: int) -> Iterator[str]:
    for number, wait in enumerate(state.waits):
        targets = " and ".join(_move(graph, move) for move in wait.moves)
        yield f"{'or' if number else 'waits for':9}  {_wait(state, wait):{width}}  → {targets}"
    if state.fails_on:
        yield f"fails on   {', '.join(state.fails_on)}"


def _wait(state: State, wait: Wait) -> str:
    strength = "" if state.kind == "start" else " strongly" if wait.strong else " weakly"
    return wait.label + strength + (f" ({', '.join(wait.notes)})" if wait.notes else "")


def _move(graph: Graph, move: Move) -> str:
    return graph.states[move.target].name + (f" ({', '.join(move.notes)})" if move.notes else "")
