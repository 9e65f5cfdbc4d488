"""The signs of the building's picture: shapes as SVG, their colours, and a scale of time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.drawing.lettering import escaped
from penstock.drawing.strokes import number

INK, FAINT, RULE = "#22303c", "#7a8791", "#dfe5ea"
RESIDENT, VISITOR = "#5b9bb5", "#e3b565"
MEETING, NOTE, LOGIN, COLD = "#6d4fa3", "#b8336a", "#2e8b57", "#1f6fd0"
STYLE = f"""\
<style>
.office text {{ font-family: "DejaVu Sans", "Helvetica Neue", Verdana, sans-serif; fill: {INK}; font-size: 11px; }}
.office .title {{ font-size: 22px; font-weight: bold; }}
.office .room {{ font-size: 14px; font-weight: bold; }}
.office .faint {{ fill: {FAINT}; }}
.office .end {{ text-anchor: end; }}
.office .middle {{ text-anchor: middle; }}
.office .held {{ fill: #ffffff; font-size: 10px; }}
.office .logged {{ fill: {LOGIN}; font-weight: bold; }}
</style>"""
_WARMTH = (
    (11.0, (31, 90, 200)),
    (15.0, (150, 190, 240)),
    (17.0, (226, 233, 238)),
    (20.0, (244, 226, 200)),
    (23.0, (232, 150, 90)),
)


@dataclass(frozen=True)
class Scale:
    """Where instants are, from left to right."""

    begin: int
    end: int
    left: float
    right: float

    def x(self, at: float) -> float:
        """The place of an instant.

        >>> Scale(0, 100, left=10, right=20).x(50)
        15.0
        """
        share = (at - self.begin) / (self.end - self.begin)
        return self.left + min(max(share, 0.0), 1.0) * (self.right - self.left)


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """A line of text.

    >>> text(1, 2, "a < b", "faint")
    '<text x="1" y="2" class="faint">a &lt; b</text>'
    """
    return f'<text x="{number(x)}" y="{number(y)}" class="{kind}">{escaped(words)}</text>'


def box(x: float, y: float, wide: float, high: float, fill: str, more: str = "", title: str = "") -> str:
    """A rectangle; ``title`` is shown to who points at it."""
    size = f'x="{number(x)}" y="{number(y)}" width="{number(max(wide, 0.5))}" height="{number(high)}"'
    return f'<rect {size} fill="{fill}" {more}>{_title(title)}</rect>'


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, more: str = "") -> str:
    """A straight line."""
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f'<line {ends} stroke="{stroke}" {more}/>'


def area(points: Iterable[tuple[float, float]], fill: str) -> str:
    """A filled outline."""
    path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return f'<polygon points="{path}" fill="{fill}"/>'


def envelope(x: float, y: float, colour: str, title: str = "") -> str:
    """A small letter, around its middle."""
    flap = f"M{number(x - 7)} {number(y - 5)}l7 6l7 -6"
    return (
        f'<g>{_title(title)}<rect x="{number(x - 7)}" y="{number(y - 5)}" width="14" height="10" rx="1.5" '
        f'fill="#ffffff" stroke="{colour}" stroke-width="1.4"/>'
        f'<path d="{flap}" fill="none" stroke="{colour}" stroke-width="1.4"/></g>'
    )


def flake(x: float, y: float, colour: str, title: str = "") -> str:
    """A small snowflake, around its middle."""
    ways = ((0, 5), (4.3, 2.5), (4.3, -2.5))
    arms = "".join(f"M{number(x - dx)} {number(y - dy)}L{number(x + dx)} {number(y + dy)}" for dx, dy in ways)
    return f'<path d="{arms}" stroke="{colour}" stroke-width="1.5" stroke-linecap="round">{_title(title)}</path>'


def warmth(celsius: float) -> str:
    """The colour of a temperature: blue below 15 degrees, pale, then warm.

    >>> warmth(0), warmth(16)
    ('#1f5ac8', '#bcd4ef')
    """
    low = _WARMTH[0]
    for high in _WARMTH:
        if celsius < high[0]:
            span = high[0] - low[0]
            share = (celsius - low[0]) / span if span else 0.0
            return _hex([round(a + (b - a) * share) for a, b in zip(low[1], high[1], strict=True)])
        low = high
    return _hex(low[1])


def _hex(colour: Iterable[int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)


def _title(words: str) -> str:
    return f"<title>{escaped(words)}</title>" if words else ""
