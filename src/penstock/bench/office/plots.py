"""Figures 12 and 13 of the papers, with our numbers: the amount of data sent, and the notification delay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from penstock.bench.office.report import NETWORK, Experiment

NETWORK_COLOUR, OWN_COLOUR = "#0b6e99", "#d9822b"


def write_plots(experiment: Experiment, folder: Path) -> list[str]:
    """Writes both figures, and says their names."""
    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Callable[[Experiment], Figure]] = {"office-data.svg": _data, "office-delay.svg": _delay}
    # Ids that don't depend on chance, and text as text: the same numbers give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "penstock", "svg.fonttype": "none"}):
        for name, draw in figures.items():
            draw(experiment).savefig(folder / name, metadata={"Date": None})
    return list(figures)


def _data(experiment: Experiment) -> Figure:
    """Figure 12: what went over the air and in all, by the number of subscribers."""
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    counts = [one.subscribers for one in experiment.comparisons]
    for label, colour, outcomes in (
        ("clients' own detection", OWN_COLOUR, [one.own for one in experiment.comparisons]),
        ("detection in the network", NETWORK_COLOUR, [one.network for one in experiment.comparisons]),
    ):
        axes.plot(counts, [one.total / 1e6 for one in outcomes], marker="o", color=colour, label=f"{label}: all")
        wireless = [one.wireless / 1e6 for one in outcomes]
        axes.plot(counts, wireless, marker="s", linestyle="--", color=colour, label=f"{label}: wireless")
    axes.set_xlabel("subscribers")
    axes.set_ylabel("megabytes")
    axes.set_xticks(counts)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.set_title("Amount of data sent (figure 12)")
    axes.legend()
    return figure


def _delay(experiment: Experiment) -> Figure:
    """Figure 13: how the delay of notifications is distributed."""
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    delays = experiment.delays(NETWORK)
    share = np.arange(1, len(delays) + 1) / len(delays)
    axes.step(delays, share, where="post", color=NETWORK_COLOUR, label="detection in the network")
    axes.axvline(220, color="#999999", linestyle=":", label="the papers' longest")
    axes.set_xlabel("milliseconds from certainty to notification")
    axes.set_ylabel("share of notifications")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)
    axes.grid(alpha=0.3)
    axes.set_title("Delay distribution of C (figure 13)")
    axes.legend(loc="lower right")
    return figure
