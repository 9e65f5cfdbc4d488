"""What ``penstock watch`` does: looks at a network, and shows it in tables that are kept up to date."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from penstock.brokers.connecting import connect
from penstock.command.complaints import option
from penstock.events.durations import format_duration, parse_duration
from penstock.network.overview import Overview, Watching

_PATTERN = 48


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    broker: str
    directory: str | None
    once: bool
    every: str


def run(request: Request) -> None:
    """Watch until interrupted, or once."""
    with option("--every"):
        pause = parse_duration(request.every) / 1_000_000
    asyncio.run(_watch(request, pause))


async def _watch(request: Request, pause: float) -> None:
    broker = await connect(request.broker, name="penstock watch")
    try:
        watching = Watching(broker, request.directory)
        console = Console()
        if request.once:
            await watching.look()  # rates are between two looks
            await asyncio.sleep(pause)
            console.print(view(await watching.look(), _now()))
            return
        with Live(console=console, screen=console.is_terminal, auto_refresh=False) as live:
            while True:
                live.update(view(await watching.look(), _now()), refresh=True)
                await asyncio.sleep(pause)
    finally:
        await broker.close()


def _now() -> int:
    return time.time_ns() // 1000


def view(overview: Overview, now: int) -> RenderableType:
    """Everything in tables, one below the other."""
    return Group(_nodes(overview, now), _detectors(overview), _subscriptions(overview))


def _table(title: str, *columns: str, numbers: tuple[str, ...] = ()) -> Table:
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    return table


def _nodes(overview: Overview, now: int) -> Table:
    """Sites with their nodes; a node that has not been heard lately says so."""
    table = _table("Sites", "site", "node", "lives", "heard", "detectors", "sources", numbers=("detectors", "sources"))
    directory = overview.directory
    for site in sorted({*directory.sites, *(node.site for node in directory.nodes.values())}):
        sources = str(sum(source.site == site for source in directory.sources.values()))
        nodes = [node for node in directory.nodes.values() if node.site == site]
        for node in nodes:
            report = overview.nodes.get(node.name)
            heard = "" if report is None else f"{format_duration(max(now - report.at, 0) // 1000 * 1000)} ago"
            count = str(sum(one.node == node.name for one in directory.detectors.values()))
            lives = Text("yes", "green") if node.alive else Text("no", "red")
            table.add_row(site, node.name, lives, heard, count, sources)
        if not nodes:
            table.add_row(site, "", "", "", "", sources)
    return table


def _detectors(overview: Overview) -> Table:
    numbers = ("events", "per s", "found", "late", "rejected", "lost", "held", "wait ms", "p50 ms", "p99 ms")
    table = _table("Detectors", "detector", "node", *numbers, "waits for", numbers=numbers)
    for name, detector in overview.directory.detectors.items():
        report = overview.report(name)
        if report is None:
            table.add_row(name, detector.node, *[""] * len(numbers), Text("its node", "yellow"))
            continue
        rate = f"{overview.rates[name]:,.0f}" if name in overview.rates else ""
        counts = (report.found, report.late, report.rejected, report.lost, report.held)
        times = (report.delay, report.p50, report.p99)
        cells = [f"{report.events:,}", rate, *(f"{one:,}" for one in counts), *(f"{one:,.1f}" for one in times)]
        away = [f"{name} (away)" for name in report.away]
        table.add_row(name, detector.node, *cells, Text(", ".join([*report.waits, *away]), "yellow"))
    return table


def _subscriptions(overview: Overview) -> Table:
    table = _table("Subscriptions", "subscription", "site", "pattern", "policy", "distribution", "detectors")
    for name, one in overview.directory.subscriptions.items():
        pattern = " ".join(one.pattern.split())
        shown = pattern if len(pattern) <= _PATTERN else pattern[: _PATTERN - 1] + "…"
        refused = overview.refused.get(name)
        detectors = Text(f"refused: {refused}", "red") if refused else Text(" ".join(overview.listening.get(name, ())))
        table.add_row(name, one.site, Text(shown), one.options.policy, one.policy, detectors)
    return table
