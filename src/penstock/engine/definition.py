"""Detects one definition: its program and those of its sides, over the same symbols and instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from penstock.algebra.conditions import Parameter, bindings
from penstock.algebra.node import walk
from penstock.automaton.program import Program
from penstock.engine import memory as m
from penstock.engine import vm
from penstock.engine.by_key import Keyed
from penstock.engine.code import Code
from penstock.engine.forgetting import is_living, is_named, keep_instances, shrink
from penstock.engine.growing import Growing
from penstock.engine.keys import Instances
from penstock.engine.known import Symbols
from penstock.engine.layout import Tables
from penstock.engine.memory import Ints
from penstock.engine.reclaim import numbered
from penstock.engine.runner import Ended, Made, Runner
from penstock.engine.selection import places_of
from penstock.engine.symbols import TIMER, Chosen, Delivery, Keys, Membership, Piece, Shares, joined_keys, select
from penstock.engine.values import Pool, constant, read_column
from penstock.errors import PatternError


@dataclass(frozen=True)
class Completed:
    """Composites of one batch; ``find_keys`` finds the keys of the places that completed them."""

    made: Made
    find_keys: Callable[[], Keys]

    @cached_property
    def keys(self) -> Keys:
        """The keys of those places."""
        return self.find_keys()


@dataclass(frozen=True)
class Batch:
    """The symbols of one batch: tables one after the other, with their keys, times, numbers and identities."""

    pieces: list[Piece]
    symbols: list[Chosen]
    first: int
    identities: Ints
    all_identities: Ints
    values: dict[int, int]

    @property
    def is_one_table(self) -> bool:
        """Whether the symbols are in the order of their places."""
        return len(self.symbols) == 1

    @cached_property
    def keys(self) -> Keys:
        """Where the symbols stand."""
        return _keys_of(self.pieces, self.symbols)

    @cached_property
    def lo(self) -> Ints:
        """When the symbols begin."""
        return _joined([np.asarray(one.table.field("lo"))[one.rows] for one in self.symbols])


@dataclass(frozen=True)
class Choice:
    """How a pattern is detected, beyond what it says: zone, context, limits, and whether ended runs are reported."""

    zone: str = "UTC"
    restart: bool = False
    context: str = "continuous"
    runs_per_instance: int | None = None
    age: int | None = None
    runs: int | None = None
    incomplete: bool = False

    def counts(self, is_side: bool) -> dict[int, int]:
        """As the kernel takes it; only a definition's own runs are reported."""
        return {
            m.CONTEXT: m.CONTEXTS.index(self.context),
            m.MOST_RUNS: m.FAR if self.runs_per_instance is None else self.runs_per_instance,
            m.AGE: -1 if self.age is None else self.age,
            m.MOST_LIVE: m.FAR if self.runs is None else self.runs,
            m.REPORTS: int(self.incomplete and not is_side),
        }


