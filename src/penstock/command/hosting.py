"""What ``penstock node`` does: connects, hosts, and leaves in order when it is asked to end."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import import_module

import typer

from penstock.brokers.connecting import connect
from penstock.command.complaints import OptionError, option
from penstock.events.durations import parse_duration
from penstock.network.directory import Link
from penstock.network.node import NetworkNode, Settings

_LEAVE = 10.0


@dataclass(frozen=True)
class Request:
    """What was asked for; durations as they were written."""

    site: str | None
    broker: str
    serve: bool
    name: str | None
    directory: str | None
    links: tuple[str, ...]
    beat: str
    expiry: str
    save: str
    keep: str
    patience: str


def run(request: Request) -> None:
    """Host until a signal says to end."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    settings = Settings(
        beat=_seconds("--beat", request.beat),
        expiry=_seconds("--expiry", request.expiry),
        save=_seconds("--save", request.save),
        directory=request.directory,
        links=tuple(_link(request.site, text) for text in request.links),
        max_age=_seconds("--keep", request.keep),
    )
    patience = _seconds("--patience", request.patience)
    with ExitStack() as servers:
        address = request.broker
        if request.serve:
            server = import_module("penstock.brokers.nats.server").Server()
            address = servers.enter_context(server).url
        asyncio.run(_host(request, address, settings, patience))


def _link(site: str | None, text: str) -> Link:
    """A link as it is written, ``gateway=5 ms``."""
    other, _, latency = text.partition("=")
    if site is None:
        raise OptionError("--link needs --site", hint="a link has two ends")
    with option("--link"):
        return Link(site, other, parse_duration(latency) if latency else 0)


def _seconds(name: str, text: str) -> float:
    with option(name):
        return parse_duration(text) / 1_000_000


async def _host(request: Request, address: str, settings: Settings, patience: float) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    broker = await connect(address, name=f"node {request.name or request.site or ''}".strip(), patience=patience)
    site = request.site or broker.site or "local"
    node = NetworkNode(broker, site, request.name, settings)
    await node.start()
    # What was loaded stays: events need not wait for it to be looked through for garbage.
    gc.collect()
    gc.freeze()
    typer.echo(f"node {node.name} at {site} on {address} is ready")
    try:
        await ended.wait()
    finally:
        # A broker that is away cannot be told; the others will miss this node.
        with suppress(TimeoutError):
            async with asyncio.timeout(_LEAVE):
                await node.stop()
                await broker.close()
