"""Records without an id: equal ones are told apart by their numbers, as long as the input has not passed them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from penstock.engine import memory

EARLIEST = memory.NONE + 2
"""Before all events."""


class Names(MutableMapping[str, int]):
    """How often records without an id were met, to number equal ones; those that are long past are forgotten.

    There are two generations: the older one is forgotten once the input has passed all that it knows.
    """

    def __init__(self, generations: list[dict[str, Any]] | None = None) -> None:
        self.generations = generations or [{"names": {}, "last": EARLIEST}, {"names": {}, "last": EARLIEST}]

    def heard(self, last: int) -> None:
        """An event that ends then was met."""
        self.generations[1]["last"] = max(self.generations[1]["last"], last)

    def passed(self, progress: int) -> None:
        """The input has come so far."""
        if progress > self.generations[0]["last"]:
            self.generations = [self.generations[1], {"names": {}, "last": self.generations[1]["last"]}]

    def __getitem__(self, name: str) -> int:
        young, old = self.generations[1]["names"], self.generations[0]["names"]
        return int(young[name] if name in young else old[name])

    def __setitem__(self, name: str, count: int) -> None:
        self.generations[1]["names"][name] = count

    def __delitem__(self, name: str) -> None:
        if not sum(one["names"].pop(name, 0) for one in self.generations):
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter({**self.generations[0]["names"], **self.generations[1]["names"]})

    def __len__(self) -> int:
        return len(list(iter(self)))
