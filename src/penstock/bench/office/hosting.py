"""A site of the experiment: a broker, and a node beside it where detection is in the network."""

from __future__ import annotations

import asyncio
import sys
import threading

from penstock.bench.office.setting import GATEWAY, HUB, LEAF_PORT, PORT, SETTINGS, Setting, expected
from penstock.bench.office.talking import end_with_input, say
from penstock.brokers.connecting import connect
from penstock.brokers.nats.server import Server
from penstock.network.node import NetworkNode

EVERYWHERE = "0.0.0.0"  # noqa: S104 - everywhere in a namespace that nobody else is in


def server_of(site: str) -> Server:
    """The broker of a site: the gateway's is the one that the office's connects to."""
    if site == GATEWAY:
        return Server(site, EVERYWHERE, PORT, leaf_port=LEAF_PORT)
    return Server(site, EVERYWHERE, PORT, hub=HUB)


async def host(site: str, server: Server) -> None:
    """A node beside the broker, as ``penstock node`` runs it."""
    broker = await connect(f"nats://127.0.0.1:{server.port}", name=f"node {site}")
    await NetworkNode(broker, site, site, SETTINGS).start()
    say("ready")
    await asyncio.Event().wait()


def main(site: str, has_node: bool) -> None:
    """A broker, and a node if there shall be one, until the input ends."""
    with server_of(site) as server:
        end_with_input(lambda: server.__exit__(None, None, None))
        if has_node:
            expected(Setting(hours=0.5).day())  # compiled code is loaded before anything is measured
            asyncio.run(host(site, server))
        say("ready")
        threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "network")
