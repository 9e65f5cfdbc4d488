"""``penstock check``: its options; what it does is in `penstock.command.checking`."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.command.arguments import PatternArgument
from penstock.command.complaints import complaining


def check(
    pattern: PatternArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Say it for machines.")] = False,
) -> None:
    """Say whether a pattern is well-formed: its parameters, how it splits, its time bound, what will cost.

    penstock check '\\[Open(door = $d)] ; \\[Close(door = $d)] within 8 h'

    [bold]Exit status:[/] 0 if it is well-formed (warnings don't count), else 2.
    """
    with complaining():
        # Loaded here so that help does not wait for the parser.
        from penstock.command.checking import run

        run(pattern, as_json)
