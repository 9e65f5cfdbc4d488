"""A broker of the experiment, as a process of its site's namespace."""

from __future__ import annotations

import sys
import time

from penstock.bench.office.setting import GATEWAY, HUB, LEAF_PORT, PORT
from penstock.bench.office.talking import end_with_input, say
from penstock.brokers.nats.server import Server

EVERYWHERE = "0.0.0.0"  # noqa: S104 - everywhere in a namespace that nobody else is in


def server_of(site: str) -> Server:
    """The broker of a site: the gateway's is the one that the office's connects to."""
    if site == GATEWAY:
        return Server(site, EVERYWHERE, PORT, leaf_port=LEAF_PORT)
    return Server(site, EVERYWHERE, PORT, hub=HUB)


def main(site: str) -> None:
    """A broker, until the input ends."""
    with server_of(site) as server:
        end_with_input(lambda: server.__exit__(None, None, None))
        say("ready")
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1])
