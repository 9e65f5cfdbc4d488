"""``penstock watch``: its options; what it does is in `penstock.command.watching`."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.command.complaints import complaining


def watch(
    broker: Annotated[str, typer.Option(metavar="URL", help="A broker of the network.")] = "nats://127.0.0.1:4222",
    directory: Annotated[
        str | None, typer.Option(metavar="SITE", help="The site whose broker has the directory; else this one's.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Show one view, and stop.")] = False,
    every: Annotated[str, typer.Option(metavar="DURATION", help="How often to look.")] = "1 s",
) -> None:
    """Watch a network: sites, nodes, detectors, subscriptions, rates, delays, and what waits for which source.

    [bold]Exit status:[/] 0; 1 if there is no broker, 2 for bad options.
    """
    with complaining():
        # Loaded here so that help does not wait for what watches.
        from penstock.command.watching import Request, run

        run(Request(broker, directory, once, every))
