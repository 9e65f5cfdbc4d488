"""The lines of a drawing as SVG path data: edges along their lanes, and loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot, sqrt

from penstock.drawing.layers import Route, Slot
from penstock.drawing.places import Places
from penstock.drawing.sizes import ARM, LOOP_STEP, Size

TURN = 40.0
"""How far a line swings out that turns back."""
TIP = 2.0
"""Between an arrow's tip and the circle."""

Arrival = Slot | Route
"""What an arrow comes from: a lane, or the option of a state in the column before."""


@dataclass(frozen=True)
class Stroke:
    """A line of an edge; one that joins another edge's lane has no arrow."""

    route: Route
    path: str
    arrow: bool


def number(value: float) -> str:
    """A coordinate, as short as it can be."""
    return f"{round(value, 1) + 0.0:g}"


class Pen:
    """Draws path data from where it is."""

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y
        self.path = f"M{number(x)} {number(y)}"

    def curve(self, *points: float) -> None:
        """A cubic curve: two points that pull, and the end."""
        self.path += "C" + " ".join(map(number, points))
        self.x, self.y = points[-2:]

    def level(self, x: float) -> None:
        """A level line."""
        self.path += f"H{number(x)}"
        self.x = x

    def go(self, x: float, y: float) -> None:
        """On to a point, level at both ends."""
        if round(y, 1) == round(self.y, 1):
            self.level(x)
        else:
            middle = (self.x + x) / 2
            self.curve(middle, self.y, middle, y, x, y)

    def turn(self, x: float, y: float, swing: float) -> None:
        """To a point above or below, around a bend to the right or to the left."""
        self.curve(self.x + swing, self.y, x + swing, y, x, y)


def strokes(places: Places) -> Iterator[Stroke]:
    """The lines of all edges to other states; the longest are drawn first, and others join their lanes."""
    entries = _entries(places)
    drawn: set[Slot] = set()
    left: set[tuple[int, int]] = set()
    for route in sorted(places.layers.routes, key=lambda one: -len(one.lanes)):
        pen = _leave(places, route, (route.source, route.wait) in left)
        left.add((route.source, route.wait))
        joins = _follow_lanes(places, route, pen, drawn)
        if not joins:
            _enter(places, route, pen, entries[route.target, _arrival(route)])
        yield Stroke(route, pen.path, not joins)


def _leave(places: Places, route: Route, arm_is_drawn: bool) -> Pen:
    """From the circle along the option's label; edges of one option share that part."""
    x, y = places.middle(route.source)
    size = places.sizes[route.source]
    offset = next(row.offset for row in size.rows if row.wait == route.wait)
    port = places.spans[places.layers.home[route.source].column].right
    if arm_is_drawn:
        return Pen(port, y + offset)
    reach = size.radius + ARM
    share = size.radius / hypot(reach, offset)
    pen = Pen(x + reach * share, y + offset * share)
    if offset:
        pen.curve(x + reach * 0.8, y + offset * 0.8, x + reach * 0.85, y + offset, x + reach, y + offset)
    pen.level(port)
    return pen


def _follow_lanes(places: Places, route: Route, pen: Pen, drawn: set[Slot]) -> bool:
    """Along the lanes, up to the first that another edge has drawn; says whether there is one."""
    for place, lane in enumerate(route.lanes):
        span = places.spans[lane.column]
        begin, end = (span.right, span.left) if lane.back else (span.left, span.right)
        if lane.back and place == 0:
            pen.turn(begin, places.y[lane], TURN)
        else:
            pen.go(begin, places.y[lane])
        if lane in drawn:
            return True
        drawn.add(lane)
        pen.level(end)
    return False


def _enter(places: Places, route: Route, pen: Pen, offset: float) -> None:
    """Level into the target's circle from the left."""
    x, y = places.middle(route.target)
    left = places.spans[places.layers.home[route.target].column].left
    if route.lanes and route.lanes[-1].back:
        pen.turn(left, y + offset, -TURN)
    else:
        pen.go(left, y + offset)
    pen.level(x - sqrt(places.sizes[route.target].radius ** 2 - offset**2) - TIP)


def _arrival(route: Route) -> Arrival:
    return route.lanes[-1] if route.lanes else route


def _entries(places: Places) -> dict[tuple[int, Arrival], float]:
    """How far above or below the middle of its target each arrow ends, in the order in which they come."""
    arrivals: dict[int, dict[Arrival, float]] = {}
    for route in places.layers.routes:
        arrivals.setdefault(route.target, {})[_arrival(route)] = _arrival_height(places, route)
    found: dict[tuple[int, Arrival], float] = {}
    for target, heights in arrivals.items():
        step = min(13.0, 1.5 * places.sizes[target].radius / max(1, len(heights) - 1))
        for place, arrival in enumerate(sorted(heights, key=heights.__getitem__)):
            found[target, arrival] = (place - (len(heights) - 1) / 2) * step
    return found


def _arrival_height(places: Places, route: Route) -> float:
    if route.lanes:
        return places.y[route.lanes[-1]]
    rows = places.sizes[route.source].rows
    return places.middle(route.source)[1] + next(row.offset for row in rows if row.wait == route.wait)


def loop(size: Size, x: float, y: float, place: int) -> str:
    """A loop above a circle; those of later options go around those of earlier ones."""
    inner = size.loop_height - LOOP_STEP * (len(size.loops) - 1 - place)
    foot, half = size.radius * 0.55, 20.0 + 6 * place
    base = y - sqrt(size.radius**2 - foot**2)
    pen = Pen(x - foot, base)
    # A curve rises to three quarters of the height at which its two points pull.
    pull = base - (base - (y - size.radius - inner)) / 0.75
    pen.curve(x - half - foot, pull, x + half + foot, pull, x + foot, base - TIP)
    return pen.path
