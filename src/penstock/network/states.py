"""Detectors' states in a bucket: pages by their content, and one entry that says which of them are the state.

Pages that have not changed are not written again. The entry is written last, with compare-and-set: a state is there as
a whole or not at all, and a node that was thought dead cannot write over that of the one that took its detector.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.brokers.protocol import Bucket
from penstock.errors import StateError
from penstock.network.records import from_json, to_json

CHUNK = 512 * 1024
_SMALL = 64 * 1024
"""Larger pages are compressed beside the events that come in meanwhile."""


@dataclass(frozen=True)
class Saved:
    """What the entry says: whose state it is, of which life of the detector, how far the input was, and the pages.

    ``published`` is the number, in the stream of ``site``, of the last thing that it had published; ``released`` says
    that its owner has stopped, so that another may go on.
    """

    owner: str
    site: str
    born: int
    positions: Mapping[str, int] = field(default_factory=dict)
    published: int = 0
    pages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    released: bool = False


@dataclass(frozen=True)
class Found:
    """A state as it was found, with the revision of its entry."""

    saved: Saved
    revision: int


def _packed(page: bytes) -> list[tuple[str, bytes]]:
    """A page in compressed chunks, by the names that follow from their content."""
    packed = zlib.compress(page, 1)
    chunks = [packed[start : start + CHUNK] for start in range(0, len(packed), CHUNK)]
    return [(hashlib.sha256(chunk).hexdigest()[:24], chunk) for chunk in chunks]


class States:
    """The states of all detectors of a system."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._written: dict[str, set[str]] = {}
        self._listed: dict[tuple[str, str], tuple[bytes, tuple[str, ...]]] = {}

    async def find(self, detector: str) -> Found | None:
        """What there is of a detector, if anything."""
        entry = await self._bucket.get(detector)
        if entry is None or entry.value is None:
            return None
        return Found(from_json(Saved, json.loads(entry.value)), entry.revision)

    async def read(self, detector: str, saved: Saved) -> dict[str, bytes]:
        """The pages of a state."""
        self._written[detector] = {chunk for chunks in saved.pages.values() for chunk in chunks}
        return {name: await self._page(detector, chunks) for name, chunks in saved.pages.items()}

    async def _page(self, detector: str, chunks: tuple[str, ...]) -> bytes:
        body = b""
        for chunk in chunks:
            entry = await self._bucket.get(f"{detector}/{chunk}")
            if entry is None or entry.value is None:
                raise StateError(f"a page of the state of {detector!r} is missing")
            body += entry.value
        return zlib.decompress(body)

    async def write(self, detector: str, saved: Saved, pages: Mapping[str, bytes], revision: int) -> int | None:
        """Write a state in place of one with that revision (0: of none); None if somebody else has meanwhile."""
        known = self._written.setdefault(detector, set())
        listed: dict[str, tuple[str, ...]] = {}
        for name, page in pages.items():
            before = self._listed.get((detector, name))
            listed[name] = before[1] if before and before[0] is page else await self._put(detector, page, known)
            self._listed[detector, name] = (page, listed[name])
        entry = json.dumps(to_json(replace(saved, pages=listed)), separators=(",", ":")).encode()
        written = await self._bucket.put(detector, entry, revision)
        if written is not None:
            await self._forget(detector, known - {chunk for chunks in listed.values() for chunk in chunks})
        return written

    async def _put(self, detector: str, page: bytes, known: set[str]) -> tuple[str, ...]:
        chunks = _packed(page) if len(page) <= _SMALL else await asyncio.to_thread(_packed, page)
        for name, chunk in chunks:
            if name not in known:
                await self._bucket.put(f"{detector}/{name}", chunk)
                known.add(name)
        return tuple(name for name, _ in chunks)

    async def _forget(self, detector: str, names: set[str]) -> None:
        for name in names:
            await self._bucket.delete(f"{detector}/{name}")
        self._written[detector] -= names

    def left(self, detector: str) -> None:
        """Somebody else writes this state from now on."""
        self._written.pop(detector, None)
        self._listed = {key: value for key, value in self._listed.items() if key[0] != detector}

    async def remove(self, detector: str) -> None:
        """The detector is gone for good."""
        await self._bucket.delete(detector)
        await self._forget(detector, set(self._written.get(detector, ())))
        self.left(detector)
