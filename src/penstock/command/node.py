"""``penstock node``: its options; what it does is in `penstock.command.hosting`."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.command.complaints import complaining


def node(
    site: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its site; else the broker's own name for it.")
    ] = None,
    broker: Annotated[str, typer.Option(metavar="URL", help="The broker beside it.")] = "nats://127.0.0.1:4222",
    serve: Annotated[bool, typer.Option("--serve", help="Start a NATS server for it, on loopback.")] = False,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Its own name, if it shall keep it.")] = None,
    directory: Annotated[
        str | None, typer.Option(metavar="SITE", help="The site whose broker has the directory; else its own.")
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(metavar="SITE[=DURATION]", help="A link of its site, and how long it takes; may be repeated."),
    ] = None,
    beat: Annotated[str, typer.Option(metavar="DURATION", help="How often it says that it lives.")] = "1 s",
    expiry: Annotated[str, typer.Option(metavar="DURATION", help="A node that is silent so long is dead.")] = "5 s",
    save: Annotated[str, typer.Option(metavar="DURATION", help="How often states are saved.")] = "5 s",
    keep: Annotated[str, typer.Option(metavar="DURATION", help="How long the site's stream keeps events.")] = "1 d",
    patience: Annotated[
        str, typer.Option(metavar="DURATION", help="A stream that is silent so long is asked for again.")
    ] = "5 s",
) -> None:
    """Host detectors beside a broker, together with the nodes of other sites, until it is interrupted.

    [bold]Two nodes on one server:[/]

    penstock node --site office --serve

    penstock node --site gateway --broker nats://127.0.0.1:4222

    It says on standard output where it is ready. A node that is interrupted hands its detectors over to the others; one
    that is killed is missed after a while, and its detectors come back elsewhere.

    [bold]Exit status:[/] 0; 1 if there is no broker, 2 for bad options.
    """
    with complaining():
        # Loaded here so that help does not wait for what detects.
        from penstock.command.hosting import Request, run

        run(Request(site, broker, serve, name, directory, tuple(link or ()), beat, expiry, save, keep, patience))
