"""A divided pattern detected by detectors that are connected by channels with random delays."""

from collections import deque
from dataclasses import fields, replace
from random import Random
from typing import Any

from penstock import detect
from penstock.algebra.expressions import DescribableSet
from penstock.algebra.names import primitive_types
from penstock.algebra.node import Node
from penstock.algebra.pattern import Pattern
from penstock.detection.detector import Detector
from penstock.engine.division import Division
from penstock.events.event import Event
from penstock.languages.core.printer import print_pattern
from penstock.network.decomposition import Decomposition, Unit, units


class Divided:
    """Detectors for the units of a decomposition, fed through channels that keep order and take their time."""

    def __init__(self, units: list[Unit], sources: list[str], **options: Any) -> None:
        self.units = {unit.gives[0]: unit for unit in units}
        self.sources = sources
        self.detectors = {
            unit.gives[0]: Detector(
                print_pattern(unit.pattern),
                sources=[*sources, *(f"penstock/{part}" for part in unit.parts)],
                only=unit.gives,
                division=Division(frozenset(unit.elsewhere), frozenset(unit.inlined), publishes=True),
                **options,
            )
            for unit in units
        }
        self.types = {
            unit.gives[0]: primitive_types(Pattern(tuple(d for d in unit.pattern.definitions if d.name in unit.own)))
            - {d.name for d in unit.pattern.definitions}
            for unit in units
        }
        self.channels: dict[tuple[str, str], deque[tuple[str, Any]]] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {unit.gives[0]: [] for unit in units}
        self.late = 0

    def send(self, source: str, target: str, kind: str, body: Any) -> None:
        self.channels.setdefault((source, target), deque()).append((kind, body))

    def publish(self, event: dict[str, Any]) -> None:
        for name, types in self.types.items():
            if event["type"] in types:
                self.send(event["source"], name, "event", event)

    def heartbeat(self, source: str, at: int) -> None:
        for name in self.detectors:
            self.send(source, name, "heartbeat", at)

    def step(self, random: Random) -> bool:
        """Delivers something from some channel; says whether there was anything."""
        waiting = sorted(key for key, messages in self.channels.items() if messages)
        if not waiting:
            return False
        source, target = random.choice(waiting)
        messages = self.channels[source, target]
        taken = [messages.popleft() for _ in range(random.randint(1, len(messages)))]
        for kind, body in taken:
            self._take(source, target, kind, body)
        if random.random() < 0.05:
            self.detectors[target] = Detector.restore(self.detectors[target].snapshot())
        return True

    def _take(self, source: str, target: str, kind: str, body: Any) -> None:
        detector = self.detectors[target]
        if kind == "event":
            found = detector.feed([body], arrival=0)
        elif kind == "composites":
            found = detector.deliver(body, source, arrival=0)
        else:
            found = detector.heartbeat(source, body, arrival=0)
        self.rows[target] += found.to_pylist()
        self.late += 0 if found.late is None else len(found.late)
        for name, unit in self.units.items():
            if target in unit.parts and found.published:
                self.send(f"penstock/{target}", name, "composites", found.published)
            if target in unit.parts and detector.frontier is not None:
                self.send(f"penstock/{target}", name, "heartbeat", detector.frontier)


def as_found(whole: Decomposition, separate: set[str], events: list[Event], random: Random, **options: Any) -> Any:
    """Rows of all definitions that are no inlined parts, in the order of results."""
    ordered = sorted(events, key=lambda event: event.weak_key)
    sources = sorted({event.source for event in events})
    divided = Divided(units(whole, [[one] for one in sorted(separate)]), sources, **options)
    for event, record in zip(ordered, as_dicts(ordered), strict=True):
        divided.publish(record)
        if random.random() < 0.5:
            divided.step(random)
        if random.random() < 0.2:
            divided.heartbeat(random.choice(sources), event.hi - 1)
    for source in sources:
        divided.heartbeat(source, max(event.hi for event in events))
    while divided.step(random):
        pass
    assert not divided.late
    return sorted_rows(row for name, rows in divided.rows.items() if name not in whole.inlined for row in rows)


def undivided(pattern: Pattern, events: list[Event], **options: Any) -> Any:
    return sorted_rows(detect(as_dicts(events), pattern, **options).to_pylist())


def sorted_rows(rows: Any) -> list[dict[str, Any]]:
    """Rows without the columns that are of other types, in the order of results."""
    return sorted(({k: v for k, v in row.items() if v is not None} for row in rows), key=_key)


def _key(row: dict[str, Any]) -> Any:
    leaves = [
        (
            part["hi"],
            part["lo"],
            part["source"].encode(),
            part["seq"] is not None,
            part["seq"] or 0,
            part["id"].encode(),
        )
        for part in row["parts"]
    ]
    return row["hi"], row["lo"], row["type"], leaves, row["id"]


def as_dicts(events: list[Event]) -> list[dict[str, Any]]:
    """Events as records."""
    names = ("type", "source", "id", "seq", "lo", "hi")
    return [{name: getattr(one, name) for name in names} | {"data": dict(one.attributes)} for one in events]


def without_any(node: Any) -> Any:
    """The same with a type in place of each `*`, which keeps a pattern together."""
    if isinstance(node, tuple):
        return tuple(map(without_any, node))
    if not isinstance(node, Node | Pattern):
        return node
    changed = {one.name: without_any(getattr(node, one.name)) for one in fields(node)}
    if isinstance(node, DescribableSet) and node.type is None:
        changed["type"] = "D"
    return replace(node, **changed)