class Detection:
    """One program of a definition, with the sides of each ``||`` in it."""

    def __init__(self, program: Program, parameters: tuple[str, ...], code: Code, choice: Choice) -> None:
        self.program = program
        self.parameters = parameters
        self.sides = [
            [Detection(side, parameters if _reads_parameters(side) else (), code, choice) for side in sides]
            for sides in program.sides
        ]
        self.delivery = Delivery(program, parameters)
        self.runner = Runner(program, Tables(program, parameters, code, choice.restart).build(), choice.zone)
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
        self, batch: Batch, shares: dict[int, Shares], instances: Instances, until: int, rank: int
    ) -> Completed:
        """Detects over a batch; ``rank`` is added to timers' orders to place them among other definitions'."""
        rows, owners, sets = shares[id(self)]
        inner = [
            (bit, side, side.advance(batch, shares, instances, until, rank))
            for number, sides in enumerate(self.sides)
            for bit, side in enumerate(sides, self._side_bit(number))
        ]
        if not inner and batch.is_one_table:
            identity = int(batch.identities[0]) if len(batch.identities) else 0
            chosen = batch.symbols[0]
            instants, begins = (np.asarray(chosen.table.field(name)) for name in ("hi", "lo"))
            given = places_of(rows, chosen.rows, instants, begins, owners, sets, batch.first, identity)
            return self.completed(batch, given, _NO_PARTS, instances, lambda: batch.keys.take(rows), until, rank)
        keys = joined_keys([batch.keys.take(rows), *(done.keys for _, _, done in inner)])
        order, places = keys.order()
        lo, owner, mask, symbol = [batch.lo[rows]], [owners], [sets], [rows + batch.first]
        identities = [batch.identities[rows]]
        side_number = [np.full(len(rows), -1, np.int64)]
        total = 0
        for bit, side, done in inner:
            made = done.made
            lo.append(made.lo)
            owner.append(made.instance if side.parameters or not self.parameters else np.full(len(made), -1))
            mask.append(np.full(len(made), 1 << bit))
            symbol.append(np.full(len(made), -1))
            identities.append(np.full(len(made), -1))
            side_number.append(np.arange(total, total + len(made)))
            total += len(made)
        instances_of = _joined(owner)[order]
        within = np.lexsort((instances_of, places))
        order, places = order[within], places[within]
        ordered = keys.take(order)
        given = np.stack(
            [
                places,
                ordered.instant,
                *(_joined(column)[order] for column in (lo, owner, symbol, mask, side_number, identities)),
            ],
            axis=1,
        )
        made_parts = _side_parts([done.made for _, _, done in inner], batch.all_identities)
        return self.completed(batch, given, made_parts, instances, lambda: ordered, until, rank)

    def completed(
        self,
        batch: Batch,
        given: Ints,
        parts: Ints,
        instances: Instances,
        keys: Callable[[], Keys],
        until: int,
        rank: int,
    ) -> Completed:
        """Detects over places that are laid out."""
        known = instances.count if self.parameters else 1
        read = {m.INSTANCE_KINDS: instances.kinds.ctypes.data, m.INSTANCE_VALUES: instances.values.ctypes.data}
        made = self.runner.advance(given, parts, batch.values | (read if self.reads else {}), known, until)
        self.runner.remember(given, until)
        return Completed(made, lambda: self._keys(made, keys(), given[:, m.PLACE], rank))

    def advance_by(self, keyed: Keyed, batch: Batch, instances: Instances, until: int, rank: int) -> Completed:
        """Detects over rows that a column shares out."""
        if not self.runner.takes_keyed:
            given = keyed.places(instances)
            return self.completed(batch, given, _NO_PARTS, instances, lambda: batch.keys, until, rank)
        made = self.runner.advance_by_key(keyed, _NO_PARTS, instances, batch.values, until)
        return Completed(made, lambda: self._keys(made, batch.keys, np.arange(len(keyed)), rank))

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

    def __init__(self, program: Program, defined: frozenset[str], choice: Choice, pool: Pool) -> None:
        self.program = program
        self.zone = choice.zone
        self.code = Code(_labels(program), list(program.parameters))
        self.detection = Detection(program, program.parameters, self.code, choice)
        self.detections = self.detection.all()
        self.members = [Membership(one.program.sets, defined, choice.zone) for one in self.detections]
        self.choice = choice
        self._lay_out()
        self.unites = choice.context == "cumulative"
        self.instances = Instances(len(program.parameters))
        self.symbols = Symbols(len(self.code.columns))
        self.constant_kinds, self.constants = Growing(), Growing()
        for kind, bits in (constant(value, pool) for value in self.code.constants):
            self.constant_kinds.append(np.array([kind], np.int64))
            self.constants.append(np.array([bits], np.int64))

    def _lay_out(self) -> None:
        table = self.code.table()
        for one in self.detections:
            one.runner.lay_out(table, self.choice.counts(is_side=one is not self.detection))
            one.reads = bool(self.code.rows)

    def clear(self) -> None:
        """Forgets all instances, runs and symbols."""
        self._lay_out()
        floats = self.instances.floats
        self.instances = Instances(len(self.program.parameters))
        self.instances.floats = floats
        self.symbols = Symbols(len(self.code.columns))

    def concerned(self, pieces: list[Piece], pool: Pool) -> list[tuple[Ints, Ints]] | None:
        """Kinds and values of the keys of the instances that events concern; nothing if they concern all."""
        found = []
        for piece in pieces:
            chosen, masks = select(self.members, piece)
            for one, bits in zip(self.detections, masks, strict=True):
                if not one.parameters:
                    if self.program.parameters and bits.any():  # what this side completes is for all instances
                        return None
                    continue
                if (bits & one.delivery.common).any():
                    return None
                found += one.delivery.keys_of(chosen, bits, self.instances, pool)
        return found

    def advance(self, pieces: list[Piece], pool: Pool, until: int, rank: int) -> tuple[Completed, list[Ints]]:
        """Detects over a batch; also returns, for each piece, the rows that became symbols."""
        key = self._plain_key(pieces)
        if key is not None:
            return self._advance_by(key, pieces[0], pool, until, rank)
        selected = [select(self.members, piece) for piece in pieces]
        kept = [chosen for chosen, _ in selected]
        if not any(map(len, kept)) and not any(one.runner.is_due(until) for one in self.detections):
            return self._skip(until), [chosen.rows for chosen in kept]
        bits = {id(one): _joined([masks[n] for _, masks in selected]) for n, one in enumerate(self.detections)}
        first = self.symbols.count
        ranks = _ranks(_keys_of(pieces, kept)) if len(pieces) > 1 else np.arange(sum(map(len, kept)))
        identities = self.symbols.add(ranks, self._read(kept, pool))
        batch = Batch(pieces, kept, first, identities, self.symbols.identities.column, self._known(pool))
        shares = {  # before anyone goes on, so that all know the same instances
            id(one): one.delivery.deliver(batch.symbols, bits[id(one)], self.instances, pool) for one in self.detections
        }
        completed = self.detection.advance(batch, shares, self.instances, until, rank)
        return completed, [chosen.rows for chosen in kept]

    def _plain_key(self, pieces: list[Piece]) -> Ints | None:
        """The column whose whole numbers say which instance a row concerns, if that and its type is all that counts."""
        attribute = self.detection.delivery.only_attribute
        if attribute is None or len(pieces) != 1 or len(self.detections) > 1 or self.code.columns:
            return None
        table = pieces[0].table
        if self.members[0].filters or attribute not in table.attributes.column_names:
            return None
        column = table.attribute(attribute)
        is_plain = column.type == pa.int64() and not column.null_count and self.instances.takes_one(vm.INTEGER)
        return np.asarray(column) if is_plain else None

    def _advance_by(self, key: Ints, piece: Piece, pool: Pool, until: int, rank: int) -> tuple[Completed, list[Ints]]:
        """The same for events whose instances a column of numbers says, in fewer passes."""
        table, masks = piece.table, self.members[0].by_type(piece)
        codes = np.asarray(table.field("type").indices)
        rows = piece.rows_of(masks != 0)
        if not len(rows) and not self.detection.runner.is_due(until):
            return self._skip(until), [rows]
        starts = self.symbols.count, self.symbols.add_next(len(rows))
        identities = self.symbols.identities.column
        batch = Batch([piece], [Chosen(table, rows)], starts[0], identities, identities, self._known(pool))
        stamps = np.asarray(table.field("lo")), np.asarray(table.field("hi"))
        self.instances.take_one(vm.INTEGER)
        keyed = Keyed(rows, codes, masks, key, stamps, starts)
        return self.detection.advance_by(keyed, batch, self.instances, until, rank), [rows]

    def _skip(self, until: int) -> Completed:
        """Time goes on, and nothing happens."""
        [made, *_] = [one.runner.skip(until) for one in self.detections]
        return Completed(made, lambda: joined_keys([]))

    def _read(self, symbols: list[Chosen], pool: Pool) -> tuple[Ints, Ints]:
        """Kinds and bits of the values that conditions read of the symbols."""
        columns = list(self.code.columns)
        shape = (sum(len(chosen) for chosen in symbols), len(columns))
        kinds, bits = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        start = 0
        for chosen in symbols:
            end = start + len(chosen)
            for number, column in enumerate(columns):
                kinds[start:end, number], bits[start:end, number] = read_column(column, chosen, self.zone, pool)
            start = end
        return kinds, bits

    def _known(self, pool: Pool) -> dict[int, int]:
        """What conditions read."""
        symbols = self.symbols
        identities = {m.IDENTITIES: symbols.identities.address} if self.unites else {}
        if not self.code.rows:
            return identities
        return identities | {
            m.COLUMNS: len(self.code.columns),
            m.PARAMETERS: len(self.program.parameters),
            m.SYMBOL_KINDS: symbols.kinds.address,
            m.SYMBOL_VALUES: symbols.values.address,
            m.CONSTANT_KINDS: self.constant_kinds.address,
            m.CONSTANTS: self.constants.address,
            m.POOL_OFFSETS: pool.offsets.address,
            m.POOL_BYTES: pool.bytes.address,
        }

    @property
    def selects(self) -> int:
        """How many values its composites select."""
        return len(self.program.selected)

    def let_go(self, now: int) -> None:
        """Ends the runs that can only come to nothing at ``now`` and later."""
        self.detection.runner.tidy(now)

    def ended(self) -> Ended:
        """The runs that came to nothing since this was last asked."""
        return self.detection.runner.ended()

    def finish(self, now: int) -> None:
        """The input is over."""
        for one in self.detections:
            one.runner.finish(now)

    def compacted(self) -> Ints:
        """Forgets symbols that no run holds; returns the old numbers of those that are kept."""
        runners = [one.runner for one in self.detections]
        for runner in runners:
            if runner.memory.reports:  # who ends between batches would not be reported
                runner.drop_nodes()
            else:
                runner.tidy(runner.memory.live(m.NOW))
        held = np.zeros(self.symbols.count, np.int64)
        for runner in runners:
            held[runner.held()] = 1
        kept: Ints
        kept, numbers = numbered(held)
        for runner in runners:
            runner.renumber(numbers)
            shrink(runner.memory)
        self.symbols.keep(kept, self.instances.count)
        return kept

    def keyed(self) -> list[Runner]:
        """Those of its programs that have an instance for each key."""
        return [one.runner for one in self.detections if one.parameters]

    def needed(self) -> Ints:
        """Number 0, and the instances that hold something or are named somewhere."""
        needed = is_living(self.keyed(), self.instances.count) | is_named(self.keyed(), self.instances.count)
        needed[0] = True
        return np.flatnonzero(needed)

    def keep_instances(self, kept: Ints) -> None:
        """Forgets all instances but these."""
        for runner in self.keyed():
            keep_instances(runner.memory, kept)
        self.instances.keep(kept)

    def said(self) -> list[tuple[Ints, Ints]]:
        """Kinds and bits of all values that are kept, to be changed where they are."""
        known, symbols, count = self.instances, self.symbols, self.instances.count
        return [
            (known.kinds[:count], known.values[:count]),
            (symbols.kinds.rows, symbols.values.rows),
            (self.constant_kinds.rows, self.constants.rows),
        ]


