"""Detects one definition: its program and those of its sides, over the same symbols and instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.algebra.conditions import Parameter, bindings
from penstock.algebra.node import walk
from penstock.automaton.program import Program
from penstock.engine import memory as m
from penstock.engine.code import Code
from penstock.engine.keys import Instances
from penstock.engine.layout import Tables
from penstock.engine.runner import Made, Runner
from penstock.engine.symbols import TIMER, Chosen, Delivery, Keys, Piece, joined_keys, memberships
from penstock.engine.values import Pool, constant, read_column
from penstock.errors import PatternError

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Completed:
    """Composites of one batch with the keys of the places that completed them."""

    made: Made
    keys: Keys


@dataclass(frozen=True)
class Batch:
    """The symbols of one batch: tables one after the other, with their keys, times and numbers."""

    symbols: list[Chosen]
    keys: Keys
    lo: Ints
    numbers: Ints
    values: dict[int, Any]


class Detection:
    """One program of a definition, with the sides of each ``||`` in it."""

    def __init__(self, program: Program, parameters: tuple[str, ...], code: Code, zone: str, restart: bool) -> None:
        self.program = program
        self.zone = zone
        self.parameters = parameters
        self.sides = [
            [Detection(side, parameters if _reads_parameters(side) else (), code, zone, restart) for side in sides]
            for sides in program.sides
        ]
        self.delivery = Delivery(program, parameters)
        self.runner = Runner(program, *Tables(program, parameters, code, restart).build(), zone)
        self.reads = True
        if parameters and not _binds_at_start(program, parameters):
            if self.sides:
                raise PatternError(
                    "a || inside a side that does not bind all parameters where it starts cannot be detected",
                    hint="add `attribute = $name` to the filters that start the outer side",
                )
            self.runner.replays = self.delivery.common
        else:
            self.runner.looked_back_at = _looked_back_at(program, self.delivery)

    def all(self) -> list[Detection]:
        """This and all sides inside."""
        inner = [one for sides in self.sides for side in sides for one in side.all()]
        return [self, *inner]

    def advance(
        self, batch: Batch, bits: dict[int, Ints], instances: Instances, pool: Pool, until: int, rank: int
    ) -> Completed:
        """Detects over a batch; ``rank`` is added to timers' orders to place them among other definitions'."""
        rows, owners, sets = self.delivery.deliver(batch.symbols, bits[id(self)], instances, pool)
        inner = [
            (bit, side, side.advance(batch, bits, instances, pool, until, rank))
            for number, sides in enumerate(self.sides)
            for bit, side in enumerate(sides, self._side_bit(number))
        ]
        if not inner and len(batch.symbols) == 1:
            keys = batch.keys.take(rows)
            places = np.concatenate([[0], np.cumsum(np.diff(rows) != 0)]) if len(rows) else rows
            given = _places(places, keys.instant, batch.lo[rows], owners, batch.numbers[rows], sets)
            return self._completed(batch, given, _NO_PARTS, instances, keys, places, until, rank)
        keys = joined_keys([batch.keys.take(rows), *(done.keys for _, _, done in inner)])
        order, places = keys.order()
        offset, first, last = 0, [], []
        lo, owner, mask, symbol = [batch.lo[rows]], [owners], [sets], [batch.numbers[rows]]
        side_number = [np.full(len(rows), -1, np.int64)]
        total = 0
        for bit, side, done in inner:
            made = done.made
            lo.append(made.lo)
            owner.append(made.instance if side.parameters or not self.parameters else np.full(len(made), -1))
            mask.append(np.full(len(made), 1 << bit))
            symbol.append(np.full(len(made), -1))
            side_number.append(np.arange(total, total + len(made)))
            first.append(made.offsets[:-1] + offset)
            last.append(made.offsets[1:] + offset)
            offset += len(made.symbols)
            total += len(made)
        instances_of = np.concatenate(owner).astype(np.int64)[order]
        within = np.lexsort((instances_of, places))
        order, places = order[within], places[within]
        ordered = keys.take(order)
        given = m.pack(
            {m.P_COUNT: len(order)},
            {
                m.P_PLACE: places,
                m.P_INSTANT: ordered.instant,
                m.P_LO: np.concatenate(lo)[order],
                m.P_INSTANCE: np.concatenate(owner)[order],
                m.P_SYMBOL: np.concatenate(symbol)[order],
                m.P_SETS: np.concatenate(mask)[order],
                m.P_SIDE: np.concatenate(side_number)[order],
            },
        )
        parts = m.pack(
            {},
            {
                m.SIDE_FIRST: _joined(first),
                m.SIDE_LAST: _joined(last),
                m.PART_SYMBOL: _joined([done.made.symbols for _, _, done in inner]),
                m.PART_LABELS: _joined([done.made.labels for _, _, done in inner]),
            },
        )
        return self._completed(batch, given, parts, instances, ordered, places, until, rank)

    def _completed(
        self,
        batch: Batch,
        given: Ints,
        parts: Ints,
        instances: Instances,
        keys: Keys,
        places: Ints,
        until: int,
        rank: int,
    ) -> Completed:
        known = instances.count if self.parameters else 1
        read = {m.INSTANCE_KINDS: instances.kinds[:known], m.INSTANCE_VALUES: instances.values[:known]}
        made = self.runner.advance(given, parts, batch.values | (read if self.reads else {}), known, until)
        self.runner.remember(given, until)
        return Completed(made, self._keys(made, keys, places, rank))

    def _side_bit(self, number: int) -> int:
        before = sum(len(sides) for sides in self.program.sides[:number])
        return len(self.program.sets) + before

    def _keys(self, made: Made, ordered: Keys, places: Ints, rank: int) -> Keys:
        """The keys of the places that completed composites."""
        at = np.searchsorted(places, np.maximum(made.place, 0)) if len(places) else np.zeros(len(made), np.int64)
        own = made.place < 0
        orders = np.array([timer.order for timer in self.program.timers] or [0], np.int64)
        number = orders[np.where(own, -1 - made.place, 0)] + rank
        if len(places) == 0:
            return Keys(made.hi, np.full(len(made), TIMER), number)
        kind = np.where(own, TIMER, ordered.kind[at])
        return Keys(made.hi, kind, np.where(own, number, ordered.number[at]))


class DefinitionEngine:
    """Detects one definition over batches of symbols."""

    def __init__(self, program: Program, defined: frozenset[str], zone: str, restart: bool) -> None:
        self.program = program
        self.defined = defined
        self.zone = zone
        self.code = Code(_labels(program), list(program.parameters))
        self.detection = Detection(program, program.parameters, self.code, zone, restart)
        table = self.code.table()
        for one in self.detection.all():
            one.runner.lay_out(table)
            one.reads = bool(self.code.rows)
        self.instances = Instances(len(program.parameters))
        self.symbols = 0
        self.kinds: Ints = np.zeros((0, len(self.code.columns)), np.int64)
        self.values: Ints = np.zeros((0, len(self.code.columns)), np.int64)

    def advance(self, pieces: list[Piece], pool: Pool, until: int, rank: int) -> tuple[Completed, list[Ints]]:
        """Detects over a batch; also returns, for each piece, the rows that became symbols."""
        detections = self.detection.all()
        masks = [
            [memberships(one.program.sets, piece, self.defined, self.zone) for piece in pieces] for one in detections
        ]
        rows = [np.flatnonzero(np.bitwise_or.reduce(some)) for some in zip(*masks, strict=True)]
        kept = [Chosen(piece.table, chosen) for piece, chosen in zip(pieces, rows, strict=True)]
        bits = {
            id(one): _joined([mask[chosen] for mask, chosen in zip(some, rows, strict=True)])
            for one, some in zip(detections, masks, strict=True)
        }
        total = sum(len(chosen) for chosen in kept)
        numbers = np.arange(self.symbols, self.symbols + total)
        self.symbols += total
        self._read(kept, pool)
        keys = joined_keys([piece.keys.take(chosen) for piece, chosen in zip(pieces, rows, strict=True)])
        lo = _joined([np.asarray(one.table.field("lo"))[one.rows] for one in kept])
        batch = Batch(kept, keys, lo, numbers, self._known(pool))
        return self.detection.advance(batch, bits, self.instances, pool, until, rank), rows

    def _read(self, symbols: list[Chosen], pool: Pool) -> None:
        """The values that conditions read of the symbols."""
        if not self.code.columns:
            return
        columns = list(self.code.columns)
        for chosen in symbols:
            table = chosen.table.take(chosen.rows)
            read = [read_column(column, table, self.zone, pool) for column in columns]
            self.kinds = np.concatenate([self.kinds, np.stack([kinds for kinds, _ in read], axis=1)])
            self.values = np.concatenate([self.values, np.stack([bits for _, bits in read], axis=1)])

    def _known(self, pool: Pool) -> dict[int, Any]:
        """What conditions read."""
        if not self.code.rows:
            return {}
        constants = [constant(value, pool) for value in self.code.constants]
        offsets, texts = pool.bytes()
        return {
            m.SYMBOL_BASE: 0,
            m.COLUMNS: len(self.code.columns),
            m.PARAMETERS: len(self.program.parameters),
            m.SYMBOL_KINDS: self.kinds,
            m.SYMBOL_VALUES: self.values,
            m.CONSTANT_KINDS: [kind for kind, _ in constants],
            m.CONSTANTS: [bits for _, bits in constants],
            m.POOL_OFFSETS: offsets,
            m.POOL_BYTES: texts,
        }


def _labels(program: Program) -> list[str]:
    found = dict.fromkeys(program.labels)
    for sides in program.sides:
        for side in sides:
            found |= dict.fromkeys(_labels(side))
    return list(found)


def _binds_at_start(program: Program, parameters: tuple[str, ...]) -> bool:
    """Whether every set that can start a match binds all parameters."""
    for alternative in program.start:
        for option in alternative.options:
            position = program.positions[option.position]
            if position.sides is not None:
                if not all(_binds_at_start(side, parameters) for side in program.sides[position.sides]):
                    return False
                continue
            for one in position.written if position.negated else position.label:
                if not set(parameters) <= set(bindings(program.sets[one].filter)):
                    return False
    return True


def _reads_parameters(program: Program) -> bool:
    return bool(program.parameters) or any(_reads_parameters(side) for sides in program.sides for side in sides)


def _looked_back_at(program: Program, delivery: Delivery) -> int:
    """Sets for all instances that can end a start depending on a parameter: instances yet to come must know them."""
    found = 0
    for alternative in program.start:
        for option in alternative.options:
            for one in program.positions[option.position].written:
                condition = program.sets[one].filter
                if condition is not None and any(isinstance(node, Parameter) for node in walk(condition)):
                    found |= (1 << one) & delivery.common
    return found if delivery.parameters else 0


def _places(places: Ints, instant: Ints, lo: Ints, owner: Ints, symbol: Ints, sets: Ints) -> Ints:
    """Places without composites of sides, as the kernel takes them."""
    count = len(places)
    flat = m.blank(dict.fromkeys(m.PLACE_COLUMNS, count))
    flat[m.P_COUNT] = count
    for cell, column in zip(m.PLACE_COLUMNS, (places, instant, lo, owner, symbol, sets), strict=False):
        m.table(flat, cell, count)[:] = column
    m.table(flat, m.P_SIDE, count)[:] = -1
    return flat


_NO_PARTS = m.blank({m.SIDE_FIRST: 0, m.SIDE_LAST: 0, m.PART_SYMBOL: 0, m.PART_LABELS: 0})


def _joined(arrays: list[Ints]) -> Ints:
    return np.concatenate(arrays).astype(np.int64) if arrays else np.zeros(0, np.int64)
