"""Where a detector runs: the node that a policy's locality asks for, among those that are alive."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from penstock.network.directory import Detector, Directory, Link, Node
from penstock.network.policies import DistributionPolicy

UNKNOWN = 1.0
"""So many events a second are taken to come where nothing was measured."""
SHARE = 0.01
"""Of what a detector hears, so much is taken to come out of it, where nothing was measured."""
WORTH = 3.0
"""A detector moves if it costs so many times as much where it is as elsewhere: what it has seen must move too."""
FAR = 1e12
"""The length of a way that is not known: it decides, unless all are as far."""
Costs = Mapping[str, float]


@dataclass
class Placement:
    """Chooses nodes; ``load`` counts what it has put on each, so that equal choices are spread."""

    directory: Directory
    load: dict[str, int] = field(default_factory=dict)
    placed: dict[str, str] = field(default_factory=dict)

    @property
    def nodes(self) -> list[Node]:
        """Those that are alive."""
        return [one for one in self.directory.nodes.values() if one.alive]

    def keep(self, detector: Detector, node: str) -> None:
        """A detector is where it is."""
        self.placed[detector.name] = node
        self.load[node] = self.load.get(node, 0) + 1

    def release(self, detector: Detector) -> None:
        """A detector may go elsewhere."""
        self.load[self.placed.pop(detector.name)] -= 1

    def is_far(self, detector: Detector, policy: DistributionPolicy) -> bool:
        """Whether a detector is much farther from its publishers than it could be, by what was measured throughout."""
        if policy.locality != "publishers" or not self._is_measured(detector):
            return False
        costs = self._near_publishers(detector)
        here, least = costs[self.placed[detector.name]], min(costs.values())
        return here > WORTH * least and here - least > UNKNOWN

    def _is_measured(self, detector: Detector) -> bool:
        heard = [(name, one.type) for one in detector.events for name in one.sources]
        parts = [(f"penstock/{one.detector}", one.definition) for one in detector.parts]
        given = [(detector.source, name) for name in detector.gives]
        return all(self.directory.rate(*one) is not None for one in [*heard, *parts, *given])

    def choose(self, detector: Detector, policy: DistributionPolicy) -> str:
        """The node for a detector; those that it hears have been placed before."""
        rank: Mapping[str, Callable[[Detector], Costs]] = {
            "subscribers": self._near_subscribers,
            "publishers": self._near_publishers,
            "load": lambda _: {},
            "hash": _hashed(self.nodes),
        }
        costs = rank[policy.locality](detector)
        chosen = min(self.nodes, key=lambda one: (costs.get(one.name, 0.0), self._load(one), one.name))
        self.keep(detector, chosen.name)
        return chosen.name

    def _load(self, node: Node) -> float:
        return node.load + self.load.get(node.name, 0)

    def _near_subscribers(self, detector: Detector) -> Costs:
        """How long it takes to all who listen."""
        sites = [self._site(user) for user in detector.users]
        ways = [distances(self.directory, site, lambda link: 1 + link.latency) for site in sites if site]
        return {node.name: sum(way.get(node.site, FAR) for way in ways) for node in self.nodes}

    def _near_publishers(self, detector: Detector) -> Costs:
        """What must be carried how far: what it hears, and a share of that to those who listen."""
        heard = [pair for pair in self._heard(detector) if pair[0]]
        out = self._given(detector, sum(rate for _, rate in heard))
        told = [(site, out) for user in detector.users if (site := self._site(user))]
        costs = dict.fromkeys((node.name for node in self.nodes), 0.0)
        for site, rate in (*heard, *told):
            way = distances(self.directory, site, self._burden)
            for node in self.nodes:
                costs[node.name] += rate * way.get(node.site, FAR)
        return costs

    def _heard(self, detector: Detector) -> Iterable[tuple[str, float]]:
        """The sites of what a detector hears, and how many events a second come from each."""
        for one in detector.events:
            for name in one.sources:
                measured = self.directory.rate(name, one.type)
                yield self.directory.sources[name].site, UNKNOWN if measured is None else measured
        for part in detector.parts:
            node = self.placed.get(part.detector, "")
            measured = self.directory.rate(f"penstock/{part.detector}", part.definition)
            there = self.directory.nodes[node].site if node in self.directory.nodes else ""
            yield there, SHARE * UNKNOWN if measured is None else measured

    def _given(self, detector: Detector, heard: float) -> float:
        """How many composites a second it gives, as measured, or as they are taken to be."""
        rates = [self.directory.rate(detector.source, one) for one in detector.gives]
        measured = [one for one in rates if one is not None]
        return sum(measured) if measured else SHARE * heard

    def _burden(self, link: Link) -> float:
        """What an event on a link costs: more where less fits."""
        most = max((one.rate for one in self.directory.links.values()), default=0)
        return 1.0 if not link.rate else most / link.rate

    def _site(self, user: str) -> str:
        """Where someone who listens is; nowhere for a detector that is not placed yet."""
        if user in self.directory.subscriptions:
            return self.directory.subscriptions[user].site
        node = self.directory.nodes.get(self.placed.get(user, ""))
        return node.site if node else ""


def _hashed(nodes: list[Node]) -> Callable[[Detector], Costs]:
    """Each node's own hash decides, so that a node that goes moves only what it had."""

    def costs(detector: Detector) -> Costs:
        type = ",".join(detector.gives)
        return {node.name: float(_hash(f"{type} {node.name}")) for node in nodes}

    return costs


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])


def distances(directory: Directory, site: str, length: Callable[[Link], float]) -> dict[str, float]:
    """How far each site is from one, by the shortest way over links.

    >>> directory = Directory().put(Link("office", "hall", latency=5), Link("hall", "street", latency=7))
    >>> distances(directory, "office", lambda link: link.latency)
    {'office': 0.0, 'hall': 5.0, 'street': 12.0}
    """
    ways: dict[str, list[tuple[str, float]]] = {}
    for link in directory.links.values():
        ways.setdefault(link.one, []).append((link.other, length(link)))
        ways.setdefault(link.other, []).append((link.one, length(link)))
    found: dict[str, float] = {}
    waiting = [(0.0, site)]
    while waiting:
        far, here = heapq.heappop(waiting)
        if here not in found:
            found[here] = far
            for there, more in ways.get(here, ()):
                heapq.heappush(waiting, (far + more, there))
    return found
