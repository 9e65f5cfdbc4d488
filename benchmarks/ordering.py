"""The ordering stage: its speed beside a plain sort, and whether ``probabilistic(p)`` keeps its promise.

``python -m benchmarks.ordering speed [EVENTS] [SOURCES]`` compares with polars sorting the same columns;
``python -m benchmarks.ordering calibration [SECONDS] [SEED]`` simulates laws of delay and draws ``plots/ordering.svg``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from penstock.events.table import EventTable, make_table
from penstock.ordering.policies import Policy, guaranteed, parse_policy, probabilistic
from penstock.ordering.stage import Ordering
from penstock.testing.delays import Changing, Constant, DelayLaw, Exponential, HeavyTailed
from penstock.testing.simulator import Delivery, Route, SimulatedSource, simulate

SECOND = 1_000_000
BATCH = 1 << 17
TICK = 200_000
KEYS = ["hi", "lo", "source", "seq", "id"]
PROBABILITIES = (0.8, 0.9, 0.95, 0.99)
PLOT = Path(__file__).parent / "plots" / "ordering.svg"
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#2f4f4f", "#8e5ea2", "#b8860b")


def arrivals(events: int, sources: int) -> tuple[EventTable, np.ndarray]:
    """Events of many sources in the order of arrival; each source keeps its own order."""
    random = np.random.default_rng(7)
    at = np.sort(random.choice(events * 100, events, replace=False))
    owner = random.integers(0, sources, events)
    came = at + random.exponential(200_000, events).astype(np.int64)
    by_owner = np.lexsort((at, owner))
    lanes = owner[by_owner] << 44  # apart, so that one running maximum serves all sources
    came[by_owner] = np.maximum.accumulate(came[by_owner] + lanes) - lanes
    order = np.argsort(came, kind="stable")
    names = pa.array([f"source-{number}" for number in range(sources)])
    fields = {
        "type": pa.DictionaryArray.from_arrays(pa.array(random.integers(0, 4, events).astype(np.int32)), list("ABCD")),
        "source": pa.DictionaryArray.from_arrays(pa.array(owner[order].astype(np.int32)), names),
        "id": pa.array(np.arange(events)).cast(pa.string()),
        "seq": pa.array(np.arange(events)),
        "lo": pa.array(at[order]),
        "hi": pa.array(at[order]),
    }
    return make_table(fields, {"k": pa.array(random.integers(0, 1000, events))}), came[order]


def by_stage(table: EventTable, came: np.ndarray, policy: Policy, sources: int) -> int:
    """Batch by batch through the stage."""
    stage = Ordering(policy, [f"source-{number}" for number in range(sources)])
    for start in range(0, len(table), BATCH):
        stage.feed(table.slice(start, BATCH), int(came[min(start + BATCH, len(table)) - 1]))
    stage.finish()
    return stage.counters.consumed


def timed(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The best of seven times of each in seconds; they take turns, so that what else a machine does hits all."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(7):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def speed(events: int = 2_000_000, sources: int = 1000) -> None:
    """Millions of events a second, beside one sort of all of them by polars."""
    table, came = arrivals(events, sources)
    plain = pl.from_arrow(table.fields.append_column("k", table.attributes["k"]))
    policies = ("guaranteed", "guaranteed(max_wait=10 s)", "delay(1 s)", "probabilistic(0.99)", "best_effort")
    works = {text: partial(by_stage, table, came, parse_policy(text), sources) for text in policies}
    sort, *mine = timed({"sort": lambda: plain.sort(KEYS)} | works).values()
    shown = Table("policy", "stage M/s", "polars sort M/s", "stage : polars")
    for text, one in zip(policies, mine, strict=True):
        shown.add_row(text, f"{events / one / 1e6:.1f}", f"{events / sort / 1e6:.1f}", f"{sort / one:.2f}")
    Console().print(f"{events:,} events of {sources:,} sources, {pl.thread_pool_size()} threads for polars", shown)


@dataclass(frozen=True)
class Measured:
    """The share of events consumed while an earlier one was under way, and the mean wait in seconds."""

    wrong: float
    wait: float


def scenarios(seconds: int, seed: int) -> dict[str, Delivery]:
    """Twenty sources, a quarter of them rarely heard, for each law of delay."""
    middle = seconds * SECOND // 2
    laws: dict[str, DelayLaw] = {
        "constant": Constant(200_000),
        "exponential": Exponential(300_000),
        "heavy-tailed, shape 2": HeavyTailed(50_000, 2.0),
        "heavy-tailed, shape 1.5": HeavyTailed(50_000, 1.5),
        "changing": Changing(Exponential(200_000), Exponential(SECOND), middle),
        "one dies": Exponential(300_000),
    }
    found = {}
    for name, law in laws.items():
        deaths = {1: middle} if name == "one dies" else {}
        sources = [
            SimulatedSource(f"s{n:02}", rate=1.0 if n % 4 else 0.1, route=Route(law), dies=deaths.get(n))
            for n in range(20)
        ]
        found[name] = simulate(sources, seconds, seed)
    return found


def measured(delivery: Delivery, policy: Policy) -> Measured:
    """Feeds what arrives, tick by tick; what comes late shows which consumptions were wrong."""
    stage = Ordering(policy, [f"s{n:02}" for n in range(20)])
    ends: list[np.ndarray] = []
    wrong = np.zeros(0, bool)
    now = 0
    for arrival in delivery.arrivals(TICK):
        for at in range(now + TICK, min(arrival.at, now + 60 * SECOND), TICK):
            ends.append(np.asarray(stage.wait(at).table.field("hi")))
        now = arrival.at
        ready = stage.feed(arrival.table, now)
        if len(ready.late):
            ends = [np.concatenate(ends)]
            wrong = np.append(wrong, np.zeros(len(ends[0]) - len(wrong), bool))
            wrong[np.searchsorted(ends[0], np.asarray(ready.late.table.field("hi")).min(), side="right") :] = True
        ends.append(np.asarray(ready.table.field("hi")))
    stage.finish()
    return Measured(float(wrong.sum()) / stage.counters.consumed, stage.counters.mean_wait / SECOND)


def calibration(seconds: int = 600, seed: int = 5) -> None:
    """Wrong consumptions and waits for each law and probability, as a table and a plot."""
    shown = Table("law", "guaranteed: wait", *(f"{p}: wrong / wait" for p in PROBABILITIES))
    results: dict[str, list[Measured]] = {}
    for name, delivery in scenarios(seconds, seed).items():
        certain = measured(delivery, guaranteed())
        results[name] = [certain, *(measured(delivery, probabilistic(p)) for p in PROBABILITIES)]
        cells = [f"{100 * one.wrong:.2f} % / {one.wait:.2f} s" for one in results[name][1:]]
        shown.add_row(name, f"{certain.wait:.1f} s", *cells)
    Console(width=140).print(f"{seconds} s, 20 sources, seed {seed}", shown)
    PLOT.parent.mkdir(exist_ok=True)
    PLOT.write_text(drawn(results))


def drawn(results: dict[str, list[Measured]]) -> str:
    """Two panels: the share of wrong consumptions beside what is allowed, and the wait beside that of guaranteed."""
    allowed = [1 - p for p in PROBABILITIES]
    columns = [70 + 90 * n for n in range(len(PROBABILITIES))]
    shapes = [*_panel(0, "wrongly early, % (log)"), *_panel(430, "wait, share of guaranteed's (log)")]
    shapes.append(_line([(x, _height(a, 1e-4, 1)) for x, a in zip(columns, allowed, strict=True)], "#000", dashed=True))
    for (name, ones), colour in zip(results.items(), COLOURS, strict=True):
        certain, *probable = ones
        wrong = [(x, _height(one.wrong, 1e-4, 1)) for x, one in zip(columns, probable, strict=True)]
        waits = [(x + 430, _height(one.wait / certain.wait, 1e-4, 1)) for x, one in zip(columns, probable, strict=True)]
        shapes += [_line(wrong, colour), _line(waits, colour)]
        row = 345 + 16 * list(results).index(name)
        shapes.append(f'<text x="90" y="{row}" fill="{colour}">{name}</text>')
    for x in columns:
        for shift in (0, 430):
            p = PROBABILITIES[columns.index(x)]
            shapes.append(f'<text x="{x + shift}" y="318" text-anchor="middle">p = {p}</text>')
    shapes.append('<text x="300" y="345">dashed: allowed, 1 − p; at the bottom: 0.01 % or less</text>')
    style = 'font-family="sans-serif" font-size="12"'
    body = "\n".join(shapes)
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="430" {style}>\n{body}\n</svg>\n'


def _height(value: float, low: float, high: float) -> float:
    part = (np.log10(max(value, low)) - np.log10(low)) / (np.log10(high) - np.log10(low))
    return round(float(300 - 260 * min(part, 1.0)), 1)


def _panel(shift: int, title: str) -> list[str]:
    lines = [f'<text x="{shift + 60}" y="20" font-weight="bold">{title}</text>']
    for power in range(-4, 1):
        y = _height(10.0**power, 1e-4, 1)
        lines.append(f'<line x1="{shift + 50}" x2="{shift + 370}" y1="{y}" y2="{y}" stroke="#ccc"/>')
        lines.append(f'<text x="{shift + 45}" y="{y + 4}" text-anchor="end">{100 * 10.0**power:g}</text>')
    return lines


def _line(points: list[tuple[float, float]], colour: str, dashed: bool = False) -> str:
    path = " ".join(f"{x},{y}" for x, y in points)
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'


if __name__ == "__main__":
    command, *numbers = sys.argv[1:] or ["speed"]
    {"speed": speed, "calibration": calibration}[command](*map(int, numbers))
