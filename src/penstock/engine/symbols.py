"""Symbols of a batch: which sets each is in, and the order of places in which a program meets them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.algebra.expressions import DescribableSet
from penstock.automaton.program import Program
from penstock.engine.keys import Instances
from penstock.engine.memory import Ints
from penstock.engine.pool import Pool
from penstock.engine.selection import Picked, choose, masks_of
from penstock.engine.values import encode_key
from penstock.events.table import EventTable
from penstock.filters.arrow import ColumnFilter, compile_filter
from penstock.filters.split import split

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

    def among(self) -> Ints:
        """For each row how many before it stand at the same place.

        >>> Keys(np.array([5, 5, 5]), np.array([0, 0, 0]), np.array([7, 8, 7])).among().tolist()
        [0, 0, 1]
        """
        order, places = self.order()
        numbers = np.empty(len(order), np.int64)
        numbers[order] = np.arange(len(order)) - np.searchsorted(places, places)
        return numbers

    def take(self, rows: Ints) -> Keys:
        """Some of the rows."""
        return Keys(self.instant[rows], self.kind[rows], self.number[rows])


NO_KEYS = Keys(*(np.zeros(0, np.int64),) * 3)


def joined_keys(some: list[Keys]) -> Keys:
    """Rows of several, one after the other."""
    if len(some) == 1:
        return some[0]
    parts = [[getattr(keys, name) for keys in some] for name in ("instant", "kind", "number")]
    return Keys(*(np.concatenate(part).astype(np.int64) for part in parts))


@dataclass(frozen=True)
class Piece:
    """Events of one table that a definition may meet; ``definition`` is the name of what made them, if any did.

    Without keys they are of the input, and stand where their stamps and numbers say. Their numbers begin at ``start``;
    of composites, ``made`` says which of those from there on they are. ``picked`` are rows that were looked for before.
    """

    table: EventTable
    start: int
    keys: Keys | None = None
    made: Ints | None = None
    definition: str | None = None
    picked: Picked | None = None

    def rows_of(self, wanted: NDArray[np.bool_]) -> Ints:
        """The rows whose type is wanted, which is said of each name in the dictionary of types."""
        if self.picked is not None and wanted.tobytes() == self.picked.wanted.tobytes():
            return self.picked.rows
        rows: Ints = choose(np.asarray(self.table.given("type").indices), wanted)
        return rows

    def keys_of(self, rows: Ints) -> Keys:
        """The keys of some rows."""
        if self.keys is not None:
            return self.keys.take(rows)
        return Keys(self.table.numbers("hi")[rows], np.full(len(rows), EVENT), self.start + rows)

    def behind_start(self, rows: Ints) -> Ints:
        """The numbers of some rows, counted from the first one."""
        return rows if self.made is None else self.made[rows]


@dataclass(frozen=True)
class Chosen:
    """Some rows of a table; a column is taken when it is read."""

    table: EventTable
    rows: Ints

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def attributes(self) -> pa.Table:
        """A table that says which attributes there are."""
        return self.table.attributes

    def field(self, name: str) -> pa.Array:
        """A field's column."""
        return self._taken(self.table.field(name))

    def attribute(self, name: str) -> pa.Array:
        """An attribute's column."""
        return self._taken(self.table.attribute(name))

    def _taken(self, column: pa.Array) -> pa.Array:
        """These rows, which rise, of a column."""
        return column if len(self.rows) == len(column) else column.take(pa.array(self.rows))

    def only(self, some: Ints) -> Chosen:
        """Some of these rows."""
        return Chosen(self.table, self.rows[some])

    def column(self, name: str) -> pa.Array | None:
        """A field or an attribute; ``None`` if the table has no such column."""
        if name in ("source", "id", "lo", "hi"):
            return self.field(name)
        return self.attribute(name) if name in self.attributes.column_names else None


class Membership:
    """Decides which rows are in which sets of a program, as far as columns can tell."""

    def __init__(self, sets: tuple[DescribableSet, ...], defined: frozenset[str], zone: str) -> None:
        self.sets = sets
        self.any_type = sum(1 << number for number, one in enumerate(sets) if one.type is None)
        self.by_name: tuple[dict[str, int], dict[str, int]] = ({}, {})
        for number, one in enumerate(sets):
            if one.type is not None:
                masks = self.by_name[one.type in defined]
                masks[one.type] = masks.get(one.type, self.any_type) | 1 << number
        self.filters: dict[int, ColumnFilter] = {}
        for number, one in enumerate(sets):
            plain = split(one.filter).plain
            if plain is not None:
                self.filters[number] = compile_filter(plain, zone)

    def by_type(self, piece: Piece) -> Ints:
        """For each name in a piece's dictionary of types a mask of the sets that events of the type may be in."""
        masks = self.by_name[piece.definition is not None]
        names = piece.table.given("type").dictionary.to_pylist()
        return np.array([masks.get(name, self.any_type) for name in names] or [0], np.int64)

    def filtered(self, bits: Ints, chosen: Chosen) -> Ints:
        """The masks of rows without the sets whose filters they do not pass."""
        for number, condition in self.filters.items():
            inside = np.flatnonzero((bits >> number) & 1)
            if len(inside):
                passed = np.asarray(condition.mask(chosen.only(inside)).fill_null(False))
                bits[inside[~passed]] &= ~(1 << number)
        return bits


