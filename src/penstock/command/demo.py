"""``penstock demo``: its options; what it does is in `penstock.command.demonstrating`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.command.complaints import complaining

demo = typer.Typer(no_args_is_help=True, help="Run an application of the papers, simulated, and see what is detected.")


class Where(StrEnum):
    """Where patterns are detected."""

    SPARK = "spark"
    LOCAL = "local"


def _writing(metavar: str, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="What is written")


@demo.callback()
def demos() -> None:
    """Run an application of the papers, simulated, and see what is detected."""


@demo.command()
def office(
    engine: Annotated[Where, typer.Option(help="Detect on an embedded Spark, or in this process.")] = Where.SPARK,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Another seed is another day.")] = 1,
    hours: Annotated[float, typer.Option(metavar="H", min=0.1, max=24, help="How long the day is.")] = 9.0,
    seconds: Annotated[
        float, typer.Option(metavar="S", min=0, help="The day passes in so many seconds; 0: as fast as it can.")
    ] = 20.0,
    picture: Annotated[Path, _writing("FILE", "A picture of the day, as SVG.")] = Path("office.svg"),
    events: Annotated[
        Path | None, _writing("FILE", "Also write the events, as JSON lines: penstock detect finds the same there.")
    ] = None,
    output: Annotated[Path | None, _writing("FILE", "Also write the composites: .jsonl, .csv or .parquet.")] = None,
) -> None:
    """A day in the Active Office: fifteen people in nine rooms, and sensors with wrong clocks and delays.

    Two scenarios are detected while the day passes: rooms that are cold while somebody is there, and people who were
    at a meeting and don't log in soon after it, so that its notes are sent to them. Nothing is consumed before it is
    certain that nothing earlier is still under way: the policy is guaranteed.

    [bold]Another day, without Spark, as fast as it can:[/]

    penstock demo office --engine local --seed 7 --seconds 0

    [bold]The same composites again, from a file:[/]

    penstock demo office --events day.jsonl --output live.jsonl

    penstock detect examples/office/office.pen day.jsonl --output again.jsonl

    [bold]Exit status:[/] 0; 1 if something goes wrong, 2 for bad options.
    """
    with complaining():
        # Loaded here so that help does not wait for what simulates and detects.
        from penstock.command.demonstrating import Request, run

        run(
            Request(
                engine=engine, seed=seed, hours=hours, seconds=seconds, picture=picture, events=events, output=output
            )
        )