def _keys_of(pieces: list[Piece], chosen: list[Chosen]) -> Keys:
    """The keys of the chosen rows of pieces."""
    return joined_keys([piece.keys_of(some.rows) for piece, some in zip(pieces, chosen, strict=True)])


def _ranks(keys: Keys) -> Ints:
    """The rank of each row in the order of the input."""
    order = np.lexsort((keys.number, keys.kind, keys.instant))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _side_parts(made: list[Made], identities: Ints) -> Ints:
    """The parts of sides' composites, as the kernel takes them."""
    ends = np.cumsum([0, *(len(one.symbols) for one in made)])
    symbols = _joined([one.symbols for one in made])
    return m.pack(
        {},
        {
            m.SIDE_FIRST: _joined([one.offsets[:-1] + start for one, start in zip(made, ends, strict=False)]),
            m.SIDE_LAST: _joined([one.offsets[1:] + start for one, start in zip(made, ends, strict=False)]),
            m.PART_SYMBOL: symbols,
            m.PART_LABELS: _joined([one.labels for one in made]),
            m.PART_IDENTITY: identities[symbols],
        },
    )


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


_NO_PARTS = m.blank(dict.fromkeys(range(m.PART_IDENTITY + 1), 0))


def _joined(arrays: list[Ints]) -> Ints:
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays).astype(np.int64) if arrays else np.zeros(0, np.int64)
