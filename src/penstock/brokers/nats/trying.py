"""What a broker that is away is asked again, until it is back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nats.errors import ConnectionReconnectingError, NoRespondersError, OutboundBufferLimitError, StaleConnectionError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js.errors import NoStreamResponseError, ServiceUnavailableError

T = TypeVar("T")
AWAY = (
    NatsTimeoutError,
    asyncio.TimeoutError,
    ConnectionReconnectingError,
    NoRespondersError,
    NoStreamResponseError,
    OutboundBufferLimitError,
    ServiceUnavailableError,
    StaleConnectionError,
)
"""Errors that pass."""
_UNHEARD = (NoRespondersError, NoStreamResponseError)
_FIRST, _LONGEST = 0.05, 1.0


class Trying:
    """Asks again after errors that pass, with pauses that grow, for ``seconds`` at most; for ever if None.

    ``unheard`` is for how long, if nobody answers at a broker that is there: it may just have started.
    """

    def __init__(self, seconds: float | None = None, unheard: float | None = None) -> None:
        self.seconds = seconds
        self.unheard = unheard

    async def __call__(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What it answers."""
        loop = asyncio.get_running_loop()
        end = None if self.seconds is None else loop.time() + self.seconds
        pause = _FIRST
        unheard = None
        while True:
            try:
                return await ask()
            except AWAY as error:
                unheard = (unheard or loop.time()) if isinstance(error, _UNHEARD) else None
                is_long = unheard is not None and self.unheard is not None and loop.time() - unheard > self.unheard
                if is_long or (end is not None and loop.time() + pause > end):
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST)
