"""Plots of measurements, as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from penstock.bench.results import Measurement, Results
from penstock.bench.speed import ENGINE
from penstock.bench.streams import Stream, short
from penstock.bench.ways import OURS

COLOURS = {
    OURS: "#0b6e99",
    ENGINE: "#7fc4dd",
    "polars": "#d9822b",
    "duckdb": "#c9a400",
    "pandas": "#7a5195",
    "loop": "#999999",
    "flink": "#c23030",
    "flink, filtered": "#e58a8a",
}


def write_plots(results: Results, folder: Path) -> list[str]:
    """Writes a plot for each thing that can be drawn, and says their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    # Ids that don't depend on chance, and text as text: the same numbers give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "penstock", "svg.fonttype": "none"}):
        for name, figure in _figures(results):
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            names.append(f"{name}.svg")
    return names


def _figures(results: Results) -> Iterator[tuple[str, Figure]]:
    speed = results.part("speed")
    for stream, source in dict.fromkeys((one.stream, one.source) for one in speed):
        here = [one for one in speed if (one.stream, one.source) == (stream, source)]
        name = f"speed-{stream.kind}-{stream.events}-{stream.keys}-{source}"
        yield name, _bars(here, stream, source)
    growth = results.part("growth")
    for axis in dict.fromkeys(one.more["axis"] for one in growth):
        here = [one for one in growth if one.more["axis"] == axis]
        yield f"growth-{axis.partition(',')[0].replace(' ', '-')}", _line(here, axis)


def _bars(measurements: list[Measurement], stream: Stream, source: str) -> Figure:
    """Bars for each query, one for each way, on a scale on which a factor is a length."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    queries = list(dict.fromkeys(one.query for one in measurements))
    ways = list(dict.fromkeys(one.way for one in measurements))
    width = 0.8 / len(ways)
    for number, way in enumerate(ways):
        rates = {one.query: one.rate for one in measurements if one.way == way}
        at = np.arange(len(queries)) + (number - (len(ways) - 1) / 2) * width
        axes.bar(at, [rates.get(query, np.nan) for query in queries], width, label=way, color=COLOURS.get(way))
    axes.set_xticks(range(len(queries)), queries)
    axes.set_yscale("log")
    axes.set_ylabel("million events a second")
    axes.set_title(f"{stream.kind}, {short(stream.events)} events, {short(stream.keys)} keys, from {source}")
    figure.legend(loc="outside right upper")
    return figure


def _line(measurements: list[Measurement], axis: str) -> Figure:
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for way in dict.fromkeys(one.way for one in measurements):
        here = [one for one in measurements if one.way == way]
        each = [1e9 * one.seconds / one.stream.events for one in here]
        axes.plot([one.more["value"] for one in here], each, marker="o", label=way, color=COLOURS.get(way))
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(axis)
    axes.set_ylabel("nanoseconds for each event")
    axes.legend()
    return figure
