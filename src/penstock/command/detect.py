"""``penstock detect``: its options; what it does is in `penstock.command.detecting`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.command.arguments import PatternArgument
from penstock.command.complaints import complaining


class Format(StrEnum):
    """How results look on standard output."""

    JSONL = "jsonl"
    TABLE = "table"


class Engine(StrEnum):
    """Where patterns are detected."""

    LOCAL = "local"
    SPARK = "spark"


class TimeUnit(StrEnum):
    """What numbers that are times count."""

    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"


def _reading(metavar: str | None, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="Files that are not in our format")


def _meaning(metavar: str | None, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="What is detected")


def _limiting(metavar: str, help: str) -> Any:
    return typer.Option(metavar=metavar, help=help, min=1, rich_help_panel="What is detected")


def _writing(metavar: str | None, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="What is written")


def _following(metavar: str | None, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="Input that is followed")


def _inputs() -> Any:
    help = "Files or folders: .jsonl, .csv, .parquet. None: JSON lines from standard input."
    return typer.Argument(metavar="INPUT", help=help, show_default=False)


ZONE = (
    "Such as Europe/Berlin: for times without a zone, which are refused otherwise, and for clock times in "
    "patterns, which are UTC otherwise."
)
LIMIT_RUNS = "How many runs may wait for one value of the parameters, else 1,000,000; the oldest are dropped."
POLICY = (
    "When an event may be consumed: guaranteed (the default), 'guaranteed(max_wait=10 s)', 'probabilistic(0.99)', "
    "'delay(5 s)' or best_effort."
)
SOURCE = "A source that is waited for from the beginning; may be repeated. Others are found by their events."
CONTEXTS = "continuous|chronicle|recent|cumulative"


def detect(
    pattern: PatternArgument,
    inputs: Annotated[list[Path] | None, _inputs()] = None,
    output: Annotated[Path | None, _writing("FILE", ".jsonl, .csv or .parquet; else standard output.")] = None,
    format: Annotated[Format | None, _writing(None, "How standard output looks: JSON lines, or a table.")] = None,
    carry: Annotated[str, _writing("all|none|NAME,…", "Which attributes the parts keep.")] = "all",
    only: Annotated[list[str] | None, _writing("NAME", "Only this definition's; may be repeated.")] = None,
    incomplete: Annotated[Path | None, _writing("FILE", "Also write the runs that came to nothing, and why.")] = None,
    zone: Annotated[str | None, _meaning("ZONE", ZONE)] = None,
    engine: Annotated[Engine, _meaning(None, "Where it is detected; results are the same.")] = Engine.LOCAL,
    master: Annotated[str | None, _meaning("URL", "Spark's master, for --engine spark; else local\\[*].")] = None,
    context: Annotated[str, _meaning(CONTEXTS, "Which runs a composite uses up.")] = "continuous",
    restart: Annotated[bool, _meaning(None, "Bring back a start that has failed.", "--restart")] = False,
    limit_runs: Annotated[int | None, _limiting("N", LIMIT_RUNS)] = None,
    until: Annotated[str | None, _meaning("TIME", "Timers fire until then, after the last event.")] = None,
    type: Annotated[str | None, _reading("NAME", "The type of all events.")] = None,
    type_from: Annotated[str | None, _reading("COLUMN", "Where their types are.")] = None,
    time_from: Annotated[str | None, _reading("COLUMN", "Where their times are.")] = None,
    time_to: Annotated[str | None, _reading("COLUMN", "Where intervals end.")] = None,
    source_from: Annotated[str | None, _reading("COLUMN", "Where their sources are.")] = None,
    id_from: Annotated[str | None, _reading("COLUMN", "Where their ids are.")] = None,
    time_unit: Annotated[TimeUnit | None, _reading(None, "What times that are numbers count; else us.")] = None,
    clock_error: Annotated[str | None, _reading("DURATION", "How wrong clocks may be: 200 ms, say.")] = None,
    skip_bad: Annotated[bool, _reading(None, "Skip and count records that are no events.", "--skip-bad")] = False,
    follow: Annotated[bool, _following(None, "Detect while JSON lines come in on standard input.", "--follow")] = False,
    policy: Annotated[str | None, _following("POLICY", POLICY)] = None,
    source: Annotated[list[str] | None, _following("NAME", SOURCE)] = None,
    late: Annotated[Path | None, _following("FILE", "Write events that came too late, and why: JSON lines.")] = None,
) -> None:
    """Detect a pattern in files of events; the order of the events does not matter.

    [bold]Each door that was opened and then closed, as a table:[/]

    penstock detect '\\[Open(door = $d)] ; \\[Close(door = $d)]' doors.jsonl --format table

    [bold]A file of definitions over a folder, into a file:[/]

    penstock detect office.pen events/ --output found.parquet

    [bold]A CSV file in a format of its own:[/]

    penstock detect "\\['11'] ; \\['1']" alarms.csv --type-from alarm --time-from start --time-unit s

    [bold]What was opened and never closed within an hour:[/]

    penstock detect '\\[Open(door = $d)] ; \\[Close(door = $d)] within 1 h' doors.csv --incomplete open.csv

    [bold]While events come in, waiting ten seconds at most for a source that is silent:[/]

    tail -f doors.jsonl | penstock detect doors.pen --follow --policy 'guaranteed(max_wait=10 s)'

    [bold]Exit status:[/] 0; 2 for a bad pattern or bad options, 3 for bad input data, 1 for what else goes wrong.
    """
    with complaining():
        # Loaded here so that help and errors in options don't wait for what reads and detects.
        from penstock.command import detecting, following

        run = following.run if follow else detecting.run
        run(
            detecting.Request(
                pattern=pattern,
                inputs=tuple(inputs or ()),
                output=output,
                format=format,
                carry=carry,
                only=tuple(only or ()),
                zone=zone,
                context=context,
                restart=restart,
                engine=engine,
                master=master,
                limit_runs=limit_runs,
                incomplete=incomplete,
                until=until,
                type=type,
                type_from=type_from,
                time_from=time_from,
                time_to=time_to,
                source_from=source_from,
                id_from=id_from,
                time_unit=time_unit,
                clock_error=clock_error,
                skip_bad=skip_bad,
                policy=policy,
                sources=tuple(source or ()),
                late=late,
            )
        )
