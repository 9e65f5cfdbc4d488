"""Composites that ordered input may have changed, where events are consumed on arrival.

A composite is in doubt if an event that its definition could have met, for the values of its parameters, has its place
inside it and came too late for that: after the composite was given, or after a part of it that comes later. Ordered
input would have offered the event before. It may have ended the run, or been matched in the place of another. So is a
composite of which a part is in doubt.

Only ordered detection beside would tell which of them it would have changed indeed, and which composites it would have
given besides; a composite that such a missing one would have changed is not known either. Nor is what is older than
what is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine import vm
from penstock.engine.composed import PRIMITIVE, Composed
from penstock.engine.definition import DefinitionEngine
from penstock.engine.engine import Engine
from penstock.engine.found import Found
from penstock.engine.kept import Ints, Kept
from penstock.engine.symbols import Piece, select
from penstock.events.table import EventTable
from penstock.events.texts import Words, mixed

REMEMBERED = 1 << 16
"""So many composites and late events of each definition are remembered."""
_ALL = np.uint64(0)
"""Stands for all values of the parameters."""


@dataclass(frozen=True)
class Places:
    """Rows by key: instants of late events with their numbers, or composites from ``lo`` to ``hi`` with theirs."""

    keys: Words
    lo: Ints
    hi: Ints
    numbers: Ints

    def __len__(self) -> int:
        return len(self.keys)

    def where(self, rows: Ints | NDArray[np.bool_]) -> Places:
        """Some of them."""
        return Places(self.keys[rows], self.lo[rows], self.hi[rows], self.numbers[rows])

    def with_more(self, more: Places) -> Places:
        """These and more, of which the last are remembered."""
        pairs = ((getattr(self, name), getattr(more, name)) for name in ("keys", "lo", "hi", "numbers"))
        return Places(*(np.concatenate(pair)[-REMEMBERED:] for pair in pairs))


_NO_NUMBERS: Ints = np.zeros(0, np.int64)
_NO_PARTS: Ints = np.zeros((0, 3), np.int64)
_NONE = Places(np.zeros(0, np.uint64), *(np.zeros(0, np.int64),) * 3)


def hit(composites: Places, late: Places) -> NDArray[np.bool_]:
    """Which composites have a late event of their key inside: not before they begin, and before they end.

    >>> one = Places(np.array([7], np.uint64), np.array([3]), np.array([9]), np.array([0]))
    >>> inside, after = (Places(np.array([7], np.uint64), *(np.array([at]),) * 3) for at in (3, 9))
    >>> hit(one, inside).tolist(), hit(one, after).tolist()
    ([True], [False])
    """
    found = np.zeros(len(composites), bool)
    for keys in (composites.keys, np.full(len(composites), _ALL)):
        order = np.lexsort((late.hi, late.keys))
        known, instants = late.keys[order], late.hi[order]
        ends, groups = np.unique(instants), np.unique(known)
        width = len(ends) + 1
        codes = np.searchsorted(groups, known) * width + np.searchsorted(ends, instants)
        group = np.minimum(np.searchsorted(groups, keys), max(len(groups) - 1, 0))
        at = np.searchsorted(codes, group * width + np.searchsorted(ends, composites.lo))
        there = at < len(late)
        at = np.minimum(at, max(len(late) - 1, 0))
        found |= there & (known[at] == keys) & (instants[at] < composites.hi) if len(late) else False
    return found


class Doubts:
    """Counts the composites that ordered input may have changed, each once."""

    def __init__(self, engine: Engine) -> None:
        self.count = 0
        self._engine = engine
        self._given = [_NONE] * len(engine.engines)
        self._late = [_NONE] * len(engine.engines)
        self._doubted = [_NO_NUMBERS] * len(engine.engines)
        self._parts = [_NO_PARTS] * len(engine.engines)
        self._columns = [
            [composer.attributes.index(name) for name in one.program.parameters]
            if not {chosen.name for chosen in one.program.selected} & set(one.program.parameters)
            else []
            for one, composer in zip(engine.engines, engine.composers, strict=True)
        ]

    def meet(self, table: EventTable, rows: Ints) -> None:
        """These rows of a table that is fed next came behind others that were consumed before."""
        if not len(rows):
            return
        behind, first = table.take(rows), self._engine.events.end
        ends = behind.numbers("hi")
        for number, engine in enumerate(self._engine.engines):
            chosen, keys = self._concerned(number, engine, behind)
            late = Places(keys, ends[chosen], ends[chosen], first + rows[chosen])
            given = self._given[number]
            is_hit = hit(given, late) | np.isin(given.numbers, self._with_doubted_parts(self._parts[number]))
            self._doubt(number, given.numbers[is_hit])
            self._given[number] = given.where(~is_hit)
            self._late[number] = self._late[number].with_more(late)

    def _doubt(self, number: int, composites: Ints) -> None:
        """Counts composites of a definition, and remembers them for those that they are parts of."""
        self.count += len(composites)
        self._doubted[number] = np.concatenate([self._doubted[number], composites])[-REMEMBERED:]

    def _with_doubted_parts(self, parts: Ints) -> Ints:
        """The composites with a part in doubt; a row of parts has a composite, the owner of its part, and the part."""
        is_doubted = np.zeros(len(parts), bool)
        for owner in np.unique(parts[:, 1]).tolist():
            is_doubted |= (parts[:, 1] == owner) & np.isin(parts[:, 2], self._doubted[owner])
        composites: Ints = parts[is_doubted, 0]
        return composites

    def _concerned(self, number: int, engine: DefinitionEngine, table: EventTable) -> tuple[Ints, Words]:
        """The rows that are in a set of a definition, and for each the key of the instance that it concerns."""
        piece = Piece(table, 0)
        chosen, masks = select(engine.members, piece)
        keys = np.full(len(chosen), _ALL)
        if not self._columns[number]:
            return chosen.rows, keys
        for one, bits in zip(engine.detections, masks, strict=True):
            found = one.delivery.keys_of(chosen, bits, engine.instances, self._engine.pool) if one.parameters else []
            for mask, (kinds, values) in zip(one.delivery.bound.values(), found, strict=False):
                keys[(bits & mask) != 0] = hashed_keys(kinds, self._engine.texts.said(kinds, values))
        for one, bits in zip(engine.detections, masks, strict=True):
            keys[(bits & (one.delivery.common if one.parameters else -1)) != 0] = _ALL
        return chosen.rows, keys

    def give(self, found: Found) -> None:
        """Composites were given."""
        for number, definition in enumerate(found.definitions):
            made = definition.composites
            if not len(made):
                continue
            numbers = definition.known.end - len(made) + np.arange(len(made))
            fresh = Places(self._keys(number, made), made.lo, made.hi, numbers)
            parts = _parts(made, numbers)
            known = ~np.isin(numbers, self._with_doubted_parts(parts))
            for row in np.flatnonzero(known & hit(fresh, self._late[number])).tolist():
                if self._is_behind(fresh.where(np.array([row])), made, row, self._late[number], found.events):
                    known[row] = False
            self._doubt(number, numbers[~known])
            self._given[number] = self._given[number].with_more(fresh.where(known))
            self._parts[number] = np.concatenate([self._parts[number], parts])[-REMEMBERED:]

    def _keys(self, number: int, made: Composed) -> Words:
        """The keys of composites, as those of events."""
        columns = self._columns[number]
        if not columns:
            return np.full(len(made), _ALL)
        kinds, bits = made.kinds[:, columns].astype(np.int64), made.bits[:, columns].copy()
        values = bits.view(np.float64)
        whole = (kinds == vm.FLOAT) & (np.floor(values) == values) & (np.abs(values) < 2.0**62)
        bits[whole] = values[whole].astype(np.int64)
        kinds[whole] = vm.INTEGER
        return hashed_keys(kinds, self._engine.texts.said(kinds, bits))

    @staticmethod
    def _is_behind(one: Places, made: Composed, row: int, late: Places, events: Kept[EventTable]) -> bool:
        """Whether a late event inside a composite came after a part of it that ends later."""
        leaves = made.leaves[made.leaf_offsets[row] : made.leaf_offsets[row + 1]]
        ends = np.empty(len(leaves), np.int64)
        for table, where, rows in events.locate(leaves):
            ends[where] = table.numbers("hi")[rows]
        inside = late.where(((late.keys == one.keys) | (late.keys == _ALL)) & (late.hi >= one.lo) & (late.hi < one.hi))
        before = leaves[:, None] < inside.numbers[None, :]
        return bool((before & (ends[:, None] > inside.hi[None, :])).any())


def _parts(made: Composed, numbers: Ints) -> Ints:
    """For each part of composites that is a composite itself: whose part it is, its owner, and its number there."""
    whose = np.repeat(numbers, np.diff(made.offsets))
    parts: Ints = np.column_stack([whose, made.owners, made.rows])[made.owners != PRIMITIVE]
    return parts


def hashed_keys(kinds: Ints, bits: Ints) -> Words:
    """One number for each row of values: equal for equal ones, and hardly ever for others.

    >>> one, two = hashed_keys(np.array([[2], [2]]), np.array([[5], [6]])).tolist()
    >>> one == two
    False
    """
    found = np.ones(len(kinds), np.uint64)
    for column in range(kinds.shape[1]):
        found = mixed(mixed(found, kinds[:, column].astype(np.uint64)), bits[:, column].astype(np.uint64))
    return found
