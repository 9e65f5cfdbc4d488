"""Events that arrived together: their columns as numbers, each made when it is first asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.taking import flat
from penstock.events.table import EventTable, absent, make_table
from penstock.events.texts import Words, hashed
from penstock.ordering.gathering import gathered
from penstock.ordering.kernel import hash_names
from penstock.ordering.places import KEYS, Ints, Place, compacted, times


class Batch:
    """A table of events, and when each of them came.

    Much of it is never asked for where a batch is of one event, or of one source, or where nothing waits.

    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A"], "source": ["a"], "id": ["1"], "lo": [5], "hi": [7]}
    >>> batch = Batch(make_table(fields, {}), np.array([9]))
    >>> batch.ends.tolist(), batch.source(0), len(batch)
    ([7], 'a', 1)
    """

    def __init__(self, table: EventTable, came: Ints) -> None:
        self.table = table
        self.came = came
        self._length = len(came)

    def __len__(self) -> int:
        return self._length

    @cached_property
    def ends(self) -> Ints:
        """When the events end."""
        return times(self.table, "hi")

    @cached_property
    def beginnings(self) -> Ints:
        """When they begin."""
        return times(self.table, "lo")

    @cached_property
    def sources(self) -> tuple[Ints, pa.Array]:
        """The source of each by its number in a dictionary, and the dictionary."""
        column = self.table.field("source")
        return np.asarray(column.indices), column.dictionary

    @cached_property
    def only_source(self) -> str | None:
        """The source of all of them, if there is one in the dictionary."""
        _, names = self.sources
        return names[0].as_py() if len(names) == 1 else None

    @property
    def latest(self) -> int:
        """When the last of them came."""
        return self.came.item() if self._length == 1 else int(self.came.max())

    def source(self, row: int) -> str:
        """The source of one event."""
        if self.only_source is not None:
            return self.only_source
        codes, names = self.sources
        name: str = names[codes.item(row)].as_py()
        return name

    def place(self, row: int) -> Place:
        """Where one event stands."""
        return Place(self.ends.item(row), self.beginnings.item(row), self.source(row).encode())

    @cached_property
    def names(self) -> Words:
        """A hash of the source and id of each."""
        codes, names = self.sources
        hashes = np.empty(len(self), np.uint64)
        hash_names(*flat(self.table.field("id")), codes, hashed(names), hashes)
        return hashes

    @cached_property
    def known(self) -> Words:
        """These hashes, sorted: who is not among them is not in the batch."""
        return np.sort(self.names)

    def only_names(self) -> Batch:
        """The same events with nothing but what is compared of names and places."""
        columns = {name: self.table.field(name) for name in KEYS}
        some = Batch(make_table(columns | {"type": absent("type", len(self))}, {}), self.came)
        some.names, some.known = self.names, self.known
        return some

    def take(self, rows: Ints) -> Batch:
        """Some of the events, with nothing of the others."""
        some = Batch(compacted(gathered([self.table], rows)), self.came[rows])
        if "names" in self.__dict__:
            some.names = self.names[rows]
        return some


def same_names(one: Batch, rows: Ints, other: Batch, others: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For pairs of events, each of its batch, whether their sources and ids are equal.

    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A"] * 2, "source": ["s", "t"], "id": ["1", "1"], "lo": [1, 1], "hi": [1, 1]}
    >>> batch = Batch(make_table(fields, {}), np.array([1, 1]))
    >>> same_names(batch, np.array([0, 0]), batch, np.array([0, 1])).tolist()
    [True, False]
    """
    return np.asarray(pc.and_(*(_equal(field, one, rows, other, others) for field in ("id", "source"))))


def _equal(field: str, one: Batch, rows: Ints, other: Batch, others: Ints) -> pa.Array:
    here, there = one.table.field(field).take(pa.array(rows)), other.table.field(field).take(pa.array(others))
    return pc.equal(here.cast(pa.string()), there.cast(pa.string()))
