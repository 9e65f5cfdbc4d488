"""Automata as Graphviz source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.algebra.pattern import Pattern
from penstock.automaton.program import Program
from penstock.drawing.automata import graphs
from penstock.drawing.graph import Graph, Move, State, Wait

HEAD = """\
digraph penstock {
  rankdir=LR
  graph [fontname="Helvetica", fontsize=13, labeljust=l, color="#bbbbbb", bgcolor="#ffffff"]
  node [fontname="Helvetica", fontsize=12]
  edge [fontname="Courier", fontsize=11]
"""

SHAPES = {"start": "circle", "ordinary": "circle", "generative": "doublecircle"}
STYLES = {True: 'style=solid, penwidth=2, arrowhead="normal"', False: 'style=dashed, arrowhead="empty"'}


def draw_dot(programs: Iterable[Program], pattern: Pattern | None = None) -> str:
    """Graphviz source: strong edges solid and thick, weak ones dashed, generative states double.

    >>> from penstock import parse
    >>> from penstock.automaton.compile import compile_pattern
    >>> print(draw_dot(compile_pattern(parse("[A] ; [B]"))).splitlines()[-3])
        "0.1" -> "0.2" [label="[B]", style=solid, penwidth=2, arrowhead="normal"]
    """
    clusters = (line for number, graph in enumerate(graphs(programs, pattern)) for line in _cluster(number, graph))
    return HEAD + "".join(f"  {line}\n" for line in clusters) + "}\n"


def _cluster(number: int, graph: Graph) -> Iterator[str]:
    yield f"subgraph cluster_{number} {{"
    yield f"  label={_quoted(graph.title, *([graph.text] if graph.text else []))}"
    for place, state in enumerate(graph.states):
        yield from _state(f"{number}.{place}", state)
    for source, wait, move in graph.edges():
        yield f'  "{number}.{source}" -> "{number}.{move.target}" [{_edge(wait, move)}]'
    yield "}"


def _state(node: str, state: State) -> Iterator[str]:
    notes = [f"fails on {one}" for one in state.fails_on]
    outside = f", xlabel={_quoted(*notes)}" if notes else ""
    yield f'  "{node}" [label={_quoted(state.name)}, shape={SHAPES[state.kind]}{outside}]'
    if state.kind == "start":
        yield f'  "{node} start" [shape=point, width=0.1]'
        yield f'  "{node} start" -> "{node}"'


def _edge(wait: Wait, move: Move) -> str:
    return f"label={_quoted(wait.label, *wait.notes, *move.notes)}, {STYLES[wait.strong]}"


def _quoted(*lines: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
