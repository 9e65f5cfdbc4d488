"""Graphs of automata: states, edges, strengths, domains and timers."""

import pytest

from penstock import parse
from penstock.automaton.compile import compile_pattern
from penstock.drawing.automata import graphs
from penstock.drawing.graph import Graph


def graph_of(text: str) -> Graph:
    return graphs(compile_pattern(parse(text)))[0]


def edges_of(graph: Graph) -> list[tuple[str, str, str, str]]:
    names = [state.name for state in graph.states]
    return [
        (names[source], wait.label, "strong" if wait.strong else "weak", names[move.target])
        for source, wait, move in graph.edges()
    ]


def test_figure_11_c1() -> None:
    """Persons come in while the board is on; taking it off before anyone came ends it."""
    text = "[Boardon] [[Pers(name = 'x')] [Pers(name = 'x')]* [Boardoff] in {Pers(name = 'x'), Boardoff}]"
    graph = graph_of(f"C1 := {text}")
    person = "Pers(name = 'x')"
    assert [(state.name, state.kind) for state in graph.states] == [
        ("S0", "start"),
        ("S1", "ordinary"),
        ("S2", "ordinary"),
        ("C1", "generative"),
    ]
    assert edges_of(graph) == [
        ("S0", "[Boardon]", "strong", "S1"),
        ("S1", f"[{person}]", "weak", "S2"),
        ("S2", f"[{person}]", "weak", "S2"),
        ("S2", "[Boardoff]", "weak", "C1"),
    ]
    assert [set(state.domain) for state in graph.states[:3]] == [
        {"Boardon"},
        {person, "Boardoff"},
        {person, "Boardoff"},
    ]
    assert [state.fails_on for state in graph.states[:3]] == [(), ("Boardoff",), ()]


def test_figure_11_c() -> None:
    """No login for five minutes after C1: the timer moves the run on, the login fails it."""
    graph = graph_of("C := ([C1(room = 'r')], [T1] in {T1, Login(name = 'j')}){T1 = 5 min}")
    assert edges_of(graph) == [("S0", "[C1(room = 'r')]", "strong", "S1"), ("S1", "[T1]", "weak", "C")]
    start, waiting, _ = graph.states
    assert (start.domain, start.fails_on, start.timers) == (("C1(room = 'r')",), (), ())
    assert set(waiting.domain) == {"T1", "Login(name = 'j')"}
    assert waiting.fails_on == ("Login(name = 'j')",)
    assert (waiting.sets, waiting.timers) == (("T1 = 5 min",), ("T1",))


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("[X] [A in {A, B}]", "B"),
        ("[X] [A(v = 1) in {A}]", "other A"),
        ("[X] [A in {A(v = 1)}]", ""),
        ("[X] [A in {*}]", "other *"),
        ("[X] [* in {B}]", ""),
        ("[X] [!C in {C, D}]", "C"),
        ("[X] [!C in {D}]", ""),
        ("[X] [!A(v > 3) in {A}]", "A(v > 3)"),
        ("[X] ([!C in {C, D}] in {D, E})", "C, E"),
        ("[X] [A in {B}]? [B in {A, C}]", "C"),
        ("([X], [A] [T]){T = 1 s}", "T"),
        ("([X], [A] | [A, T]){T = 1 s}", "T"),
        ("([X], [!T in {A, T}]){T = 1 s}", "T"),
    ],
)
def test_what_fails_the_first_state_after_x(text: str, fails: str) -> None:
    state = next(state for state in graph_of(text).states if state.name == "S1")
    assert ", ".join(state.fails_on) == fails


def test_nothing_of_a_scope_fails_a_start() -> None:
    graph = graph_of("(([A in {A, B}];[D]) in {C})")
    assert [state.fails_on for state in graph.states] == [("B",), ("C",), ()]
    assert graph_of("(([A]||[B]) in {C})").states[0].fails_on == ("C once a side is there",)


def test_negation_of_a_time_event_alone_is_the_written_list() -> None:
    assert edges_of(graph_of("([X], [!T in {A, T}]){T = 1 s}"))[1] == ("S1", "[A]", "weak", "composite")


def test_a_timer_that_runs_on_is_not_set_again() -> None:
    graph = graph_of("([A]+, [B] [C]){T = 1 s}")
    names = [state.name for state in graph.states]
    setting = {(names[source], names[move.target]) for source, _, move in graph.edges() if move.sets}
    assert setting == {("S0", "S1"), ("S1", "S1")}
    assert [(state.name, state.sets, state.timers) for state in graph.states if state.timers] == [
        ("S1", ("T = 1 s",), ("T",)),
        ("S2", (), ("T",)),
    ]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("x: [A] (([B]* where x.v > 1) | ([C]* where x.v < 0))", "x.v > 1 OR x.v < 0"),
        ("x: [A] (([B]* where x.v > 1) | [C]*)", ""),
        ("(x: [A] where x.v > 1 OR x.v < 0) [B]? where x.w = 1", "(x.v > 1 OR x.v < 0) AND x.w = 1"),
    ],
)
def test_several_ends_after_one_event_are_one_edge(text: str, condition: str) -> None:
    graph = graph_of(text)
    end = len(graph.states) - 1
    assert [move.condition for move in graph.states[0].waits[0].moves if move.target == end] == [condition]


def test_an_option_leads_to_a_state_once(text: str) -> None:
    for graph in graphs(compile_pattern(parse(text))):
        for wait in (wait for state in graph.states for wait in state.waits):
            targets = [move.target for move in wait.moves]
            assert len(set(targets)) == len(targets)


def test_a_limit_in_a_loop_begins_anew() -> None:
    graph = graph_of("([A] [B] within 5 s)+ within 1 min")
    waits = [(wait.label, wait.begins, wait.within) for _, wait, _ in graph.edges()]
    assert ("[A]", ("1 min", "5 s"), ()) in waits
    assert ("[A]", ("5 s",), ("1 min",)) in waits
    assert ("[B]", (), ("1 min", "5 s")) in waits


def test_the_generative_state_is_last_and_every_other_leads_on(text: str) -> None:
    for graph in graphs(compile_pattern(parse(text))):
        *others, last = graph.states
        assert last.kind == "generative"
        assert last.name == graph.name
        assert all(state.kind != "generative" and state.waits for state in others)
        entered = {move.target for _, _, move in graph.edges()}
        assert entered == {n for n, state in enumerate(graph.states) if state.kind != "start"}
