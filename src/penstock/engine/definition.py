"""Detects one definition: its symbols and instances, and what its programs make of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.engine import memory as m
from penstock.engine import vm
from penstock.engine.by_key import Keyed
from penstock.engine.forgetting import Bools, is_living, is_named, keep_instances, shrink
from penstock.engine.growing import Growing
from penstock.engine.kept import joined
from penstock.engine.keys import Instances
from penstock.engine.known import Symbols
from penstock.engine.made import Ended
from penstock.engine.memory import Ints
from penstock.engine.nesting import Batch, Completed, Detection, keys_of
from penstock.engine.pool import Pool
from penstock.engine.prepared import Prepared
from penstock.engine.runner import Runner
from penstock.engine.symbols import NO_KEYS, Chosen, Keys, Piece, select
from penstock.engine.values import constant, has_texts, read_column

UNASKED = np.zeros(0, np.int64)
"""Identities, where a definition has no sides and nobody asks for them."""


class DefinitionEngine:
    """Detects one definition over batches of symbols."""

    def __init__(self, prepared: Prepared, pool: Pool) -> None:
        self.program = prepared.program
        self.choice = prepared.choice
        self.zone = prepared.choice.zone
        self.code = prepared.code
        self.members = prepared.members
        self.detection = Detection(prepared.shape, self.zone)
        self.detections = self.detection.all()
        self._layouts = prepared.arrays
        self._begin()
        self.unites = self.choice.context == "cumulative"
        self.instances = Instances(len(self.program.parameters))
        self.symbols = Symbols(len(self.code.columns))
        self.constant_kinds, self.constants = Growing(), Growing()
        for kind, bits in (constant(value, pool) for value in self.code.constants):
            self.constant_kinds.append(np.array([kind], np.int64))
            self.constants.append(np.array([bits], np.int64))

    def _begin(self) -> None:
        for one, layout in zip(self.detections, self._layouts, strict=True):
            one.runner.begin(layout)
            one.reads = bool(self.code.rows)

    def clear(self) -> None:
        """Forgets all instances, runs and symbols."""
        self._begin()
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
        column = self._plain_key(pieces)
        if column is not None:
            return self._advance_by(column, pieces[0], pool, until, rank)
        selected = [select(self.members, piece) for piece in pieces]
        kept = [chosen for chosen, _ in selected]
        if not any(map(len, kept)) and not any(one.runner.is_due(until) for one in self.detections):
            return self._skip(until), [chosen.rows for chosen in kept]
        bits = {id(one): joined([masks[n] for _, masks in selected]) for n, one in enumerate(self.detections)}
        first = self.symbols.count
        ranks = _ranks(keys_of(pieces, kept)) if len(pieces) > 1 else np.arange(sum(map(len, kept)))
        identities = self.symbols.add(ranks, self._read(kept, pool))
        batch = Batch(pieces, kept, first, identities, self.symbols.identities.column, self._known(pool))
        shares = {  # before anyone goes on, so that all know the same instances
            id(one): one.delivery.deliver(batch.symbols, bits[id(one)], self.instances, pool) for one in self.detections
        }
        completed = self.detection.advance(batch, shares, self.instances, until, rank)
        return completed, [chosen.rows for chosen in kept]

    def _plain_key(self, pieces: list[Piece]) -> pa.Array | None:
        """The column of whole numbers or texts that says which instance a row concerns, if else only types count."""
        attribute = self.detection.delivery.only_attribute
        if attribute is None or len(pieces) != 1 or len(self.detections) > 1 or self.code.columns:
            return None
        table = pieces[0].table
        if self.members[0].filters or attribute not in table.attributes.column_names:
            return None
        column = table.attribute(attribute)
        kind = _kind(column)
        return column if kind != vm.NULL and not column.null_count and self.instances.takes_one(kind) else None

    def _advance_by(
        self, column: pa.Array, piece: Piece, pool: Pool, until: int, rank: int
    ) -> tuple[Completed, list[Ints]]:
        """The same for events whose instances a column says, in fewer passes."""
        table, masks = piece.table, self.members[0].by_type(piece)
        codes = np.asarray(table.given("type").indices)
        rows = piece.rows_of(masks != 0)
        if not len(rows) and not self.detection.runner.is_due(until):
            return self._skip(until), [rows]
        starts = self.symbols.count, self.symbols.add_next(len(rows))
        batch = Batch([piece], [Chosen(table, rows)], starts[0], UNASKED, UNASKED, self._known(pool))
        stamps = table.numbers("lo"), table.numbers("hi")
        kind = _kind(column)
        self.instances.take_one(kind)
        keyed = Keyed(rows, codes, masks, (kind, _bits(column, rows, pool)), stamps, starts)
        return self.detection.advance_by(keyed, batch, self.instances, until, rank), [rows]

    def _skip(self, until: int) -> Completed:
        """Time goes on, and nothing happens."""
        [made, *_] = [one.runner.skip(until) for one in self.detections]
        return Completed(made, lambda: NO_KEYS)

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
            m.POOL_OFFSETS: pool.addresses[0],
            m.POOL_BYTES: pool.addresses[1],
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
        held = np.zeros(self.symbols.count, bool)
        for runner in runners:
            held[runner.held()] = True
        kept = np.flatnonzero(held)
        numbers = np.empty(len(held), np.int64)
        numbers[kept] = np.arange(len(kept))
        for runner in runners:
            runner.renumber(numbers)
            shrink(runner)
        self.symbols.keep(kept)
        return kept

    def keyed(self) -> list[Runner]:
        """Those of its programs that have an instance for each key."""
        return [one.runner for one in self.detections if one.parameters]

    def is_living(self) -> Bools:
        """Which instances differ from those never seen.

        Where those yet to come look back at the past, they all do: their own events are not their past.
        """
        count = self.instances.count
        if any(len(one.runner.past) for one in self.detections):
            return np.ones(count, bool)
        return is_living(self.keyed(), count)

    def needed(self) -> Ints:
        """Number 0, and the instances that hold something or are named somewhere."""
        needed = self.is_living() | is_named(self.keyed(), self.instances.count)
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


def _kind(column: pa.Array) -> int:
    """The kind of all values of a column that may share rows out; that of nothing for other columns."""
    if column.type == pa.int64():
        return vm.INTEGER
    return vm.TEXT if has_texts(column) else vm.NULL


def _bits(column: pa.Array, rows: Ints, pool: Pool) -> Ints:
    """The bits of a column, of which those of these rows are needed."""
    if column.type == pa.int64():
        return np.asarray(column)
    bits = np.empty(len(column), np.int64)  # memory is taken only where it is written
    bits[rows] = pool.numbers(column, rows)
    return bits


def _ranks(keys: Keys) -> Ints:
    """The rank of each row in the order of the input."""
    order = np.lexsort((keys.number, keys.kind, keys.instant))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
