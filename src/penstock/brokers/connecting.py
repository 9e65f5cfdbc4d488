"""Brokers by their addresses."""

from __future__ import annotations

from importlib import import_module

from penstock.brokers.memory.broker import Memory
from penstock.brokers.protocol import Broker
from penstock.errors import BrokerError

_ADAPTERS = {"nats": "penstock.brokers.nats.broker"}
"""For each scheme the module whose `connect` takes an address. Loaded when used: clients are installed as needed."""


async def connect(address: str | Memory, *, name: str = "penstock", patience: float | None = None) -> Broker:
    """A connection to the broker at an address, such as ``nats://127.0.0.1:4222``; ``memory:`` is a new one in here.

    >>> import asyncio
    >>> asyncio.run(connect("nets://somewhere"))
    Traceback (most recent call last):
    penstock.errors.BrokerError: there is no broker of the kind 'nets'
    hint: addresses begin with memory: or nats://
    """
    if isinstance(address, Memory):
        return address.connect()
    scheme = address.partition(":")[0]
    if scheme == "memory":
        return Memory().connect()
    if scheme not in _ADAPTERS:
        hint = f"addresses begin with memory: or {' or '.join(f'{one}://' for one in _ADAPTERS)}"
        raise BrokerError(f"there is no broker of the kind {scheme!r}", hint=hint)
    try:
        adapter = import_module(_ADAPTERS[scheme])
    except ImportError:
        raise BrokerError(f"the client for {scheme} is not installed", hint="pip install 'penstock[brokers]'") from None
    options = {} if patience is None else {"patience": patience}
    broker: Broker = await adapter.connect(address, name=name, **options)
    return broker
