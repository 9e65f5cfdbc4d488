"""What the signs of an SVG drawing look like, and the legend that explains them."""

from __future__ import annotations

from penstock.drawing.strokes import number

STYLE = """\
<style>
.penstock .paper { fill: #ffffff; }
.penstock text { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1a1a1a; }
.penstock text { text-anchor: middle; }
.penstock .title, .penstock .name { font-family: "DejaVu Sans", Verdana, sans-serif; font-weight: bold; }
.penstock .title { font-size: 15px; text-anchor: start; }
.penstock .name { font-size: 11.5px; }
.penstock .label { font-size: 12px; }
.penstock .note { font-size: 11px; fill: #666666; }
.penstock .timer { font-size: 11px; fill: #8a4b00; }
.penstock .left { text-anchor: start; }
.penstock .state, .penstock .ring, .penstock .inner { fill: #f3f7fb; stroke: #1a1a1a; stroke-width: 1.5; }
.penstock .inner { fill: none; }
.penstock .edge, .penstock .line { fill: none; stroke: #1f4e79; }
.penstock .strong { stroke-width: 2.2; }
.penstock .weak { stroke-width: 1.5; stroke-dasharray: 6 4; }
.penstock .start { fill: none; stroke: #666666; stroke-width: 1.5; }
.penstock .clock { fill: #fff6e8; stroke: #8a4b00; stroke-width: 1.2; }
.penstock .rule { stroke: #cccccc; }
</style>
<defs>
<marker id="strong" markerUnits="userSpaceOnUse"
 markerWidth="12" markerHeight="10" refX="11" refY="5" orient="auto">
<path d="M0 0L12 5L0 10Z" fill="#1f4e79"/></marker>
<marker id="weak" markerUnits="userSpaceOnUse"
 markerWidth="13" markerHeight="12" refX="11" refY="6" orient="auto">
<path d="M1 1L11 6L1 11" fill="none" stroke="#1f4e79" stroke-width="1.5"/></marker>
<marker id="start" markerUnits="userSpaceOnUse"
 markerWidth="10" markerHeight="8" refX="9" refY="4" orient="auto">
<path d="M0 0L10 4L0 8Z" fill="#666666"/></marker>
</defs>"""

LINES = (
    "strong: begins after what was matched before has ended",
    "weak: may overlap what was matched before",
    "generative: a composite is made",
    "timer: set on entering the state; it fires as an event of its name",
)
LINE_HEIGHT = 22.0
LEGEND_HEIGHT = LINE_HEIGHT * len(LINES) + 12
LEGEND_WIDTH = 530.0


def clock(x: float, y: float) -> str:
    """A small clock around a point."""
    hands = f"M{number(x)} {number(y - 3.5)}V{number(y)}H{number(x + 2.5)}"
    circle = f'<circle class="clock" cx="{number(x)}" cy="{number(y)}" r="5.5"/>'
    return f'{circle}<path class="clock" d="{hands}"/>'


def double_circle(x: float, y: float, radius: float, kind: str) -> str:
    """The sign of a generative state."""
    middle = f'cx="{number(x)}" cy="{number(y)}"'
    inner = f'<circle class="inner" {middle} r="{number(radius - 3.5)}"/>'
    return f'<circle class="{kind}" {middle} r="{number(radius)}"/>{inner}'


def legend() -> str:
    """A line for each sign."""
    signs = (
        '<path class="line strong" d="M0 0H40" marker-end="url(#strong)"/>',
        '<path class="line weak" d="M0 0H40" marker-end="url(#weak)"/>',
        double_circle(20, 0, 9, "ring"),
        clock(20, 0),
    )
    parts = [f'<path class="rule" d="M0 0H{number(LEGEND_WIDTH)}"/>']
    for place, (sign, words) in enumerate(zip(signs, LINES, strict=True)):
        parts.append(f'<g transform="translate(0 {number(LINE_HEIGHT * (place + 1))})">{sign}')
        parts.append(f'<text class="note left" x="54" y="4">{words}</text></g>')
    return "\n".join(parts)
