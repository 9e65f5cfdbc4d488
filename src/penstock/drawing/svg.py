"""Automata as one SVG that needs nothing else: our own layout, from left to right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from penstock.algebra.pattern import Pattern
from penstock.automaton.program import Program
from penstock.drawing.automata import graphs
from penstock.drawing.graph import Graph, State, Wait
from penstock.drawing.legend import LEGEND_HEIGHT, LEGEND_WIDTH, STYLE, clock, double_circle, legend
from penstock.drawing.lettering import LABEL_SIZE, NOTE_SIZE, TITLE_SIZE, escaped, width, wrapped
from penstock.drawing.places import Places, placed
from penstock.drawing.sizes import ARM, CLOCK, LABEL_HEIGHT, NOTE_HEIGHT, Caption, Size
from penstock.drawing.strokes import loop, number, strokes

EDGE = 24.0
"""Around the whole drawing."""
TITLE_GAP, GRAPH_GAP = 16.0, 30.0
TEXT_COLUMNS = 100
WIDEST_BAND = 1500.0


@dataclass(frozen=True)
class Part:
    """A piece of the drawing and its size."""

    content: str
    width: float
    height: float


def draw_svg(programs: Iterable[Program], pattern: Pattern | None = None) -> str:
    """A drawing of the automata below each other, with a legend.

    >>> from penstock import parse
    >>> from penstock.automaton.compile import compile_pattern
    >>> drawing = draw_svg(compile_pattern(parse("[A] ; [B]")))
    >>> drawing.count('class="state"'), drawing.count('class="edge strong"'), drawing.count('class="edge weak"')
    (3, 2, 0)
    """
    parts: list[str] = []
    right, y = LEGEND_WIDTH, EDGE
    for place, graph in enumerate(graphs(programs, pattern)):
        for part in (_title(graph), _automaton(graph, f"automaton-{place}")):
            parts.append(_moved(EDGE, y, part.content))
            right = max(right, part.width)
            y += part.height
    parts.append(_moved(EDGE, y, legend()))
    return _document(right + 2 * EDGE, y + LEGEND_HEIGHT + EDGE, "\n".join(parts))


def _document(wide: float, high: float, content: str) -> str:
    box = f'width="{number(wide)}" height="{number(high)}"'
    view = f'viewBox="0 0 {number(wide)} {number(high)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} {view} class="penstock">\n{STYLE}\n'
        f'<rect class="paper" {box}/>\n{content}\n</svg>\n'
    )


def _moved(x: float, y: float, content: str) -> str:
    return f'<g transform="translate({number(x)} {number(y)})">\n{content}\n</g>'


def _text(x: float, y: float, kind: str, line: str, full: str = "") -> str:
    title = f"<title>{escaped(full)}</title>" if full not in ("", line) else ""
    return f'<text class="{kind}" x="{number(x)}" y="{number(y)}">{title}{escaped(line)}</text>'


def _title(graph: Graph) -> Part:
    """A graph's title with the definition's text."""
    lines = wrapped(graph.text, TEXT_COLUMNS, 4)
    parts = [_text(0, TITLE_SIZE, "title", graph.title)]
    for place, line in enumerate(lines):
        parts.append(_text(0, TITLE_SIZE + (place + 1) * LABEL_HEIGHT + 4, "label left", line, graph.text))
    wide = max([width(graph.title, TITLE_SIZE), *(width(line, LABEL_SIZE) for line in lines)])
    return Part("\n".join(parts), wide, TITLE_SIZE + len(lines) * LABEL_HEIGHT + TITLE_GAP)


def _automaton(graph: Graph, name: str) -> Part:
    """A graph's states and edges, in several bands below each other if it is wide."""
    places = placed(graph)
    content = "\n".join(_signs(graph, places))
    cuts = list(_cuts(places))
    if len(cuts) == 2:
        return Part(content, places.width, places.height + GRAPH_GAP)
    high = places.height + GRAPH_GAP
    bands = [f'<defs><g id="{name}">{content}</g></defs>']
    for place, (left, right) in enumerate(pairwise(cuts)):
        size = f'width="{number(right - left)}" height="{number(high)}"'
        view = f'viewBox="{number(left)} {number(-GRAPH_GAP / 2)} {number(right - left)} {number(high)}"'
        bands.append(f'<svg y="{number(place * high - GRAPH_GAP / 2)}" {size} {view}><use href="#{name}"/></svg>')
    widest = max(right - left for left, right in pairwise(cuts))
    return Part("\n".join(bands), widest, high * (len(cuts) - 1))


