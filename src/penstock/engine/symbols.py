"""Symbols of a batch: which sets each is in, and the order of places in which a program meets them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.algebra.expressions import DescribableSet
from penstock.automaton.program import Program
from penstock.engine.keys import Instances
from penstock.engine.values import Pool, encode_key
from penstock.events.table import EventTable
from penstock.filters.arrow import compile_filter
from penstock.filters.split import split

Ints = NDArray[np.int64]
EVENT, TIMER = range(2)


@dataclass(frozen=True)
class Keys:
    """Where places stand in the input: by instant, events before timers, then by number."""

    instant: Ints
    kind: Ints
    number: Ints

    def order(self) -> tuple[Ints, Ints]:
        """The rows in the order of their places, and for each the rank of its place."""
        order = np.lexsort((self.number, self.kind, self.instant))
        ordered = self.take(order)
        changes = (np.diff(ordered.instant) != 0) | (np.diff(ordered.kind) != 0) | (np.diff(ordered.number) != 0)
        return order, np.concatenate([[0], np.cumsum(changes)]) if len(order) else order

    def take(self, rows: Ints) -> Keys:
        """Some of the rows."""
        return Keys(self.instant[rows], self.kind[rows], self.number[rows])


def joined_keys(some: list[Keys]) -> Keys:
    """Rows of several, one after the other."""
    parts = [[getattr(keys, name) for keys in some] for name in ("instant", "kind", "number")]
    return Keys(*(np.concatenate(part).astype(np.int64) for part in parts))


@dataclass(frozen=True)
class Piece:
    """Events of one table that a definition may meet; ``definition`` is the name of what made them, if any did."""

    table: EventTable
    keys: Keys
    definition: str | None = None


@dataclass(frozen=True)
class Chosen:
    """The rows of a table that became symbols."""

    table: EventTable
    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str, some: Ints) -> pa.Array | None:
        """A field or an attribute of some of them; ``None`` if the table has no such column."""
        column = column_of(self.table, name)
        return None if column is None else column.take(pa.array(self.rows[some]))


def memberships(sets: tuple[DescribableSet, ...], piece: Piece, defined: frozenset[str], zone: str) -> Ints:
    """For each row of a piece a mask of the sets that it is in, as far as its columns can tell."""
    bits = np.zeros(len(piece.table), np.int64)
    types = piece.table.field("type")
    names = types.dictionary.to_pylist()
    for number, one in enumerate(sets):
        if one.type is None:
            inside = np.ones(len(bits), bool)
        elif (one.type in defined) != (piece.definition is not None) or one.type not in names:
            continue
        else:
            wanted = np.array([name == one.type for name in names])
            inside = wanted[np.asarray(types.indices)]
        plain = split(one.filter).plain
        if plain is not None and inside.any():
            rows = np.flatnonzero(inside)
            mask = compile_filter(plain, zone).mask(piece.table.take(pa.array(rows)))
            inside[rows] = np.asarray(mask.fill_null(False))
        bits |= inside.astype(np.int64) << number
    return bits


class Delivery:
    """Decides which instances of a program each symbol concerns."""

    def __init__(self, program: Program, parameters: tuple[str, ...]) -> None:
        self.parameters = parameters
        self.common = 0
        self.bound: dict[tuple[str, ...], int] = {}
        for number, one in enumerate(program.sets):
            bindings = {parameter: attribute for attribute, parameter in split(one.filter).bindings}
            if parameters and all(parameter in bindings for parameter in parameters):
                key = tuple(bindings[parameter] for parameter in parameters)
                self.bound[key] = self.bound.get(key, 0) | 1 << number
            else:
                self.common |= 1 << number

    def deliver(self, symbols: list[Chosen], bits: Ints, instances: Instances, pool: Pool) -> tuple[Ints, Ints, Ints]:
        """Symbol, instance (-1: all) and sets of each delivery; ``bits`` are the sets of all symbols."""
        inside = np.flatnonzero(bits & self.common)
        rows = [inside]
        numbers = [np.full(len(inside), -1 if self.parameters else 0, np.int64)]
        masks = [bits[inside] & self.common]
        for attributes, mask in self.bound.items():
            inside = np.flatnonzero(bits & mask)
            found = self._instances(symbols, attributes, inside, instances, pool)
            known = found >= 0
            rows.append(inside[known])
            numbers.append(found[known])
            masks.append(bits[inside[known]] & (mask | self.common))
        some = [number for number in range(len(rows)) if len(rows[number])]
        if len(some) == 1:
            return rows[some[0]], numbers[some[0]], masks[some[0]]
        return _merged(np.concatenate(rows), np.concatenate(numbers), np.concatenate(masks))

    def _instances(
        self, symbols: list[Chosen], attributes: tuple[str, ...], rows: Ints, instances: Instances, pool: Pool
    ) -> Ints:
        kinds = np.zeros((len(rows), len(attributes)), np.int64)
        values = np.zeros((len(rows), len(attributes)), np.int64)
        start = 0
        for chosen in symbols:
            first, last = np.searchsorted(rows, [start, start + len(chosen)])
            for number, attribute in enumerate(attributes):
                column = chosen.column(attribute, rows[first:last] - start)
                if column is not None:
                    if pa.types.is_floating(column.type):
                        instances.floats.add(number)
                    kinds[first:last, number], values[first:last, number] = encode_key(column, pool)
            start += len(chosen)
        return instances.numbers(kinds, values)


def column_of(table: EventTable, name: str) -> pa.Array | None:
    """A field's or an attribute's column, if there is one."""
    if name in ("source", "id", "lo", "hi"):
        return table.field(name)
    return table.attribute(name) if name in table.attributes.column_names else None


def _merged(rows: Ints, numbers: Ints, masks: Ints) -> tuple[Ints, Ints, Ints]:
    """One delivery for each symbol and instance."""
    order = np.lexsort((numbers, rows))
    rows, numbers, masks = rows[order], numbers[order], masks[order]
    if len(rows) == 0:
        return rows, numbers, masks
    first = np.flatnonzero(np.concatenate([[True], (np.diff(rows) != 0) | (np.diff(numbers) != 0)]))
    return rows[first], numbers[first], np.bitwise_or.reduceat(masks, first)
