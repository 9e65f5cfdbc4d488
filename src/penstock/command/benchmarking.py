"""What ``penstock bench engine`` does: find out what is there, measure, and show."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from penstock.bench import feeding, flink
from penstock.bench.plan import PARTS, Plan
from penstock.bench.report import markdown, rich_tables
from penstock.bench.results import Measurement, Results, machine, versions
from penstock.bench.speed import differences
from penstock.bench.ways import HINT, OTHERS, missing, use_one_thread
from penstock.command.complaints import OutputError, note
from penstock.command.pictures import beside
from penstock.command.progress import Bar, progress_bar
from penstock.command.writing import output, say, styled
from penstock.detection.prepare import prepare
from penstock.engine.compiled import ANNOUNCEMENT, is_compiled
from penstock.errors import PenstockError


@dataclass(frozen=True)
class Request:
    """What was asked for, as the options say it."""

    parts: tuple[str, ...]
    events: tuple[int, ...]
    keys: tuple[int, ...]
    streams: tuple[str, ...]
    queries: tuple[str, ...]
    baselines: tuple[str, ...]
    sources: tuple[str, ...]
    texts: bool
    flink: bool
    rounds: int
    clock: str
    data: Path | None
    json: Path | None
    markdown: Path | None
    plots: Path | None


def run(request: Request) -> None:
    """Measure all that was asked for and show it; what two ways did not agree on is an error in the end."""
    _check_outputs(request)
    use_one_thread()
    plan, notes = _plan(request)
    if not is_compiled():
        note(ANNOUNCEMENT)
    prepare()
    if request.flink and not flink.is_installed():
        note(f"fetching Flink {flink.VERSION} into {flink.cache_folder()}, once; this takes about a minute")
        flink.install()
    here = machine()
    with folder_for(request.data) as folder, progress_bar() as bar:
        measurements, missed = _measured(plan, folder, bar)
    results = _results(request, measurements, (*notes, *missed), here)
    say(styled(*rich_tables(results)))
    for text in results.notes:
        note(text)
    _write(request, results)
    wrong = differences(results.measurements)
    if wrong:
        raise PenstockError("\n".join(wrong), hint="one of them is wrong; their times mean nothing")


def _check_outputs(request: Request) -> None:
    """Find out before the work is done, not after it."""
    for path in (request.json, request.markdown):
        if path and not path.absolute().parent.is_dir():
            raise OutputError(f"{path}: cannot be written: there is no such folder")
    if request.plots and find_spec("matplotlib") is None:
        raise PenstockError("--plots: matplotlib is not installed", hint=HINT)


def _plan(request: Request) -> tuple[Plan, tuple[str, ...]]:
    """What is measured, and notes on what is left out."""
    absent = missing(request.baselines)
    notes = [f"{', '.join(absent)}: not installed, and left out; to have all: {HINT}"] if absent else []
    parts = request.parts or tuple(PARTS)
    if "feeding" in parts and feeding.detector() is None:
        notes.append(feeding.NOTE)
    ways = tuple(name for name in request.baselines if OTHERS[name] not in absent)
    plan = Plan(
        parts=parts,
        events=request.events,
        keys=request.keys,
        streams=request.streams,
        queries=request.queries,
        ways=ways,
        sources=request.sources,
        rounds=request.rounds,
        flink=request.flink,
        texts=request.texts,
    )
    return plan, tuple(notes)


@contextmanager
def folder_for(kept: Path | None) -> Iterator[Path]:
    """A folder for generated files, which goes when they are no longer needed, unless one is given to keep."""
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
    else:
        with TemporaryDirectory(prefix="penstock-bench-") as folder:
            yield Path(folder)


def _measured(plan: Plan, folder: Path, bar: Bar) -> tuple[list[Measurement], list[str]]:
    """What was measured, and a note if that is not all: an interruption ends the work and not the command."""
    total = sum(1 for _ in plan.steps(folder))
    measurements: list[Measurement] = []
    try:
        for done, (title, work) in enumerate(plan.steps(folder)):
            bar.count(title, done, total)
            measurements += work()
    except KeyboardInterrupt:
        if not measurements:
            raise
        return measurements, [f"interrupted after {done} of {total} steps; what came later was not measured"]
    return measurements, []


def _results(request: Request, measurements: list[Measurement], notes: tuple[str, ...], here: str) -> Results:
    if request.clock == "cpu":
        measurements = [one.by_processor() for one in measurements]
    command = shlex.join(["penstock", *sys.argv[1:]])
    used = versions() | ({"flink": flink.VERSION} if request.flink else {})
    return Results(command, tuple(measurements), notes, request.clock, here, used)


def _write(request: Request, results: Results) -> None:
    pictures: list[str] = []
    if request.plots:
        # Loaded here since matplotlib is needed for nothing else.
        from penstock.bench.plots import write_plots

        pictures = [str(request.plots / name) for name in write_plots(results, request.plots)]
    if request.json:
        with output(request.json) as file:
            file.write(results.to_json().encode())
    if request.markdown:
        shown = [beside(Path(name), request.markdown) for name in pictures]
        with output(request.markdown) as file:
            file.write(markdown(results, shown).encode())
