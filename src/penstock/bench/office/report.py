"""What the experiment gave: tables for a terminal and for a page, and the raw numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich import box
from rich.table import Table

from penstock.bench.office.running import Air, Outcome
from penstock.errors import PenstockError

NETWORK, OWN = "network", "own"
HEADS = (
    "subscribers",
    "wireless, own",
    "wireless, network",
    "share",
    "all, own",
    "all, network",
    "share",
)


@dataclass(frozen=True)
class Comparison:
    """Both ways for one number of subscribers; they led to the same composites."""

    network: Outcome
    own: Outcome

    def __post_init__(self) -> None:
        if self.network.composites != self.own.composites:
            raise PenstockError("detection in the network and by clients led to different composites")

    @property
    def subscribers(self) -> int:
        """How many subscribed."""
        return self.network.setting.subscribers

    @property
    def wireless(self) -> float:
        """Bytes over the air with detection in the network, as a share of those of the clients' own detection."""
        return self.network.wireless / self.own.wireless

    @property
    def total(self) -> float:
        """The same for all bytes."""
        return self.network.total / self.own.total


@dataclass(frozen=True)
class Experiment:
    """All runs, on what link they were, and the command that they come from."""

    command: str
    machine: str
    air: Air
    comparisons: tuple[Comparison, ...]

    def delays(self, way: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The delays of all notifications of one way, in milliseconds, from the shortest to the longest."""
        outcomes = [one.network if way == NETWORK else one.own for one in self.comparisons]
        return np.sort(np.array([delay for one in outcomes for delay in one.delays])) * 1e3

    def to_json(self) -> str:
        """For machines."""
        return json.dumps(asdict(self), indent=1) + "\n"


def rows(experiment: Experiment) -> Iterator[tuple[str, ...]]:
    """A row for each number of subscribers; bytes in thousands."""
    for one in experiment.comparisons:
        yield (
            str(one.subscribers),
            _thousands(one.own.wireless),
            _thousands(one.network.wireless),
            f"{one.wireless:.1%}",
            _thousands(one.own.total),
            _thousands(one.network.total),
            f"{one.total:.1%}",
        )


def _thousands(count: int) -> str:
    return f"{count / 1000:,.0f}"


def delay_words(experiment: Experiment) -> str:
    """How long notifications took, with detection in the network."""
    delays = experiment.delays(NETWORK)
    half, most = np.percentile(delays, [50, 99])
    return (
        f"Notification delay in the network, beyond what stability requires: p50 {half:.0f} ms, p99 {most:.0f} ms, "
        f"longest {delays[-1]:.0f} ms, of {len(delays)} notifications; "
        f"{2 * experiment.air.delay * 1e3:.0f} ms is the link's own, there and back."
    )


def rich_table(experiment: Experiment) -> Table:
    """The traffic, for a terminal."""
    table = Table(box=box.SIMPLE_HEAD, title="Thousands of bytes", title_justify="left", title_style="bold")
    for name in HEADS:
        table.add_column(name, justify="right")
    for row in rows(experiment):
        table.add_row(*row)
    return table


def markdown(experiment: Experiment, pictures: Sequence[str] = ()) -> str:
    """The section of a page."""
    first = experiment.comparisons[0].network.setting
    composites = len(experiment.comparisons[0].network.composites)
    lines = [
        "## The papers' experiment: detection in the network",
        "",
        f"`{experiment.command}` on {experiment.machine}.",
        "",
        f"A day of {first.hours:g} hours in the Active Office, {first.speed:g} times as fast as it would pass. Two"
        f" sites with a broker each; subscribers behind a wireless link of {experiment.air.rate},"
        f" {experiment.air.delay * 1e3:g} ms each way. Subscription C over C1. *Own*: each subscriber hears the"
        " primitive events and heartbeats that C needs, and detects for itself. *Network*: nodes beside the brokers"
        f" detect, and subscribers are told composites. Both told every subscriber the same {composites} composites."
        " Bytes are those of the interfaces' counters, in thousands; *all* includes what goes between sources, brokers"
        " and nodes inside a site.",
        "",
        "| " + " | ".join(HEADS) + " |",
        "|" + " ---: |" * len(HEADS),
        *("| " + " | ".join(row) + " |" for row in rows(experiment)),
        "",
        delay_words(experiment),
        *(line for picture in pictures for line in ("", f"![{_title(picture)}]({picture})")),
    ]
    return "\n".join(lines) + "\n"


def _title(picture: str) -> str:
    return "The distribution of the notification delay" if "delay" in picture else "The amount of data sent"
