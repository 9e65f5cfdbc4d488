"""Graphviz source."""

import re

from penstock import parse
from penstock.automaton.compile import compile_pattern
from penstock.drawing.automata import graphs
from penstock.drawing.dot import draw_dot


def drawn(text: str) -> str:
    pattern = parse(text)
    return draw_dot(compile_pattern(pattern), pattern)


def test_golden() -> None:
    source = drawn("([B], [P in {P, T1}]){T1 = 1 h}")
    assert source.partition("  subgraph")[2] == (
        " cluster_0 {\n"
        '    label="composite\\n([B], [P in {P, T1}]){T1 = 1 h}"\n'
        '    "0.0" [label="S0", shape=circle]\n'
        '    "0.0 start" [shape=point, width=0.1]\n'
        '    "0.0 start" -> "0.0"\n'
        '    "0.1" [label="S1", shape=circle, xlabel="fails on T1"]\n'
        '    "0.2" [label="composite", shape=doublecircle]\n'
        '    "0.0" -> "0.1" [label="[B]\\nsets T1 = 1 h", style=solid, penwidth=2, arrowhead="normal"]\n'
        '    "0.1" -> "0.2" [label="[P]", style=dashed, arrowhead="empty"]\n'
        "  }\n"
        "}\n"
    )


def test_one_node_for_each_state_and_one_line_for_each_edge(text: str) -> None:
    source = drawn(text)
    automata = graphs(compile_pattern(parse(text)))
    edges = [wait.strong for graph in automata for _, wait, _ in graph.edges()]
    assert len(re.findall(r"shape=(?:double)?circle", source)) == sum(len(graph.states) for graph in automata)
    assert source.count("style=solid") == edges.count(True)
    assert source.count("style=dashed") == edges.count(False)


def test_quotes_and_backslashes_are_escaped() -> None:
    source = drawn("[A(x = 'say \"a\\b\"')]")
    assert """label="[A(x = 'say \\"a\\\\b\\"')]",""" in source
