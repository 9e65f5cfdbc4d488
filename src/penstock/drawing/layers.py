"""Where an automaton's states stand from left to right, and which way each edge goes.

States stand in columns by their distance from the start. An edge that passes columns, or leads back, has a slot
of its own in each of them: a *lane*. Edges of one strength to one target share a lane and join on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from penstock.drawing.graph import Graph

SWEEPS = 4


@dataclass(frozen=True)
class Slot:
    """A place in a column: a state's (``lane`` is empty), or a lane's to that state."""

    column: int
    state: int
    lane: str = ""

    @property
    def back(self) -> bool:
        """Whether it is a lane that leads from right to left, or up and down in its column."""
        return self.lane.startswith("back")


@dataclass(frozen=True)
class Route:
    """An edge to another state: the option it belongs to, and the lanes on its way to the target."""

    source: int
    wait: int
    target: int
    strong: bool
    lanes: tuple[Slot, ...]


@dataclass(frozen=True)
class Layers:
    """A graph's slots in columns, each from top to bottom.

    Attributes:
        routes: All edges but loops.
        home: The slot of each state.
    """

    columns: list[list[Slot]]
    routes: list[Route]
    home: list[Slot]


def layered(graph: Graph) -> Layers:
    """The columns of a graph, ordered so that few edges cross."""
    distance = _distances(graph)
    home = [Slot(column, number) for number, column in enumerate(distance)]
    routes = list(_routes(graph, distance))
    lanes = dict.fromkeys(slot for route in routes for slot in route.lanes)
    forward = [slot for slot in lanes if not slot.back]
    slots = [*forward, *home, *(slot for slot in lanes if slot.back)]
    columns = [[slot for slot in slots if slot.column == n] for n in range(max(distance) + 1)]
    layers = Layers(columns, routes, home)
    _order(layers)
    return layers


def _distances(graph: Graph) -> list[int]:
    """How many moves each state is from the start; the generative state stands behind all."""
    found = {number: 0 for number, state in enumerate(graph.states) if state.kind == "start"}
    waiting = list(found)
    for number in waiting:
        for move in (move for wait in graph.states[number].waits for move in wait.moves):
            if move.target not in found:
                found[move.target] = found[number] + 1
                waiting.append(move.target)
    generative = len(graph.states) - 1
    found[generative] = 1 + max(distance for number, distance in found.items() if number != generative)
    return [found[number] for number in range(len(graph.states))]


def _routes(graph: Graph, distance: list[int]) -> Iterator[Route]:
    for source, state in enumerate(graph.states):
        for number, wait in enumerate(state.waits):
            for target in (move.target for move in wait.moves if move.target != source):
                lanes = tuple(_lanes(distance[source], distance[target], target, wait.strong))
                yield Route(source, number, target, wait.strong, lanes)


def _lanes(start: int, end: int, target: int, strong: bool) -> Iterator[Slot]:
    strength = "strong" if strong else "weak"
    if end > start:
        return (Slot(column, target, strength) for column in range(start + 1, end))
    return (Slot(column, target, f"back {strength}") for column in range(start, end - 1, -1))


def neighbours(layers: Layers) -> tuple[dict[Slot, list[Slot]], dict[Slot, list[Slot]]]:
    """For each slot, those that forward edges connect it with in the column before and in the next."""
    before: dict[Slot, list[Slot]] = {slot: [] for column in layers.columns for slot in column}
    after: dict[Slot, list[Slot]] = {slot: [] for column in layers.columns for slot in column}
    for route in layers.routes:
        stops = [layers.home[route.source], *route.lanes, layers.home[route.target]]
        for one, two in pairwise(stops):
            if two.column == one.column + 1 and one not in before[two]:
                before[two].append(one)
                after[one].append(two)
    return before, after


def _order(layers: Layers) -> None:
    """Puts each slot near the middle of its neighbours, from left to right and back a few times."""
    before, after = neighbours(layers)
    for sweep in range(SWEEPS):
        rightwards = sweep % 2 == 0
        columns = layers.columns if rightwards else layers.columns[::-1]
        for fixed, column in pairwise(columns):
            places = {slot: place for place, slot in enumerate(fixed)}
            beside = before if rightwards else after
            middles = {
                slot: (slot.back, _middle([places[one] for one in beside[slot]], place))
                for place, slot in enumerate(column)
            }
            column.sort(key=middles.__getitem__)


def _middle(places: list[int], own: int) -> float:
    return sum(places) / len(places) if places else float(own)
