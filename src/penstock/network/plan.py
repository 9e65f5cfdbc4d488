"""What the nodes agree on: which detectors there are, where, what they hear, and what subscribers listen to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.network.directory import Detector


@dataclass(frozen=True)
class Names:
    """How a subscriber calls a definition: its type, its attributes in order, and its labels, by the shared names."""

    type: str
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Listening:
    """What a subscription hears: composites of some definitions of some detectors, and how they are called there.

    ``definitions`` has the names of all definitions that may stand in a composite; those in ``heard`` are delivered.
    """

    subscription: str
    detectors: tuple[str, ...]
    heard: tuple[str, ...]
    definitions: Mapping[str, Names] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Move:
    """A detector that runs at one node and shall run at another; ``alive`` says whether its old node can hand it over.

    Otherwise it comes back from its last state and what brokers have kept.
    """

    detector: str
    before: str
    after: str
    alive: bool


@dataclass(frozen=True)
class Plan:
    """Detectors by name, as they shall run; what must be started, moved and stopped for that; who listens to what.

    ``refused`` says of subscriptions why they cannot be detected, and ``reasons`` of parts of patterns, by
    subscription, why they were not factored out.
    """

    detectors: Mapping[str, Detector] = field(default_factory=dict)
    listening: Mapping[str, Listening] = field(default_factory=dict)
    started: tuple[str, ...] = ()
    moved: tuple[Move, ...] = ()
    stopped: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def at(self, node: str) -> tuple[Detector, ...]:
        """The detectors that run at a node."""
        return tuple(one for one in self.detectors.values() if one.node == node)
