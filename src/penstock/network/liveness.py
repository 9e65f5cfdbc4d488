"""Which nodes live: each says so every now and then, and the others count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.brokers.protocol import Bucket
from penstock.network.agreement import Agreement, agree
from penstock.network.directory import Node


class Liveness:
    """Counts how often a node has looked at others that had said nothing since the time before.

    Looks are counted and not seconds: a node that was held up itself has not looked, and buries nobody.
    """

    def __init__(self, name: str, nodes: Bucket, beat: float, expiry: float) -> None:
        self._name, self._nodes, self._beat, self._expiry = name, nodes, beat, expiry
        self._seen: dict[str, tuple[int | None, int]] = {}

    async def silent(self, nodes: Iterable[Node]) -> list[str]:
        """Looks once; nodes that have been silent in so many looks that they must have spoken, if they lived."""
        others = [node.name for node in nodes if node.alive and node.name != self._name]
        for name in others:
            entry = await self._nodes.get(name)
            revision = entry.revision if entry else -1
            before, looks = self._seen.get(name, (None, 0))
            self._seen[name] = (revision, looks + 1 if before == revision else 0)
        self._seen = {name: self._seen[name] for name in others}
        return [name for name, (_, looks) in self._seen.items() if looks * self._beat >= self._expiry]


async def bury(directory: Bucket, name: str) -> None:
    """Write down that a node is dead, unless it is already."""

    def wanted(known: Agreement) -> Agreement | None:
        alive = [one for one in known.nodes if one.name == name and one.alive]
        return known.with_node(replace(alive[0], alive=False)) if alive else None

    await agree(directory, wanted)
