"""One run of the experiment: namespaces, links, brokers, nodes, subscribers and sources, and what they led to."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from penstock.bench.office.namespaces import Namespace, Traffic, join, limit_rate, set_up
from penstock.bench.office.setting import (
    GATEWAY,
    OFFICE,
    RADIO,
    RADIO_NETWORK,
    WIRED,
    WIRED_NETWORK,
    Setting,
)
from penstock.bench.office.talking import end, hear, tell
from penstock.errors import PenstockError

STARTS, PLAYS = 120.0, 60.0
"""How long processes may take to start, and how much longer than planned the day may take, in seconds."""


@dataclass(frozen=True)
class Air:
    """The wireless link: its rate, as ``tc`` writes it, and its delay one way, in seconds."""

    rate: str = "54mbit"
    delay: float = 0.005
    loss: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """What a run led to.

    Attributes:
        wireless: Bytes over the air, both ways.
        wired: Bytes between office and gateway, both ways.
        inside: Bytes inside the sites: between sources, brokers and nodes of one machine.
        delays: For each notification, seconds from when the composite was certain until the subscriber had it.
    """

    setting: Setting
    wireless: int
    wired: int
    inside: int
    composites: tuple[str, ...]
    delays: tuple[float, ...] = field(repr=False)

    @property
    def total(self) -> int:
        """Bytes on all interfaces."""
        return self.wireless + self.wired + self.inside


@dataclass
class Sites:
    """The three namespaces, with their links."""

    office: Namespace
    gateway: Namespace
    clients: Namespace

    def counted(self) -> dict[str, int]:
        """Bytes so far: over the air, over the wire, and inside; each packet once."""
        office, gateway, clients = (site.counted() for site in (self.office, self.gateway, self.clients))
        return {
            "wireless": _both(gateway[RADIO]),
            "wired": _both(gateway[WIRED]),
            "inside": sum(one["lo"].sent for one in (office, gateway, clients)),
        }


def _both(traffic: Traffic) -> int:
    return traffic.received + traffic.sent


@contextmanager
def sites(air: Air) -> Iterator[Sites]:
    """Namespaces and links; all is gone in the end."""
    with Namespace(OFFICE) as office, Namespace(GATEWAY) as gateway, Namespace("clients") as clients:
        join(office, gateway, WIRED, WIRED_NETWORK)
        ends = (gateway.pid, clients.pid, air.delay, air.loss)
        relay = subprocess.Popen(
            [sys.executable, "-m", "penstock.bench.office.relay", RADIO, *map(str, ends)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            hear(relay, "wireless link", STARTS)
            for site, address in ((gateway, f"{RADIO_NETWORK}.1/24"), (clients, f"{RADIO_NETWORK}.2/24")):
                set_up(site, RADIO, address)
                limit_rate(site, RADIO, air.rate)
            yield Sites(office, gateway, clients)
        finally:
            end(relay)


class Processes:
    """The processes of a run, each in its namespace; they end in the order opposite to that of their start."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, site: Namespace, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts a module of the experiment."""
        log = (self._folder / f"{module}-{site.name}.log").open("wb")
        self._stack.callback(log.close)
        process = site.start(sys.executable, "-m", f"penstock.bench.office.{module}", *arguments, log=log)
        self._stack.callback(end, process)
        return process

    def ready(self, process: subprocess.Popen[bytes], module: str, seconds: float = STARTS) -> str:
        """Waits for what a process says; if it fails, its log says why."""
        try:
            return hear(process, module, seconds)
        except PenstockError as error:
            said = "\n".join(one.read_text(errors="replace")[-600:] for one in self._folder.glob(f"{module}-*.log"))
            raise PenstockError(error.message, hint=said.strip() or None) from None


def run(setting: Setting, air: Air) -> Outcome:
    """Plays a day, once."""
    with sites(air) as here, TemporaryDirectory(prefix="penstock-office-") as folder, Processes(Path(folder)) as all_of:
        for site in (here.gateway, here.office):
            all_of.ready(all_of.start(site, "hosting", site.name, setting.way), "hosting")
        told = setting.to_json()
        sources = all_of.start(here.office, "playing", told)
        all_of.ready(sources, "playing")
        before = here.counted()
        clients = all_of.start(here.clients, "clients", told)
        all_of.ready(clients, "clients")
        tell(sources, "go")
        shown = json.loads(all_of.ready(sources, "playing", setting.hours * 3600 / setting.speed + PLAYS))
        received = json.loads(all_of.ready(clients, "clients", PLAYS))
        after = here.counted()
    return _outcome(setting, {name: after[name] - before[name] for name in after}, shown, received)


def _outcome(
    setting: Setting,
    counted: dict[str, int],
    shown: list[tuple[str, int, float]],
    received: list[list[tuple[str, int, float]]],
) -> Outcome:
    told = {tuple(sorted(id for id, _, _ in one)) for one in received}
    if len(told) != 1:
        raise PenstockError("subscribers were told different composites")
    certain = {hi: certain_at(shown, hi) for one in received for _, hi, _ in one}
    delays = tuple(at - certain[hi] for one in received for _, hi, at in one)
    return Outcome(setting, **counted, composites=told.pop(), delays=delays)


def certain_at(shown: list[tuple[str, int, float]], hi: int) -> float:
    """When it was certain that nothing would come any more that ends at this instant or before: all had said so.

    >>> certain_at([("a", 5, 0.1), ("b", 4, 0.2), ("a", 9, 0.3), ("b", 7, 0.4)], 6)
    0.4
    """
    first: dict[str, float] = {}
    for source, at, when in shown:
        if at >= hi:
            first.setdefault(source, when)
    return max(first.values())
