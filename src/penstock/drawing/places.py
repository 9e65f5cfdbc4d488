"""Coordinates: where each column, state and lane of a drawing is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from penstock.drawing.graph import Graph
from penstock.drawing.layers import Layers, Route, Slot, layered, neighbours
from penstock.drawing.sizes import Size, size_of

MARGIN = 46.0
"""Left of the first column, for the arrow that marks a start."""
CHANNEL, WIDEST_CHANNEL = 48.0, 120.0
"""Between columns, where edges go up and down."""
LANE = 7.0
GAP = 14.0
SWEEPS = 6

Extents = Mapping[Slot, tuple[float, float]]
"""How far each slot reaches above and below its middle."""


@dataclass(frozen=True)
class Span:
    """A column from left to right, and where the middles of its circles are."""

    left: float
    middle: float
    right: float


@dataclass(frozen=True)
class Places:
    """Everything's coordinates; the drawing's upper left corner is 0, 0."""

    layers: Layers
    sizes: Sequence[Size]
    spans: Sequence[Span]
    y: Mapping[Slot, float]
    width: float
    height: float

    def middle(self, state: int) -> tuple[float, float]:
        """The middle of a state's circle."""
        slot = self.layers.home[state]
        return self.spans[slot.column].middle, self.y[slot]


def placed(graph: Graph) -> Places:
    """The coordinates of a graph's states and lanes."""
    layers = layered(graph)
    before, after = neighbours(layers)
    sizes = [size_of(state, n, _wait_order(layers, n)) for n, state in enumerate(graph.states)]
    extents = {slot: _extent(slot, sizes) for column in layers.columns for slot in column}
    y = _heights(layers, extents, {slot: before[slot] + after[slot] for slot in extents})
    top = min(y[slot] - above for slot, (above, _) in extents.items())
    y = {slot: height - top for slot, height in y.items()}
    rises = {slot: max((abs(y[slot] - y[one]) for one in after[slot]), default=0.0) for slot in extents}
    spans = _spans(layers, sizes, rises)
    bottom = max(y[slot] + below for slot, (_, below) in extents.items())
    return Places(layers, sizes, spans, y, spans[-1].right, bottom)


def _extent(slot: Slot, sizes: Sequence[Size]) -> tuple[float, float]:
    return (LANE, LANE) if slot.lane else (sizes[slot.state].above, sizes[slot.state].below)


def _wait_order(layers: Layers, state: int) -> list[int]:
    """The options of a state that lead to others, those to higher slots first."""
    found: dict[int, tuple[bool, int]] = {}
    for route in layers.routes:
        if route.source == state:
            found[route.wait] = min(found.get(route.wait, (True, 1_000_000)), _first_stop(layers, route))
    return sorted(found, key=lambda wait: found[wait])


def _first_stop(layers: Layers, route: Route) -> tuple[bool, int]:
    stop = route.lanes[0] if route.lanes else layers.home[route.target]
    return stop.back, layers.columns[stop.column].index(stop)


def _heights(layers: Layers, extents: Extents, beside: Mapping[Slot, list[Slot]]) -> dict[Slot, float]:
    """Slots near the middle of those beside them, in order and apart; lanes back run level below."""
    columns = [[slot for slot in column if not slot.back] for column in layers.columns]
    y = {slot: 0.0 for column in columns for slot in column}
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            wanted = [_wanted(slot, beside[slot], y) for slot in column]
            y.update(zip(column, _apart(column, wanted, extents), strict=True))
    _lanes_back(layers, extents, y)
    return y


def _wanted(slot: Slot, beside: list[Slot], y: Mapping[Slot, float]) -> float:
    """A slot goes with those of its own kind, so that states stay in line and lanes level."""
    near = [y[one] for one in beside if bool(one.lane) == bool(slot.lane)] or [y[one] for one in beside]
    return sum(near) / len(near) if near else y[slot]


def _apart(column: Sequence[Slot], wanted: Sequence[float], extents: Extents) -> list[float]:
    """Heights as near to those wanted as their order and distances allow (pooling adjacent violators)."""
    offsets = [0.0]
    for one, two in pairwise(column):
        offsets.append(offsets[-1] + extents[one][1] + GAP + extents[two][0])
    pools: list[tuple[float, float, int]] = []
    for slot, height, offset in zip(column, wanted, offsets, strict=True):
        pool = (height - offset, 1.0 if slot.lane else 100.0, 1)
        while pools and pools[-1][0] >= pool[0]:
            pool = _pooled(pools.pop(), pool)
        pools.append(pool)
    levels = [height for height, _, count in pools for _ in range(count)]
    return [level + offset for level, offset in zip(levels, offsets, strict=True)]


def _pooled(one: tuple[float, float, int], two: tuple[float, float, int]) -> tuple[float, float, int]:
    weight = one[1] + two[1]
    return (one[0] * one[1] + two[0] * two[1]) / weight, weight, one[2] + two[2]


def _lanes_back(layers: Layers, extents: Extents, y: dict[Slot, float]) -> None:
    bottoms = [max(y[slot] + extents[slot][1] for slot in column if slot in y) for column in layers.columns]
    lanes: dict[tuple[int, str], list[Slot]] = {}
    for slot in (slot for column in layers.columns for slot in column if slot.back):
        lanes.setdefault((slot.state, slot.lane), []).append(slot)
    for slots in lanes.values():
        level = max(bottoms[slot.column] for slot in slots) + GAP + LANE
        for slot in slots:
            y[slot] = level
            bottoms[slot.column] = level + LANE


def _spans(layers: Layers, sizes: Sequence[Size], rises: Mapping[Slot, float]) -> list[Span]:
    """The columns; the more an edge rises or falls after one, the more room it has for it."""
    spans: list[Span] = []
    left = MARGIN
    for column in layers.columns:
        inside = [sizes[slot.state] for slot in column if not slot.lane]
        middle = left + max(size.left for size in inside)
        spans.append(Span(left, middle, middle + max(size.right for size in inside)))
        left = spans[-1].right + min(WIDEST_CHANNEL, CHANNEL + 0.2 * max(rises[slot] for slot in column))
    return spans