def _cuts(places: Places) -> Iterator[float]:
    """Where the bands of a drawing begin, between columns, and where the last ends."""
    begin = 0.0
    yield begin
    for span, following in pairwise(places.spans):
        if following.right - begin > WIDEST_BAND:
            begin = (span.right + following.left) / 2
            yield begin
    yield places.width + 2  # for the last circle's line


def _signs(graph: Graph, places: Places) -> Iterator[str]:
    for stroke in strokes(places):
        wait = graph.states[stroke.route.source].waits[stroke.route.wait]
        yield _edge(graph, stroke.route.source, wait, stroke.route.target, stroke.path, stroke.arrow)
    for place, state in enumerate(graph.states):
        x, y = places.middle(place)
        size = places.sizes[place]
        yield from _loops(graph, place, size, x, y)
        yield from _circle(state, size, x, y)
        yield from _rows(state, size, x, y)
        yield from _notes(size, x, y)


def _edge(graph: Graph, source: int, wait: Wait, target: int, path: str, arrow: bool = True) -> str:
    strength = "strong" if wait.strong else "weak"
    notes = [note for move in wait.moves if move.target == target for note in move.notes]
    words = ", ".join([wait.label, strength, *wait.notes, *notes])
    title = f"{graph.states[source].name} → {graph.states[target].name}: {words}"
    end = f' marker-end="url(#{strength})"' if arrow else ""
    return f'<path class="edge {strength}" d="{path}"{end}><title>{escaped(title)}</title></path>'


def _loops(graph: Graph, place: int, size: Size, x: float, y: float) -> Iterator[str]:
    waits = [one for one in graph.states[place].waits if any(move.target == place for move in one.moves)]
    bottom = y - size.radius - size.loop_height
    for turn, (wait, caption) in enumerate(zip(waits, size.loops, strict=True)):
        yield _edge(graph, place, wait, place, loop(size, x, y, turn))
        line = bottom - caption.below
        yield from _caption(x, line, "label", "note", caption, wait.label)
        bottom = line - caption.above


def _caption(x: float, y: float, label: str, note: str, caption: Caption, full: str) -> Iterator[str]:
    """Label lines above a line at this height, notes below it."""
    for place, line in enumerate(reversed(caption.label)):
        yield _text(x, y - 5 - place * LABEL_HEIGHT, label, line, full)
    for place, line in enumerate(caption.notes):
        yield _text(x, y + NOTE_SIZE + 2 + place * NOTE_HEIGHT, note, line)


def _rows(state: State, size: Size, x: float, y: float) -> Iterator[str]:
    for row in size.rows:
        left = x + size.radius + ARM
        yield from _caption(left, y + row.offset, "label left", "note left", row.caption, state.waits[row.wait].label)


def _circle(state: State, size: Size, x: float, y: float) -> Iterator[str]:
    if state.kind == "start":
        path = f"M{number(x - size.radius - 40)} {number(y)}H{number(x - size.radius - 2)}"
        yield f'<path class="start" d="{path}" marker-end="url(#start)"/>'
        yield _text(x - size.radius - 24, y - 6, "note", "start")
    if state.kind == "generative":
        yield double_circle(x, y, size.radius, "state")
    else:
        yield f'<circle class="state" cx="{number(x)}" cy="{number(y)}" r="{number(size.radius)}"/>'
    if size.name_inside:
        yield _text(x, y + 4, "name", state.name)


def _notes(size: Size, x: float, y: float) -> Iterator[str]:
    for place, note in enumerate(size.notes):
        line = y + size.notes_top + (place + 1) * NOTE_HEIGHT - 3
        shift = CLOCK / 2 if note.kind == "timer" else 0.0
        if note.kind == "timer":
            yield clock(x - note.width / 2 + 6, line - 4)
        yield _text(x + shift, line, note.kind, note.text, note.full)
