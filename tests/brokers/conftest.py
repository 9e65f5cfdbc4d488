"""Brokers to test: each is a function that gives connections to one and the same broker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import pytest

from penstock.brokers.memory.broker import Memory
from penstock.brokers.nats.broker import connect
from penstock.brokers.nats.server import Server
from penstock.brokers.protocol import Broker

Connect = Callable[[], Awaitable[Broker]]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as one:
        yield one


@pytest.fixture(params=["memory", "nats"])
def connecting(request: pytest.FixtureRequest) -> Connect:
    """What every adapter must do is tested on every adapter."""
    if request.param == "nats":
        server: Server = request.getfixturevalue("server")
        return lambda: connect(server.url, patience=2)
    memory = Memory()

    async def connected() -> Broker:
        return memory.connect()

    return connected
