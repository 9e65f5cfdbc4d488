"""What ``penstock detect`` does: load the pattern, read, detect, write, and say what was left out."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import BinaryIO

from penstock.algebra.names import primitive_types
from penstock.algebra.pattern import Pattern
from penstock.command.complaints import OptionError, OutputError, note, option
from penstock.command.patterns import load_pattern
from penstock.command.progress import Bar, progress_bar
from penstock.command.writing import output, styled
from penstock.detection.composites import Composites
from penstock.detection.files import FoundInFiles, detect_files
from penstock.detection.limits import Limits
from penstock.detection.output import WRITERS
from penstock.detection.plan import Plan, plan_of
from penstock.detection.terminal import rich_table
from penstock.engine.compiled import ANNOUNCEMENT, is_compiled
from penstock.errors import DataError, PenstockError, nearest
from penstock.events.durations import parse_duration
from penstock.events.instant import instant
from penstock.events.mapping import Columns
from penstock.events.times import zone_of

_SHOWN = 3


@dataclass(frozen=True)
class Request:
    """What was asked for, as the options say it."""

    pattern: str
    inputs: tuple[Path, ...]
    output: Path | None
    format: str | None
    carry: str
    only: tuple[str, ...]
    zone: str | None
    context: str
    restart: bool
    limit_runs: int | None
    incomplete: Path | None
    until: str | None
    type: str | None
    type_from: str | None
    time_from: str | None
    time_to: str | None
    source_from: str | None
    id_from: str | None
    time_unit: str | None
    clock_error: str | None
    skip_bad: bool
    policy: str | None = None
    sources: tuple[str, ...] = ()
    late: Path | None = None
    engine: str = "local"
    master: str | None = None


def run(request: Request) -> None:
    """Detect, and write what was found once all of it is there."""
    _check_followed(request)
    _check_engine(request)
    check_output(request)
    pattern = load_pattern(request.pattern)
    plan = _plan(request, pattern)
    columns, until = columns_of(request), until_of(request)
    if not is_compiled():
        note(ANNOUNCEMENT)
    with progress_bar() as bar:
        found = _detect(request, plan, columns, until, bar)
    _write(request, found.composites)
    say_left_out(Left(len(found.bad), found.bad[:_SHOWN], found.composites.repeated))
    say_dropped(found.composites.dropped)
    say_unknown_types(pattern, found.types)


def _write(request: Request, found: Composites) -> None:
    if request.incomplete and found.incomplete is not None:
        with output(request.incomplete) as file:
            WRITERS[_ending(request.incomplete)](found.incomplete, file)
    with output(request.output) as file:
        if request.format == "table":
            file.write(styled(rich_table(found, zone_of(request.zone or "UTC"))).encode())
        else:
            WRITERS[_ending(request.output)](found, file)


def _ending(path: Path | None) -> str:
    return path.suffix.lower() if path else ".jsonl"


def _check_followed(request: Request) -> None:
    for name, given in (("--policy", request.policy), ("--source", request.sources), ("--late", request.late)):
        if given:
            raise OptionError(
                f"{name} is for input that is followed",
                hint="add --follow to detect while JSON lines come in; files are put in order before",
            )


def _check_engine(request: Request) -> None:
    if request.master is not None and request.engine != "spark":
        raise OptionError("--master is where Spark runs", hint="add --engine spark to detect there")


def check_output(request: Request) -> None:
    """Find out before the work is done, not after it."""
    for name, path in (("--output", request.output), ("--incomplete", request.incomplete)):
        if _ending(path) not in WRITERS:
            listed = ", ".join(WRITERS)
            raise OptionError(f"{name}: {path} has no ending that we can write", hint=f"use one of {listed}")
    named = {"--output": request.output, "--incomplete": request.incomplete, "--late": request.late}
    files = {name: path for name, path in named.items() if path}
    for path in files.values():
        if not path.absolute().parent.is_dir():
            raise OutputError(f"{path}: cannot be written: there is no such folder")
    if request.output and request.format:
        raise OptionError(
            "--format is for standard output", hint="the ending of the file that --output names says how it is written"
        )
    given = {path.resolve() for path in request.inputs}
    for name, path in files.items():
        if path.resolve() in given:
            raise OptionError(f"{name} names a file of events, {path}", hint="give another file, or they would be gone")
    for one, other in combinations(files, 2):
        if files[one].resolve() == files[other].resolve():
            raise OptionError(f"{one} and {other} name the same file", hint="give each a file of its own")


def _plan(request: Request, pattern: Pattern) -> Plan:
    return plan_of(
        pattern,
        context=request.context,
        restart=request.restart,
        zone=request.zone,
        carry=request.carry,
        only=request.only,
        limits=limits_of(request),
        incomplete=request.incomplete is not None,
    )


def limits_of(request: Request) -> Limits:
    """As many runs as may wait for one instance may wait in all, too."""
    usual = Limits()
    if request.limit_runs is None:
        return usual
    return Limits(runs_per_instance=request.limit_runs, runs=max(request.limit_runs, usual.runs or 0))


def columns_of(request: Request) -> Columns:
    """How events are read."""
    if request.type is not None and request.type_from is not None:
        raise OptionError("--type and --type-from cannot both say the type", hint="leave out one of them")
    with option("--zone"):
        if request.zone is not None:
            zone_of(request.zone)
    with option("--clock-error"):
        error = parse_duration(request.clock_error) if request.clock_error is not None else 0
    return Columns(
        type_from=request.type_from,
        time_from=request.time_from,
        time_to=request.time_to,
        source_from=request.source_from,
        id_from=request.id_from,
        type=request.type,
        time_unit=request.time_unit,
        clock_error=error,
        zone=request.zone,
    )


def until_of(request: Request) -> int | None:
    """The end of the input: a time, or a number that counts what the numbers of the input count."""
    if request.until is None:
        return None
    number = re.fullmatch(r"-?[0-9]+", request.until)
    with option("--until"):
        value = int(request.until) if number else request.until
        return instant(value, request.time_unit, request.zone, round_up=True)


def standard_input() -> BinaryIO:
    """Standard input, if it is there; people at a terminal are told that it is read."""
    if sys.stdin is None:
        raise DataError("standard input is closed", hint="name files or folders to read")
    if sys.stdin.isatty():
        note("reading JSON lines from the terminal; end with Ctrl-D")
    return sys.stdin.buffer


def _detect(request: Request, plan: Plan, columns: Columns, until: int | None, bar: Bar) -> FoundInFiles:
    stdin = None if request.inputs else standard_input()
    try:
        return _detector(request)(
            request.inputs,
            plan,
            columns,
            until=until,
            skip_bad=request.skip_bad,
            stdin=stdin,
            progress=bar.read,
            begins=bar.step,
        )
    except OSError as error:
        raise DataError(f"standard input: cannot be read: {error.strerror or error}") from None


def _detector(request: Request) -> Callable[..., FoundInFiles]:
    """What detects in files: this process, or Spark, which is loaded only then."""
    if request.engine != "spark":
        return detect_files
    try:
        from penstock.command.sparking import detector
    except ImportError as error:
        raise PenstockError(f"{error.name} is not installed", hint="pip install 'penstock[spark]'") from None
    return detector(request.master)


@dataclass(frozen=True)
class Left:
    """What was left out: bad records, with the errors about the first of them, and repeated events."""

    bad: int
    first_bad: Sequence[DataError]
    repeated: int


def say_left_out(left: Left) -> None:
    """Nothing is lost silently: how many records were skipped, and how many events came twice."""
    if left.bad:
        shown = [f"  {_first_line(error)}" for error in left.first_bad]
        more = [f"  and {left.bad - len(shown)} more"] if left.bad > len(shown) else []
        note("\n".join([f"skipped {counted(left.bad, 'bad record')}:", *shown, *more]))
    if left.repeated:
        note(f"left out {counted(left.repeated, 'repeated event')} (same source and id)")


def say_dropped(dropped: int) -> None:
    """Runs that were dropped are results that may be missing."""
    if dropped:
        runs = counted(dropped, "run")
        note(f"dropped {runs} at the limit; --limit-runs raises it, `within` in the pattern needs fewer")


def say_unknown_types(pattern: Pattern, types: frozenset[str]) -> None:
    """A type that no event has may be a slip of the pen."""
    if not types:
        return
    for name in sorted(primitive_types(pattern) - types):
        close = nearest(name, types)
        note(f"no event is of type `{name}`" + (f"; did you mean `{close}`?" if close else ""))


def _first_line(error: DataError) -> str:
    return str(error).splitlines()[0]


def counted(number: int, thing: str) -> str:
    """A number of things in words.

    >>> counted(1, "event"), counted(1000, "event")
    ('1 event', '1,000 events')
    """
    return f"1 {thing}" if number == 1 else f"{number:,} {thing}s"
