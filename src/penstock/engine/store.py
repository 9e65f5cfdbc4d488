"""What is remembered between batches: symbols by slot, and the rows and composites that they are, while needed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.engine.composed import PRIMITIVE, Composed, of_input
from penstock.engine.found import known_rows
from penstock.engine.kept import Ints, Kept
from penstock.engine.spare import SPARE
from penstock.events.table import EventTable, make_table


class Symbols:
    """What a definition's symbols are: rows of the input, or composites of another definition.

    As long as they are rows of the input that follow each other, it is not written down which.
    """

    def __init__(self) -> None:
        self.count = 0
        self._start: int | None = 0
        """The row of the first one, where they follow each other."""
        self._rows: Ints = np.empty(1024, np.int64)
        self._owners: Ints | None = None
        """Whose they are, where they are not all rows of the input."""

    def add(self, owner: int, first: int, rows: Ints) -> None:
        """More symbols, in the next slots: these rows behind the first one."""
        if not len(rows):
            return
        end = self.count + len(rows)
        if owner == PRIMITIVE and self._follow(first, rows):
            self.count = end
            return
        self._write_down()
        if owner != PRIMITIVE and self._owners is None:
            self._owners = np.full(len(self._rows), PRIMITIVE)
        if end > len(self._rows):
            self._rows = _with_room(self._rows[: self.count], 2 * end)
            self._owners = None if self._owners is None else _with_room(self._owners[: self.count], 2 * end)
        np.add(rows, first, out=self._rows[self.count : end])
        if self._owners is not None:
            self._owners[self.count : end] = owner
        self.count = end

    def _follow(self, first: int, rows: Ints) -> bool:
        """Whether these rows, which rise, follow each other and those before."""
        start = first + int(rows[0]) if not self.count and self._owners is None else self._start
        if start is None or int(rows[-1] - rows[0]) != len(rows) - 1 or first + rows[0] != start + self.count:
            return False
        self._start = start
        return True

    def _write_down(self) -> None:
        if self._start is not None:
            self._rows = _with_room(self.rows_of(PRIMITIVE), max(1024, 2 * self.count))
            self._start = None

    def put(self, owners: Ints, rows: Ints) -> None:
        """Symbols as they were saved."""
        self._owners, self._rows, self._start = owners.copy(), rows.copy(), None
        self.count = len(rows)

    def of(self, slots: Ints) -> tuple[Ints, Ints]:
        """Owner and row of each symbol."""
        owners = of_input(len(slots)) if self._owners is None else self._owners.take(slots)
        return owners, self._rows_at(slots)

    def _rows_at(self, slots: Ints) -> Ints:
        if self._start is None:
            return self._rows.take(slots)
        return slots + self._start if self._start else slots

    def rows_of(self, owner: int) -> Ints:
        """The rows of an owner that are symbols."""
        if self._start is not None:
            return np.arange(self._start, self._start + (self.count if owner == PRIMITIVE else 0))
        rows = self._rows[: self.count]
        if self._owners is None:
            return rows if owner == PRIMITIVE else rows[:0]
        own: Ints = rows[self._owners[: self.count] == owner]
        return own

    def keep(self, slots: Ints) -> None:
        """Lets go all but these, which are then in the first slots, in that order."""
        owners, self._rows = self.of(slots)
        self._owners = None if self._owners is None else owners
        self._start = None
        self.count = len(slots)


def _with_room(numbers: Ints, room: int) -> Ints:
    """The same numbers in an array of this length."""
    longer = SPARE.unwritten(room)
    longer[: len(numbers)] = numbers
    return longer


def keep_needed(events: Kept[EventTable], stores: list[Kept[Composed]], symbols: list[Symbols]) -> None:
    """Lets go the composites and events that neither a symbol nor a composite that is kept is made of."""
    for owner in range(len(stores) - 1, -1, -1):
        users = [known_rows(piece, owner) for store in stores[owner + 1 :] for piece in store.pieces]
        stores[owner].keep(_distinct([*users, *(some.rows_of(owner) for some in symbols)]))
    below = [piece.leaves for store in stores for piece in store.pieces]
    events.keep(_distinct([*below, *(some.rows_of(PRIMITIVE) for some in symbols)]))


def join_tables(tables: list[EventTable]) -> list[EventTable]:
    """Fewer tables: those that follow each other are one unless an attribute is of another kind.

    >>> tables = [make_table({"type": ["A"], "lo": [5], "hi": [5]}, {"v": pa.array([v])}) for v in (1, 2, "x")]
    >>> [len(table) for table in join_tables(tables)]
    [2, 1]
    """
    groups: list[tuple[list[EventTable], dict[str, pa.DataType]]] = []
    for table in tables:
        own = {one.name: one.type for one in table.attributes.schema if one.type != pa.null()}
        if groups and all(groups[-1][1].get(name, kind) == kind for name, kind in own.items()):
            groups[-1][0].append(table)
            groups[-1][1].update(own)
        else:
            groups.append(([table], own))
    return [_joined(*group) for group in groups]


def _joined(tables: list[EventTable], kinds: dict[str, pa.DataType]) -> EventTable:
    fields = pa.concat_tables([table.fields for table in tables]).unify_dictionaries()
    attributes = {name: pa.concat_arrays([_column(table, name, kinds[name]) for table in tables]) for name in kinds}
    columns = {name: fields[name].combine_chunks() for name in fields.column_names}
    return trimmed(make_table(columns, attributes, all(table.fixed for table in tables)))


def trimmed(table: EventTable) -> EventTable:
    """The same events, without most of the names of types and sources that are not theirs."""
    for name in ("type", "source"):
        column = table.field(name)
        if len(column.dictionary) > len(column):
            table = table.replaced(name, _trimmed(column))
    return table


def _trimmed(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same column, without the names that are not in it, so that names of old do not add up."""
    return column.dictionary.take(column.indices).dictionary_encode()


def _column(table: EventTable, name: str, kind: pa.DataType) -> pa.Array:
    if name not in table.attributes.column_names:
        return pa.nulls(len(table), kind)
    return table.attribute(name).cast(kind)


def _distinct(some: list[Ints]) -> Ints:
    """The different numbers, in order."""
    numbers = np.concatenate(some)
    if not len(numbers):
        return numbers
    first, last = numbers.min(), numbers.max()
    if last - first > 8 * len(numbers):
        return np.unique(numbers)
    there = np.zeros(last - first + 1, bool)
    there[numbers - first] = True
    found: Ints = np.flatnonzero(there) + first
    return found
