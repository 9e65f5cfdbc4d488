"""``penstock``: the commands, and nothing that they need but their options."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from penstock.command.bench import bench
from penstock.command.check import check
from penstock.command.demo import demo
from penstock.command.detect import detect
from penstock.command.node import node
from penstock.command.show import show
from penstock.command.watch import watch

app = typer.Typer(
    name="penstock",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command()(detect)
app.command()(check)
app.command()(show)
app.command()(node)
app.add_typer(demo, name="demo")
app.command()(watch)
app.add_typer(bench, name="bench")


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"penstock {_version()}")
        raise typer.Exit


def _version() -> str:
    try:
        return version("penstock")
    except PackageNotFoundError:
        return "(run from its source, not installed)"


@app.callback()
def penstock(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version, and stop.")
    ] = False,
) -> None:
    """Detect patterns of events.

    A pattern says what to look for; events come from files or from standard input.

    [bold]Find each door that was opened and then closed:[/]

    penstock detect '\\[Open(door = $d)] ; \\[Close(door = $d)]' events.jsonl

    [bold]What does a pattern say, and what does it cost?[/]

    penstock check office.pen

    penstock show office.pen
    """


def main() -> None:
    """Run the command that the arguments name."""
    app(prog_name="penstock")
