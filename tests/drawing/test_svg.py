"""SVG drawings: well formed, complete, nothing on top of anything else."""

import xml.etree.ElementTree as ET
from itertools import combinations, product
from math import dist

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import parse
from penstock.automaton.compile import compile_pattern
from penstock.drawing.automata import graphs
from penstock.drawing.lettering import LABEL_SIZE, NOTE_SIZE, width, wrapped
from penstock.drawing.svg import draw_svg

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"label": LABEL_SIZE, "note": NOTE_SIZE, "timer": NOTE_SIZE, "name": NOTE_SIZE, "title": 0.0}


def drawn(text: str) -> ET.Element:
    pattern = parse(text)
    return ET.fromstring(draw_svg(compile_pattern(pattern), pattern))  # noqa: S314


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [one for one in root.iter() if name in one.get("class", "").split()]


def groups(root: ET.Element) -> list[ET.Element]:
    """What is drawn in one system of coordinates."""
    return [one for one in root.iter(f"{SVG}g") if of_class(one, "state")]


def circles(group: ET.Element) -> list[tuple[float, float, float]]:
    return [tuple(float(one.get(key, "")) for key in ("cx", "cy", "r")) for one in of_class(group, "state")]  # type: ignore[misc]


def shown(text: ET.Element) -> str:
    """What a text shows, without its title."""
    title = text.find(f"{SVG}title")
    return (text.text or "") if title is None else (title.tail or "")


def boxes(group: ET.Element, *but: str) -> list[tuple[float, float, float, float]]:
    """The box of each text: left, top, right, bottom."""
    found = []
    for one in group.iter(f"{SVG}text"):
        kind, *left = one.get("class", "").split()
        if kind not in but:
            wide = width(shown(one), SIZES[kind])
            x, y = float(one.get("x", "")) - (0 if left else wide / 2), float(one.get("y", ""))
            found.append((x, y - SIZES[kind] * 0.8, x + wide, y + 2))
    return found


def check_complete(text: str) -> None:
    root = drawn(text)
    automata = graphs(compile_pattern(parse(text)))
    edges = [wait.strong for graph in automata for _, wait, _ in graph.edges()]
    paths = of_class(root, "edge")
    assert len(of_class(root, "state")) == sum(len(graph.states) for graph in automata)
    assert sum("strong" in path.get("class", "").split() for path in paths) == edges.count(True)
    assert sum("weak" in path.get("class", "").split() for path in paths) == edges.count(False)


def check_clear(text: str) -> None:
    for group in groups(drawn(text)):
        for (x1, y1, r1), (x2, y2, r2) in combinations(circles(group), 2):
            assert dist((x1, y1), (x2, y2)) > r1 + r2 + 10
        for one, two in combinations(boxes(group), 2):
            assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
        for (x, y, r), (left, top, right, bottom) in product(circles(group), boxes(group, "name")):
            assert dist((x, y), (min(max(x, left), right), min(max(y, top), bottom))) >= r


def test_every_state_and_edge_is_drawn(text: str) -> None:
    check_complete(text)


def test_circles_and_texts_do_not_overlap(text: str) -> None:
    check_clear(text)


def test_everything_is_inside(text: str) -> None:
    root = drawn(text)
    for group in groups(root):
        bands = [one.get("viewBox", "").split() for one in root.iter(f"{SVG}svg") if one is not root]
        right = max([float(root.get("width", "")), *(float(box[0]) + float(box[2]) for box in bands)])
        assert all(x - r >= 0 and x + r <= right for x, _, r in circles(group))


def test_drawing_twice_gives_the_same(text: str) -> None:
    pattern = parse(text)
    assert draw_svg(compile_pattern(pattern), pattern) == draw_svg(compile_pattern(parse(text)), pattern)


def atoms() -> st.SearchStrategy[str]:
    return st.sampled_from(["[A]", "[B]", "[C in {C, D}]", "[!A in {A, B}]"])


def expressions() -> st.SearchStrategy[str]:
    return st.recursive(
        atoms(),
        lambda inner: st.one_of(
            st.builds("({} {})".format, inner, inner),
            st.builds("({} ; {})".format, inner, inner),
            st.builds("({} | {})".format, inner, inner),
            st.builds("({} || {})".format, inner, inner),
            st.builds("({}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}"])),
            st.builds("({} in {{E}})".format, inner),
            st.builds("({} within 5 min)".format, inner),
        ),
        max_leaves=6,
    )


@settings(max_examples=150, deadline=None)
@given(expressions())
def test_any_pattern_is_drawn_whole_and_clear(text: str) -> None:
    check_complete(text)
    check_clear(text)


def test_text_is_escaped() -> None:
    root = drawn("[A(note = '<a & \"b\">')]")
    assert "[A(note = '<a & \"b\">')]" in [shown(one) for one in of_class(root, "label")]


def test_characters_that_xml_forbids_are_replaced() -> None:
    assert "\N{REPLACEMENT CHARACTER}" in ET.tostring(drawn("['a\x01b']"), "unicode")


def test_a_shortened_label_is_whole_in_its_title() -> None:
    condition = " AND ".join(f"attribute{n} = {n}" for n in range(20))
    root = drawn(f"[A({condition})]")
    *_, last = [one for one in of_class(root, "label") if shown(one).endswith("…")]
    assert last.findtext(f"{SVG}title") == f"[A({condition})]"


def test_timers_have_clocks() -> None:
    root = drawn("([B], [P in {P, T1}]){T1 = 1 h}")
    assert [shown(one) for one in of_class(root, "timer")] == ["T1 = 1 h"]
    assert len([one for one in of_class(root, "clock") if one.tag == f"{SVG}circle"]) == 2  # one in the legend


def test_edges_to_one_state_join() -> None:
    root = drawn("[A]{0,12} ; [B]")
    arrows = [one for one in of_class(root, "edge") if one.get("marker-end")]
    assert len(arrows) == len(of_class(root, "edge")) - 11


def test_a_wide_drawing_is_folded() -> None:
    root = drawn("[A]{40}")
    assert float(root.get("width", "")) < 1600
    assert len(list(root.iter(f"{SVG}use"))) == 5


def test_wide_characters_count_twice() -> None:
    assert width("門", 10) == width("ab", 10)
    assert wrapped("", 10) == ()
