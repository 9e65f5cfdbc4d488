"""What ``penstock demo office`` does: simulate a day, detect while it passes, then say and draw what was found."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pyarrow.compute as pc

from penstock.command.complaints import OptionError, OutputError, note
from penstock.command.screen import Screen, watching
from penstock.command.writing import output, say, styled
from penstock.detection.composites import Composites
from penstock.detection.output import WRITERS
from penstock.detection.values import json_text
from penstock.engine.compiled import ANNOUNCEMENT, is_compiled
from penstock.errors import PenstockError
from penstock.events.cloudevents import to_cloudevent
from penstock.scenarios.live import InProcess, Live
from penstock.scenarios.office.findings import findings
from penstock.scenarios.office.patterns import OFFICE, load
from penstock.scenarios.office.picture import draw
from penstock.scenarios.office.simulator import Day, simulate
from penstock.scenarios.office.summary import Course, summary


@dataclass(frozen=True)
class Request:
    """What was asked for, as the options say it."""

    engine: str
    seed: int
    hours: float
    seconds: float
    picture: Path
    events: Path | None
    output: Path | None


def run(request: Request) -> None:
    """Everything, from the first event to the picture."""
    _check_outputs(request)
    day = simulate(request.seed, request.hours)
    if not is_compiled():
        note(ANNOUNCEMENT)
    found, course = _detected(request, day)
    told = findings(found)
    with output(request.picture) as file:
        file.write(draw(day, told).encode())
    if request.events:
        write_events(day, request.events)
    if request.output:
        with output(request.output) as file:
            WRITERS[request.output.suffix.lower()](found, file)
    say(styled(*summary(day, told, course)))
    _say_files(request)


def _check_outputs(request: Request) -> None:
    """Find out before the work is done, not after it."""
    for name, path, endings in (
        ("--picture", request.picture, (".svg",)),
        ("--events", request.events, (".jsonl",)),
        ("--output", request.output, tuple(WRITERS)),
    ):
        if path and path.suffix.lower() not in endings:
            raise OptionError(f"{name}: {path} has no ending that we can write", hint=f"use {' or '.join(endings)}")
        if path and not path.absolute().parent.is_dir():
            raise OutputError(f"{path}: cannot be written: there is no such folder")


def _started(request: Request, day: Day) -> Live:
    return STARTS[request.engine](day)


def _in_process(day: Day) -> Live:
    return InProcess(load(OFFICE), list(day.sources))


def _on_spark(day: Day) -> Live:
    if find_spec("pyspark") is None:
        raise PenstockError("Spark is not installed", hint="pip install 'penstock[spark]', or use --engine local")
    # Loaded here since nothing else needs Spark.
    from penstock.scenarios.on_spark import OnSpark

    return OnSpark(load(OFFICE), day.sources, day.sent.table)


STARTS: dict[str, Callable[[Day], Live]] = {"spark": _on_spark, "local": _in_process}
"""How detection is started in each place."""


def _detected(request: Request, day: Day) -> tuple[Composites, Course]:
    """What was detected while the day passed, and how that went."""
    total = len(day.sent.table)
    with watching(f"the Active Office on {request.engine}", total) as screen:
        live = _started(request, day)
        try:
            began = time.monotonic()
            _pass(day, request.seconds, live, screen)
            found = live.finish()
            took = time.monotonic() - began
            screen.show(total, live.progress())
        finally:
            live.stop()
    order = pc.sort_indices(found.table, [("hi", "ascending"), ("lo", "ascending"), ("type", "ascending")])
    return Composites(found.table.take(order)), Course(request.engine, took, live.progress())


def _pass(day: Day, seconds: float, live: Live, screen: Screen) -> None:
    """The day passes at its pace: what arrives is taken when it does."""
    began, sent = time.monotonic(), 0
    length = day.end - day.story.begin
    for arrival in day.arrivals():
        due = began + seconds * (arrival.at - day.story.begin) / length
        time.sleep(max(0.0, due - time.monotonic()))
        live.take(arrival)
        sent += len(arrival.table)
        screen.show(sent, live.progress())


def write_events(day: Day, path: Path) -> None:
    """The events as JSON lines, in the order in which they arrived."""
    with output(path) as file:
        for arrival in day.arrivals():
            for event in arrival.table.to_events():
                file.write(f"{json_text(to_cloudevent(event))}\n".encode())


def _say_files(request: Request) -> None:
    note(f"the picture is {request.picture}")
    if request.events:
        pattern = os.path.relpath(OFFICE)
        note(f"the same from the events: penstock detect {pattern} {request.events}")