def select(members: list[Membership], piece: Piece) -> tuple[Chosen, list[Ints]]:
    """The rows of a piece that are in any set of some programs, and for each program the rows' masks."""
    codes = np.asarray(piece.table.given("type").indices)
    by_type = [one.by_type(piece) for one in members]
    rows = piece.rows_of(np.bitwise_or.reduce(by_type) != 0)
    chosen = Chosen(piece.table, rows)
    bits = [one.filtered(masks_of(codes, rows, masks), chosen) for one, masks in zip(members, by_type, strict=True)]
    if any(one.filters for one in members):
        kept = np.flatnonzero(np.bitwise_or.reduce(bits))
        return chosen.only(kept), [mask[kept] for mask in bits]
    return chosen, bits


def rows_met(members: list[Membership], piece: Piece) -> tuple[NDArray[np.bool_], Ints]:
    """Which names in a piece's dictionary of types programs may meet, and the rows that are in any of their sets."""
    wanted = np.bitwise_or.reduce([one.by_type(piece) for one in members]) != 0
    if any(one.filters for one in members):
        return wanted, select(members, piece)[0].rows
    return wanted, piece.rows_of(wanted)


Shares = tuple[Ints, Ints, Ints]
"""Symbols, the instance that each concerns (-1: all), and the sets that it is in."""


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

    @property
    def only_attribute(self) -> str | None:
        """The attribute that says of each symbol which one instance it concerns, if it is always the same one."""
        if self.common or len(self.bound) != 1:
            return None
        [attributes] = self.bound
        return attributes[0] if len(attributes) == 1 else None

    def deliver(self, symbols: list[Chosen], bits: Ints, instances: Instances, pool: Pool) -> Shares:
        """Symbol, instance (-1: all) and sets of each delivery; ``bits`` are the sets of all symbols."""
        if len(self.bound) == 1 and not self.common and bits.all():
            return self._deliver_all(symbols, bits, instances, pool)
        rows, numbers, masks = [], [], []
        if self.common:
            inside = np.flatnonzero(bits & self.common)
            rows.append(inside)
            numbers.append(np.full(len(inside), -1 if self.parameters else 0, np.int64))
            masks.append(bits[inside] & self.common)
        for attributes, mask in self.bound.items():
            inside = np.flatnonzero(bits & mask)
            found = self._instances(symbols, attributes, inside, instances, pool)
            if len(found) and int(found.min()) < 0:
                known = found >= 0
                inside, found = inside[known], found[known]
            rows.append(inside)
            numbers.append(found)
            masks.append(bits[inside] & (mask | self.common))
        some = [number for number in range(len(rows)) if len(rows[number])]
        if len(some) == 1:
            return rows[some[0]], numbers[some[0]], masks[some[0]]
        return _merged(_together(rows), _together(numbers), _together(masks))

    def keys_of(self, chosen: Chosen, bits: Ints, instances: Instances, pool: Pool) -> list[tuple[Ints, Ints]]:
        """Kinds and values of the keys of the instances that rows are for, one for each way to say a key."""
        found = []
        for attributes, mask in self.bound.items():
            some = chosen.only(np.flatnonzero(bits & mask))
            key = self._key(some, attributes, instances, pool)
            kinds = np.stack([np.broadcast_to(kind, len(some)) for kind, _ in key], axis=1)
            found.append((kinds, np.stack([values for _, values in key], axis=1)))
        return found

    def _deliver_all(self, symbols: list[Chosen], bits: Ints, instances: Instances, pool: Pool) -> Shares:
        """The same where each symbol is for one instance."""
        (attributes,) = self.bound
        found = [instances.numbers(self._key(chosen, attributes, instances, pool)) for chosen in symbols]
        numbers = found[0] if len(found) == 1 else _together(found)
        rows = np.arange(len(bits))
        if len(numbers) and int(numbers.min()) < 0:
            known = np.flatnonzero(numbers >= 0)
            return known, numbers[known], bits[known]
        return rows, numbers, bits

    def _instances(
        self, symbols: list[Chosen], attributes: tuple[str, ...], rows: Ints, instances: Instances, pool: Pool
    ) -> Ints:
        if len(symbols) == 1:
            return instances.numbers(self._key(symbols[0].only(rows), attributes, instances, pool))
        found = np.empty(len(rows), np.int64)
        start = 0
        for chosen in symbols:
            first, last = np.searchsorted(rows, [start, start + len(chosen)])
            some = chosen.only(rows[first:last] - start)
            found[first:last] = instances.numbers(self._key(some, attributes, instances, pool))
            start += len(chosen)
        return found

    @staticmethod
    def _key(
        chosen: Chosen, attributes: tuple[str, ...], instances: Instances, pool: Pool
    ) -> list[tuple[Ints | int, Ints]]:
        """Kinds and bits of each parameter's values; one kind where all have the same."""
        key: list[tuple[Ints | int, Ints]] = []
        for number, attribute in enumerate(attributes):
            column = chosen.column(attribute)
            if column is None:
                key.append((0, np.zeros(len(chosen), np.int64)))
                continue
            if pa.types.is_floating(column.type):
                instances.floats.add(number)
            key.append(encode_key(column, pool))
        return key


def _together(arrays: list[Ints]) -> Ints:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)


def _merged(rows: Ints, numbers: Ints, masks: Ints) -> Shares:
    """One delivery for each symbol and instance."""
    order = np.lexsort((numbers, rows))
    rows, numbers, masks = rows[order], numbers[order], masks[order]
    if len(rows) == 0:
        return rows, numbers, masks
    first = np.flatnonzero(np.concatenate([[True], (np.diff(rows) != 0) | (np.diff(numbers) != 0)]))
    return rows[first], numbers[first], np.bitwise_or.reduceat(masks, first)
