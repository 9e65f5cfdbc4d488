"""``penstock show``: its options; what it does is in `penstock.command.showing`."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.command.arguments import PatternArgument
from penstock.command.complaints import complaining


def show(
    pattern: PatternArgument,
    form: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="core|json|text|dot|svg",
            help="core and json say the pattern; text, dot and svg draw its automaton.",
        ),
    ] = "text",
) -> None:
    """Show a pattern in another form, or draw its automaton.

    penstock show '(\\[B], \\[P in {P, T1}]){T1 = 1 h}'

    penstock show office.pen --as svg > office.svg
    """
    with complaining():
        # Loaded here so that help does not wait for the parser.
        from penstock.command.showing import run

        run(pattern, form)
