"""Services to test: on a broker in this process with a node inside, and on a NATS server."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from penstock.brokers.memory.broker import Memory
from penstock.brokers.nats.server import Server
from penstock.network.node import Settings
from penstock.service.service import Service

Opening = Callable[..., Service]
QUICK = Settings(beat=0.1, expiry=0.6, save=0.3)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as one:
        yield one


@pytest.fixture(params=["memory", "nats"])
def opening(request: pytest.FixtureRequest) -> Opening:
    """A function that gives services on one and the same broker; the first has a node inside."""
    broker = Memory() if request.param == "memory" else request.getfixturevalue("server").url
    opened: list[Service] = []

    def service(**options: object) -> Service:
        options = {"embedded": not opened, "settings": QUICK, "patience": 1.0} | options
        opened.append(Service(broker, **options))  # type: ignore[arg-type]
        return opened[-1]

    return service
