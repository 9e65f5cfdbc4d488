"""What ``penstock bench office`` does: the papers' experiment, in namespaces of its own."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from penstock.bench.office.namespaces import missing
from penstock.bench.office.report import NETWORK, OWN, Comparison, Experiment, delay_words, markdown, rich_table
from penstock.bench.office.running import Air, run
from penstock.bench.office.setting import Setting
from penstock.bench.results import machine
from penstock.bench.ways import HINT
from penstock.command.complaints import OptionError, OutputError
from penstock.command.pictures import beside
from penstock.command.progress import progress_bar
from penstock.command.writing import output, say, styled
from penstock.detection.prepare import prepare
from penstock.errors import PenstockError


@dataclass(frozen=True)
class Request:
    """What was asked for, as the options say it."""

    subscribers: tuple[int, ...]
    setting: Setting
    air: Air
    json: Path | None
    markdown: Path | None
    plots: Path | None


def experiment(request: Request) -> None:
    """Both ways for each number of subscribers."""
    _check(request)
    prepare()
    here = machine()
    steps = [(count, way) for count in sorted(set(request.subscribers)) for way in (OWN, NETWORK)]
    outcomes = {}
    with progress_bar() as bar:
        for done, (count, way) in enumerate(steps):
            bar.count(f"{count} subscribers, {way}", done, len(steps))
            outcomes[count, way] = run(replace(request.setting, subscribers=count, way=way), request.air)
    comparisons = tuple(
        Comparison(outcomes[count, NETWORK], outcomes[count, OWN]) for count, way in steps if way == OWN
    )
    done_so = Experiment(shlex.join(["penstock", *sys.argv[1:]]), here, request.air, comparisons)
    say(styled(rich_table(done_so), delay_words(done_so)))
    _write(request, done_so)


def _check(request: Request) -> None:
    """Find out before the work is done, not after it."""
    why = missing()
    if why is not None:
        raise OptionError(f"this experiment cannot be run here: {why}", hint="run it as root on Linux, such as in a VM")
    if find_spec("nats") is None:
        raise PenstockError("this experiment needs brokers", hint="pip install 'penstock[brokers]'")
    for path in (request.json, request.markdown):
        if path and not path.absolute().parent.is_dir():
            raise OutputError(f"{path}: cannot be written: there is no such folder")
    if request.plots and find_spec("matplotlib") is None:
        raise PenstockError("--plots: matplotlib is not installed", hint=HINT)


def _write(request: Request, done: Experiment) -> None:
    pictures: list[Path] = []
    if request.plots:
        # Loaded here since matplotlib is needed for nothing else.
        from penstock.bench.office.plots import write_plots

        pictures = [request.plots / name for name in write_plots(done, request.plots)]
    if request.json:
        with output(request.json) as file:
            file.write(done.to_json().encode())
    if request.markdown:
        with output(request.markdown) as file:
            file.write(markdown(done, [beside(one, request.markdown) for one in pictures]).encode())
