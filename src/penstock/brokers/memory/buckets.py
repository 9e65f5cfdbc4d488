"""Buckets in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from penstock.brokers.protocol import Entry


class MemoryBucket:
    """Values under keys, with a revision that counts all changes of the bucket."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._revision = 0
        self._watching: set[asyncio.Event] = set()

    async def get(self, key: str) -> Entry | None:
        """The value of a key, if there is one."""
        entry = self._entries.get(key)
        return entry if entry is not None and entry.value is not None else None

    async def put(self, key: str, value: bytes, revision: int | None = None) -> int | None:
        """Set a value, with a ``revision`` only if the key still has that."""
        if revision is not None:
            known = await self.get(key)
            if (known.revision if known else 0) != revision:
                return None
        return self._set(key, value)

    async def delete(self, key: str) -> None:
        """Remove a key."""
        if await self.get(key):
            self._set(key, None)

    def _set(self, key: str, value: bytes | None) -> int:
        self._revision += 1
        self._entries.pop(key, None)
        self._entries[key] = Entry(key, value, self._revision)
        for event in self._watching:
            event.set()
        return self._revision

    async def keys(self, table: str | None = None) -> list[str]:
        """All keys that have values, or those of one table."""
        found = sorted(key for key, entry in self._entries.items() if entry.value is not None)
        return found if table is None else [key for key in found if key.partition("/")[0] == table]

    async def watch(self, *patterns: str) -> AsyncGenerator[Entry, None]:
        """All values that there are, or those of some keys, then every change; of several of one key the last."""
        changed, seen, keys = asyncio.Event(), 0, set(patterns)
        self._watching.add(changed)
        try:
            while True:
                for entry in [one for one in self._entries.values() if one.revision > seen]:
                    if (entry.value is not None or seen) and (not keys or not keys.isdisjoint(_said(entry.key))):
                        yield entry
                    seen = max(seen, entry.revision)
                await changed.wait()
                changed.clear()
        finally:
            self._watching.discard(changed)


def _said(key: str) -> tuple[str, str]:
    """A key, and the pattern that has it."""
    return key, f"{key.partition('/')[0]}/*"
