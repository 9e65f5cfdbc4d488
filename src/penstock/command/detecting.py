"""What ``penstock detect`` does: load the pattern, read, detect, write, and say what was left out."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from penstock.algebra.names import primitive_types
from penstock.algebra.pattern import Pattern
from penstock.command.complaints import OptionError, OutputError, note, option
from penstock.command.patterns import load_pattern
from penstock.command.progress import Bar, progress_bar
from penstock.command.writing import output, styled
from penstock.detection.composites import Composites
from penstock.detection.local import detect
from penstock.detection.output import WRITERS
from penstock.detection.terminal import rich_table
from penstock.engine.compiled import ANNOUNCEMENT, is_compiled
from penstock.errors import DataError, nearest
from penstock.events.durations import parse_duration
from penstock.events.files import Loaded, read_events
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


def run(request: Request) -> None:
    """Detect, and write what was found once all of it is there."""
    _check_output(request)
    pattern = load_pattern(request.pattern)
    columns, until = _columns(request), _until(request)
    if not is_compiled():
        note(ANNOUNCEMENT)
    with progress_bar() as bar:
        loaded = _read(request, columns, bar)
        bar.step("detecting")
        found = _detect(request, pattern, loaded, until)
    with output(request.output) as file:
        if request.format == "table":
            file.write(styled(rich_table(found, zone_of(request.zone or "UTC"))).encode())
        else:
            WRITERS[_ending(request)](found, file)
    _say_left_out(loaded, found)
    _say_unknown_types(pattern, loaded)


def _ending(request: Request) -> str:
    return request.output.suffix.lower() if request.output else ".jsonl"


def _check_output(request: Request) -> None:
    """Find out before the work is done, not after it."""
    if _ending(request) not in WRITERS:
        listed = ", ".join(WRITERS)
        raise OptionError(f"--output: {request.output} has no ending that we can write", hint=f"use one of {listed}")
    if request.output and request.format:
        raise OptionError(
            "--format is for standard output", hint="the ending of the file that --output names says how it is written"
        )
    if request.output and not request.output.absolute().parent.is_dir():
        raise OutputError(f"{request.output}: cannot be written: there is no such folder")


def _columns(request: Request) -> Columns:
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


def _until(request: Request) -> int | None:
    """The end of the input: a time, or a number that counts what the numbers of the input count."""
    if request.until is None:
        return None
    number = re.fullmatch(r"-?[0-9]+", request.until)
    with option("--until"):
        value = int(request.until) if number else request.until
        return instant(value, request.time_unit, request.zone, round_up=True)


def _read(request: Request, columns: Columns, bar: Bar) -> Loaded:
    if not request.inputs and sys.stdin is None:
        raise DataError("standard input is closed", hint="name files or folders to read")
    if not request.inputs and sys.stdin.isatty():
        note("reading JSON lines from the terminal; end with Ctrl-D")
    try:
        stdin = None if request.inputs else sys.stdin.buffer
        return read_events(request.inputs, columns, skip_bad=request.skip_bad, stdin=stdin, progress=bar.read)
    except OSError as error:
        raise DataError(f"standard input: cannot be read: {error.strerror or error}") from None


def _detect(request: Request, pattern: Pattern, loaded: Loaded, until: int | None) -> Composites:
    return detect(
        loaded.table,
        pattern,
        context=request.context,
        restart=request.restart,
        until=until,
        zone=request.zone,
        carry=request.carry,
        only=request.only,
    )


def _say_left_out(loaded: Loaded, found: Composites) -> None:
    """Nothing is lost silently: how many records were skipped, and how many events came twice."""
    if loaded.bad:
        shown = [f"  {_first_line(error)}" for error in loaded.bad[:_SHOWN]]
        more = [f"  and {len(loaded.bad) - _SHOWN} more"] if len(loaded.bad) > _SHOWN else []
        note("\n".join([f"skipped {_count(len(loaded.bad), 'bad record')}:", *shown, *more]))
    if found.repeated:
        note(f"left out {_count(found.repeated, 'repeated event')} (same source and id)")


def _say_unknown_types(pattern: Pattern, loaded: Loaded) -> None:
    """A type that no event has may be a slip of the pen."""
    there = {str(name) for name in loaded.table.field("type").unique().to_pylist()}
    if not there:
        return
    for name in sorted(primitive_types(pattern) - there):
        close = nearest(name, there)
        note(f"no event is of type `{name}`" + (f"; did you mean `{close}`?" if close else ""))


def _first_line(error: DataError) -> str:
    return str(error).splitlines()[0]


def _count(number: int, thing: str) -> str:
    return f"1 {thing}" if number == 1 else f"{number:,} {thing}s"
