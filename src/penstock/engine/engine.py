"""Detects all definitions of a pattern over batches of ordered events, each definition after those it uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.algebra.names import used_types, uses_any_type, without_lets
from penstock.algebra.pattern import BARE, Pattern
from penstock.automaton.compile import compile_pattern
from penstock.engine.definition import Choice, Completed, DefinitionEngine
from penstock.engine.symbols import EVENT, Keys, Piece
from penstock.engine.values import Pool, decode
from penstock.events.event import Event
from penstock.events.found import Composite, Part
from penstock.events.table import EventTable, make_table

Ints = NDArray[np.int64]
RANKS = 1 << 20
"""Timers of one definition come before those of the next; none has so many."""
BATCH = 1 << 17
DEFAULT = Choice()
PRIMITIVE = -1
"""Stands for the input, where definitions are numbered."""


class Engine:
    """Detects a pattern; events are fed in the order of the input, in batches of any size.

    >>> from penstock import parse
    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A", "B"], "source": ["s", "s"], "id": ["1", "2"], "lo": [1, 2], "hi": [1, 2]}
    >>> [(one.lo, one.hi) for one in Engine(parse("[A] ; [B]")).feed(make_table(fields, {}), until=3)]
    [(1, 2)]
    """

    def __init__(self, pattern: Pattern, choice: Choice = DEFAULT) -> None:
        plain = without_lets(pattern)
        self.programs = compile_pattern(pattern)
        names = frozenset(program.name for program in self.programs)
        self.pool = Pool()
        self.engines = [DefinitionEngine(program, names, choice, self.pool) for program in self.programs]
        self.uses = {definition.name: used_types(definition) for definition in plain.definitions}
        self.any_type = {definition.name for definition in plain.definitions if uses_any_type(definition)}
        self.fed = 0
        self.events = Rows()
        self.found: list[list[Composite]] = [[] for _ in self.programs]
        self.symbols = [Symbols() for _ in self.programs]

    def feed(self, table: EventTable, until: int) -> list[Composite]:
        """Consumes events and fires the timers before ``until``; returns the composites made."""
        return [one for batch, progress in batches(table, until) for one in self._consume(batch, progress)]

    def _consume(self, table: EventTable, until: int) -> list[Composite]:
        count = len(table)
        self.events.add(table)
        keys = Keys(np.asarray(table.field("hi")), np.full(count, EVENT), np.arange(self.fed, self.fed + count))
        pieces = [(PRIMITIVE, Piece(table, keys), np.arange(self.fed, self.fed + count))]
        self.fed += count
        made: list[Composite] = []
        for number, engine in enumerate(self.engines):
            kept = engine.compact()
            if kept is not None:
                self.symbols[number].keep(kept)
            wanted = [one for one in pieces if self._meets(engine.program.name, one[0])]
            completed, rows = engine.advance([piece for _, piece, _ in wanted], self.pool, until, number * RANKS)
            for (owner, _, numbers), chosen in zip(wanted, rows, strict=True):
                self.symbols[number].add(owner, numbers[chosen])
            fresh = self._composites(number, completed)
            if any(self._meets(later.name, number) for later in self.programs[number + 1 :]):
                start = len(self.found[number])
                for alike in _alike(fresh):
                    composites = _table([fresh[one] for one in alike], engine)
                    piece = Piece(composites, completed.keys.take(alike), engine.program.name)
                    pieces.append((number, piece, start + alike))
            self.found[number] += fresh
            made += fresh
        return made

    def _meets(self, name: str, piece: int) -> bool:
        if piece == PRIMITIVE:
            return True
        made = self.programs[piece].name
        return made in self.uses[name] or (name in self.any_type and made != BARE)

    def _composites(self, number: int, completed: Completed) -> list[Composite]:
        engine, made = self.engines[number], completed.made
        owners, rows = self.symbols[number].of(made.symbols)
        events = self.events.read(rows[owners == PRIMITIVE])
        labels = {int(mask): _labels(int(mask), engine.code.labels) for mask in np.unique(made.labels)}
        parts = [
            Part(events[row] if owner == PRIMITIVE else self.found[owner][row], labels[mask])
            for owner, row, mask in zip(owners.tolist(), rows.tolist(), made.labels.tolist(), strict=True)
        ]
        ends = made.offsets.tolist()
        return [
            Composite(
                engine.program.name,
                int(made.lo[one]),
                int(made.hi[one]),
                self._attributes(engine, completed, one),
                tuple(parts[ends[one] : ends[one + 1]]),
            )
            for one in range(len(made))
        ]

    def _attributes(self, engine: DefinitionEngine, completed: Completed, one: int) -> dict[str, Any]:
        made, instances = completed.made, engine.instances
        instance = int(made.instance[one])
        values: dict[str, Any] = {}
        for n, parameter in enumerate(engine.program.parameters):
            value = decode(int(instances.kinds[instance, n]), int(instances.values[instance, n]), self.pool)
            values[parameter] = float(value) if n in instances.floats and type(value) is int else value
        for n, selected in enumerate(engine.program.selected):
            values[selected.name] = decode(int(made.kinds[one, n]), int(made.values[one, n]), self.pool)
        return values


def batches(table: EventTable, until: int) -> Iterator[tuple[EventTable, int]]:
    """A table cut into batches that the processor's caches can hold, each with how far timers may fire after it."""
    for start in range(0, max(len(table), 1), BATCH):
        batch = table.slice(start, BATCH)
        last = start + BATCH >= len(table)
        yield batch, until if last else int(batch.field("hi")[-1].as_py())


