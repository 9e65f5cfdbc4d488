"""A link between two places that can be cut and healed: a relay of TCP connections, on a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Link:
    """Passes on what is sent to ``address``; cut, it drops all connections and takes no new ones.

    >>> with Link("127.0.0.1:4222") as link:
    ...     link.cut()
    ...     link.is_cut
    True
    """

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._connections: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.address = ""
        self.is_cut = False
        self.carried = 0
        """How many bytes it has passed on, both ways."""

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self) -> None:
        """Nothing comes through any more."""
        self.is_cut = True
        self._loop.call_soon_threadsafe(self._drop)

    def heal(self) -> None:
        """It is as it was."""
        self.is_cut = False

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.address = f"{host}:{port}"

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._drop()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _drop(self) -> None:
        for writer in self._connections:
            writer.transport.abort()
        self._connections.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.transport.abort()
            return
        with suppress(OSError):
            there, back = await asyncio.open_connection(*self._target)
            self._connections |= {writer, back}
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                self.carried += len(data)
                writer.write(data)
                await writer.drain()
        writer.close()
