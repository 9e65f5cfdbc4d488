"""What is known of each source, in columns: what it has shown, when it was heard, how often it was wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.ordering.gathering import is_same
from penstock.ordering.lowest import Lowest
from penstock.ordering.places import FAR, NEVER, Ints, Place

COMPARED = 64
"""Of so many sources that have shown the same stamp it is found out whose name comes first."""
COUNTS = ("events", "late", "disordered")


class Sources:
    """The sources that are waited for, numbered; a number is given again when its source has left.

    ``lowest`` has the least stamp that a source's next event can have: the promise of what it has shown.

    >>> sources = Sources()
    >>> numbers = sources.numbers(["a", "b"])
    >>> sources.show(numbers, np.array([7, 5]), np.array([7, 5]), np.array([10, 10]))
    >>> sources.stable()
    Place(hi=5, lo=5, source=b'b')
    """

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.names: list[str] = []
        self.free: list[int] = []
        self.lowest = Lowest()
        self.heard: Ints = np.full(0, NEVER)
        self.registered: NDArray[np.bool_] = np.zeros(0, bool)
        self.counts: dict[str, Ints] = {name: np.zeros(0, np.int64) for name in COUNTS}
        self._looked_up: tuple[pa.Array, Ints] | None = None

    def __len__(self) -> int:
        return len(self.index)

    def numbers(self, names: Sequence[str]) -> Ints:
        """The numbers of sources; those that are new become known."""
        fresh = [name for name in names if name not in self.index]
        if fresh:
            self._add(fresh, registered=False)
        return np.array([self.index[name] for name in names], np.int64)

    def numbers_of(self, names: pa.Array, used: Ints) -> Ints:
        """The same for some of a dictionary of names; what was looked up is remembered, for batches often share one."""
        if self._looked_up is None or not is_same(self._looked_up[0], names):
            self._looked_up = (names, np.full(len(names), -1))
        known = self._looked_up[1]
        missing = used[known[used] < 0]
        if len(missing):
            known[missing] = self.numbers(names.take(pa.array(missing)).to_pylist())
        return known[used]

    def register(self, names: Iterable[str]) -> None:
        """Makes sources known that have shown nothing yet."""
        self._add(names, registered=True)

    def _add(self, names: Iterable[str], registered: bool) -> None:
        fresh = []
        for name in names:
            if name not in self.index:
                number = self.free.pop() if self.free else len(self.names)
                if number == len(self.names):
                    self.names.append(name)
                self.names[number] = name
                self.index[name] = number
                fresh.append(number)
        if fresh:
            self._start(np.array(fresh), registered)

    def _start(self, numbers: Ints, registered: bool) -> None:
        room = len(self.heard)
        if len(self.names) > room:
            more = max(len(self.names), 2 * room) - room
            self.heard = np.concatenate([self.heard, np.full(more, NEVER)])
            self.registered = np.concatenate([self.registered, np.zeros(more, bool)])
            self.counts = {name: np.concatenate([c, np.zeros(more, np.int64)]) for name, c in self.counts.items()}
        self.heard[numbers], self.registered[numbers] = NEVER, registered
        for column in self.counts.values():
            column[numbers] = 0
        never = np.full(len(numbers), NEVER)
        self.lowest.set(numbers, never, never)

    def show(self, numbers: Ints, ends: Ints, beginnings: Ints, heard: Ints) -> None:
        """Sources, all different, have shown stamps; what they promised before stays promised."""
        if len(numbers) == 1:
            self.show_one(int(numbers[0]), int(ends[0]), int(beginnings[0]), int(heard[0]))
            return
        before, begun = self.lowest.ends(numbers), self.lowest.beginnings(numbers)
        later = (ends > before) | ((ends == before) & (beginnings > begun))
        self.lowest.set(numbers[later], ends[later], beginnings[later])
        self.heard[numbers] = np.maximum(self.heard[numbers], heard)

    def show_one(self, number: int, end: int, beginning: int, heard: int) -> None:
        """One source has shown a stamp."""
        if (end, beginning) > self.lowest.at(number):
            self.lowest.set_one(number, end, beginning)
        if heard > self.heard.item(number):
            self.heard[number] = heard

    def leave(self, name: str) -> bool:
        """Nothing more comes from a source; says whether it was known."""
        number = self.index.pop(name, None)
        if number is not None:
            self.lowest.drop(number)
            self.names[number] = ""
            self.free.append(number)
            self._looked_up = None
        return number is not None

    def stable(self) -> Place:
        """The place up to which nothing can come any more from any source that keeps its order.

        Sources that have shown the same stamp are told apart by their names, as events are. Where very many have,
        the place before all of them is given: it is as safe, and the next stamp settles it.
        """
        end, beginning = self.lowest.least()
        if end in (NEVER, FAR) or beginning == NEVER:
            return Place(end, NEVER, b"")
        holding = self.lowest.holding()
        if len(holding) > COMPARED:
            return Place(end, beginning, b"")
        return Place(end, beginning, min([self.names[number].encode() for number in holding.tolist()]))

    def save(self) -> dict[str, Any]:
        """Columns of all numbers, also those that are free."""
        count = slice(0, len(self.names))
        ends, beginnings = self.lowest.ends(count), self.lowest.beginnings(count)
        columns = {"ends": ends, "beginnings": beginnings, "heard": self.heard[count]}
        columns |= {"registered": self.registered[count].astype(np.int64), "free": np.array(self.free, np.int64)}
        columns |= {name: column[count] for name, column in self.counts.items()}
        return {"names": pa.table({"name": pa.array(self.names, pa.string())}), **columns}

    def load(self, state: Mapping[str, Any]) -> None:
        """Goes on from columns that were saved."""
        self.names = state["names"]["name"].to_pylist()
        self.free = state["free"].tolist()
        gone = set(self.free)
        self.index = {name: number for number, name in enumerate(self.names) if number not in gone}
        self.lowest.set(np.arange(len(self.names)), state["ends"], state["beginnings"])
        self.heard, self.registered = state["heard"], state["registered"].astype(bool)
        self.counts = {name: state[name] for name in COUNTS}

    def current(self) -> Ints:
        """The numbers of all that are waited for."""
        if not self.free:
            return np.arange(len(self.names))
        waited_for = np.ones(len(self.names), bool)
        waited_for[self.free] = False
        return np.flatnonzero(waited_for)