class Rows:
    """The events that were fed, as rows; they become objects when a composite needs them."""

    def __init__(self) -> None:
        self.tables: list[EventTable] = []
        self.starts: list[int] = []
        self.end = 0
        self.known: dict[int, Event] = {}

    def add(self, table: EventTable) -> None:
        """More rows."""
        self.tables.append(table)
        self.starts.append(self.end)
        self.end += len(table)

    def read(self, rows: Ints) -> dict[int, Event]:
        """The events of rows, by their numbers."""
        missing = np.array(sorted(set(np.unique(rows).tolist()) - self.known.keys()), np.int64)
        owners = np.searchsorted(self.starts, missing, side="right") - 1
        for number in np.unique(owners).tolist():
            here = missing[owners == number]
            events = self.tables[number].take(here - self.starts[number]).to_events()
            self.known |= dict(zip(here.tolist(), events, strict=True))
        return self.known


class Symbols:
    """What a definition's symbols are: rows of the input, or composites of another definition."""

    def __init__(self) -> None:
        self.owners: Ints = np.zeros(0, np.int64)
        self.rows: Ints = np.zeros(0, np.int64)

    def add(self, owner: int, rows: Ints) -> None:
        """More symbols."""
        self.owners = np.concatenate([self.owners, np.full(len(rows), owner)])
        self.rows = np.concatenate([self.rows, rows])

    def keep(self, kept: Ints) -> None:
        """Forgets all symbols but these."""
        self.owners, self.rows = self.owners[kept], self.rows[kept]

    def of(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Owner and row of each symbol."""
        return self.owners[numbers], self.rows[numbers]


def _alike(composites: list[Composite]) -> list[Ints]:
    """The numbers of composites whose attributes are of the same kinds, so that a table can hold them."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, composite in enumerate(composites):
        kinds = tuple("number" if type(v) in (int, float) else type(v).__name__ for v in composite.attributes.values())
        groups.setdefault(kinds, []).append(number)
    return [np.array(numbers, np.int64) for numbers in groups.values()]


def _labels(mask: int, labels: list[str]) -> frozenset[str]:
    return frozenset(label for bit, label in enumerate(labels) if (mask >> bit) & 1)


def _table(composites: list[Composite], engine: DefinitionEngine) -> EventTable:
    """Composites as events of their type, for the definitions that use them."""
    program = engine.program
    name = program.name
    names = [*program.parameters, *(selected.name for selected in program.selected)]
    attributes = {one: pa.array([composite.attributes[one] for composite in composites]) for one in names}
    fields = {
        "type": [name] * len(composites),
        "source": [composite.source for composite in composites],
        "id": [composite.id for composite in composites],
        "lo": [composite.lo for composite in composites],
        "hi": [composite.hi for composite in composites],
    }
    return make_table(fields, attributes)
