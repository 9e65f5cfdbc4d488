"""Detects all definitions of a pattern over batches of ordered events, each definition after those it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.algebra.names import used_types, without_lets
from penstock.algebra.pattern import Pattern
from penstock.automaton.compile import compile_pattern
from penstock.engine.definition import Completed, DefinitionEngine
from penstock.engine.symbols import EVENT, Keys, Piece
from penstock.engine.values import Pool, decode
from penstock.events.event import Event
from penstock.events.table import EventTable, make_table

Ints = NDArray[np.int64]
RANKS = 1 << 20
"""Timers of one definition come before those of the next; none has so many."""


@dataclass(frozen=True)
class FoundPart:
    """Something that was matched, and the labels it was matched under."""

    symbol: Event | FoundComposite
    labels: frozenset[str]


@dataclass(frozen=True)
class FoundComposite:
    """A composite: its type, stamp, parameters and selected values, and its parts in the order of matching."""

    type: str
    lo: int
    hi: int
    attributes: Mapping[str, Any]
    parts: tuple[FoundPart, ...]

    @property
    def source(self) -> str:
        """Who produced it: the detector of its type."""
        return f"penstock/{self.type}"


class Engine:
    """Detects a pattern; events are fed in the order of the input, in batches of any size."""

    def __init__(self, pattern: Pattern, *, zone: str = "UTC", restart: bool = False) -> None:
        plain = without_lets(pattern)
        names = frozenset(definition.name for definition in plain.definitions)
        self.pool = Pool()
        self.programs = compile_pattern(pattern)
        self.engines = [DefinitionEngine(program, names, zone, restart) for program in self.programs]
        bodies = {definition.name: definition for definition in plain.definitions}
        self.uses = {name: used_types(bodies[name]) for name in bodies}
        self.any_type = {p.name: any(s.type is None for one in _all(p) for s in one.sets) for p in self.programs}
        self.events: list[Event] = []
        self.found: dict[str, list[FoundComposite]] = {name: [] for name in names}
        self.symbols: dict[str, list[tuple[str | None, int]]] = {name: [] for name in names}

    def feed(self, table: EventTable, until: int) -> list[FoundComposite]:
        """Consumes a batch and fires the timers before ``until``; returns the composites made."""
        first = len(self.events)
        self.events += table.to_events()
        hi = np.asarray(table.field("hi"))
        count = len(table)
        keys = Keys(hi, np.full(count, EVENT, np.int64), np.arange(first, first + count))
        pieces: dict[str | None, Piece] = {None: Piece(table, keys)}
        starts: dict[str | None, int] = {None: first}
        made: list[FoundComposite] = []
        for number, engine in enumerate(self.engines):
            name = engine.program.name
            wanted = [one for one in pieces if one is None or one in self.uses[name] or self.any_type[name]]
            completed, rows = engine.advance([pieces[one] for one in wanted], self.pool, until, number * RANKS)
            for one, chosen in zip(wanted, rows, strict=True):
                self.symbols[name] += [(one, starts[one] + int(row)) for row in chosen]
            starts[name] = len(self.found[name])
            fresh = list(self._composites(engine, completed))
            self.found[name] += fresh
            made += fresh
            if fresh:
                pieces[name] = Piece(_table(name, fresh, engine), completed.keys, name)
        return made

    def _composites(self, engine: DefinitionEngine, completed: Completed) -> Iterator[FoundComposite]:
        made, name = completed.made, engine.program.name
        labels = engine.code.labels
        for one in range(len(made)):
            attributes = self._attributes(engine, completed, one)
            parts = tuple(
                FoundPart(
                    self._symbol(name, int(made.symbols[at])),
                    frozenset(label for bit, label in enumerate(labels) if (made.labels[at] >> bit) & 1),
                )
                for at in range(made.offsets[one], made.offsets[one + 1])
            )
            yield FoundComposite(name, int(made.lo[one]), int(made.hi[one]), attributes, parts)

    def _symbol(self, name: str, number: int) -> Event | FoundComposite:
        definition, row = self.symbols[name][number]
        return self.events[row] if definition is None else self.found[definition][row]

    def _attributes(self, engine: DefinitionEngine, completed: Completed, one: int) -> dict[str, Any]:
        made, instances = completed.made, engine.instances
        instance = int(made.instance[one])
        values = {
            parameter: decode(int(instances.kinds[instance, n]), int(instances.values[instance, n]), self.pool)
            for n, parameter in enumerate(engine.program.parameters)
        }
        for n, selected in enumerate(engine.program.selected):
            values[selected.name] = decode(int(made.kinds[one, n]), int(made.values[one, n]), self.pool)
        return values


def _all(program: Any) -> Iterator[Any]:
    yield program
    for sides in program.sides:
        for side in sides:
            yield from _all(side)


def _table(name: str, composites: list[FoundComposite], engine: DefinitionEngine) -> EventTable:
    """Composites as events of their type, for the definitions that use them."""
    program = engine.program
    names = [*program.parameters, *(selected.name for selected in program.selected)]
    attributes = {one: pa.array([composite.attributes[one] for composite in composites]) for one in names}
    fields = {
        "type": [name] * len(composites),
        "source": [f"penstock/{name}"] * len(composites),
        "lo": [composite.lo for composite in composites],
        "hi": [composite.hi for composite in composites],
    }
    return make_table(fields, attributes)
