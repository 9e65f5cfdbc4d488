"""What all processes of the experiment know: addresses, the day that is played, and what is subscribed to."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self

from penstock import Composites, detect
from penstock.algebra.pattern import Pattern
from penstock.network.directory import Link
from penstock.network.node import Settings
from penstock.scenarios.office.patterns import PAPERS, load
from penstock.scenarios.office.simulator import Day, simulate

OFFICE, GATEWAY = "office", "gateway"
WIRED, RADIO = "wired0", "radio0"
WIRED_NETWORK, RADIO_NETWORK = "10.77.1", "10.77.2"
PORT, LEAF_PORT = 4222, 7422
AT_OFFICE = f"nats://127.0.0.1:{PORT}"
OVER_THE_AIR = f"nats://{RADIO_NETWORK}.1:{PORT}"
HUB = f"{WIRED_NETWORK}.2:{LEAF_PORT}"
SENSORS = ("bat", "board", "host")
"""Scenario 2 needs no others."""
WANTED = "C"
TYPES: dict[str, dict[str, object]] = {
    "BoardOff": {"room": str, "content": str},
    "BoardOn": {"room": str},
    "Login": {"person": str, "host": str},
    "Person": {"person": str, "room": str},
}
"""What the subscription needs, with the kinds of attributes."""
SETTINGS = Settings(directory=GATEWAY, beat=5.0, expiry=30.0, links=(Link(OFFICE, GATEWAY),))
"""Those of nodes and services: the directory is at the gateway, in the middle."""
DISTRIBUTION = "minimum_bandwidth"


@dataclass(frozen=True)
class Setting:
    """A day of ``hours`` from a seed, played so many times as fast as it would pass; how many subscribe, and how."""

    seed: int = 1
    hours: float = 9.0
    speed: float = 900.0
    subscribers: int = 1
    way: str = "network"

    def to_json(self) -> str:
        """For the command line of a process.

        >>> Setting.of_json(Setting(subscribers=6).to_json()).subscribers
        6
        """
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> Self:
        """What a process was told."""
        return cls(**json.loads(text))

    def day(self) -> Day:
        """The day that is played."""
        return simulate(self.seed, self.hours, kinds=SENSORS)


def pattern() -> Pattern:
    """The papers' expressions."""
    return load(PAPERS)


def expected(day: Day) -> Composites:
    """What every subscriber must be told."""
    return detect(day.events, pattern(), only=[WANTED])
