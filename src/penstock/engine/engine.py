"""Detects all definitions of a pattern over batches of ordered events, each definition after those it uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from penstock.algebra.names import used_types, uses_any_type, without_lets
from penstock.algebra.pattern import BARE, Pattern
from penstock.automaton.compile import compile_pattern
from penstock.automaton.program import Program, Timer
from penstock.engine import composed
from penstock.engine.composed import PRIMITIVE, Composed, Composer
from penstock.engine.definition import DefinitionEngine
from penstock.engine.delivery import NOBODY, Delivered, Deliveries
from penstock.engine.division import WHOLE, Division
from penstock.engine.found import Found, FoundDefinition, Incomplete
from penstock.engine.kept import Kept
from penstock.engine.memory import Ints
from penstock.engine.nesting import Completed
from penstock.engine.pool import Pool
from penstock.engine.prepared import Choice, Prepared, prepared
from penstock.engine.selection import Picked
from penstock.engine.sorting import rows_in_order
from penstock.engine.store import Symbols, join_tables, keep_needed
from penstock.engine.symbols import EVENT, TIMER, Keys, Piece
from penstock.engine.tables import pieces_of
from penstock.engine.texts import Texts
from penstock.engine.wording import Wording
from penstock.events.found import Composite
from penstock.events.table import EventTable

RANKS = 1 << 20
"""Timers of one definition come before those of the next; none has so many."""
BATCH = 1 << 19
"""Events of a batch, at first; fewer are slower, and of more of them processors' caches do not hold the symbols."""
RECLAIM = 1 << 16
"""Rows that may be held before it is asked which of them are needed."""
IDLE = 1 << 16
"""So many instances of a definition that hold nothing are kept: they may come again."""
DEFAULT = Choice()
NOTHING = np.zeros(0, np.int64)
NOWHERE = np.zeros((0, 2), np.int64)
Met = tuple[int, Piece]
"""Something that definitions may meet: whose rows, and the rows."""


class Fetch(Protocol):
    """Brings into memory what a definition needs to go on, where a part of its state is elsewhere."""

    def __call__(self, number: int, pieces: list[Piece], until: int) -> None:
        """For these events, and for the timers before ``until``."""

    def everything(self) -> None:
        """For whatever may come."""

    def note(self, number: int) -> None:
        """Before a definition forgets some of its instances."""


class Engine:
    """Detects a pattern; events are fed in the order of the input, in batches of any size.

    Where some definitions are detected elsewhere, their composites are delivered beside the events. ``definitions`` are
    those of the pattern with this choice, if they were prepared before.

    >>> from penstock import parse
    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A", "B"], "source": ["s", "s"], "id": ["1", "2"], "lo": [1, 2], "hi": [1, 2]}
    >>> found = Engine(parse("[A] ; [B]")).feed(make_table(fields, {}), until=3)
    >>> [(one.lo, one.hi) for one in (definition.composites for definition in found.definitions)]
    [(array([1]), array([2]))]
    """

    def __init__(
        self,
        pattern: Pattern,
        choice: Choice = DEFAULT,
        division: Division = WHOLE,
        definitions: Sequence[Prepared] | None = None,
    ) -> None:
        division.check(pattern)
        self.pattern = pattern
        self.choice = choice
        self.division = division
        definitions = prepared(compile_pattern(pattern), choice) if definitions is None else definitions
        self.programs = tuple(one.program for one in definitions)
        self.pool = Pool()
        self.engines = [DefinitionEngine(one, self.pool) for one in definitions]
        self.events: Kept[EventTable] = Kept(join_tables)
        self.stores: list[Kept[Composed]] = [Kept(composed.join) for _ in self.programs]
        self.symbols = [Symbols() for _ in self.programs]
        self.texts = Texts(self.pool)
        self.wording = Wording(self.texts, self.engines, self.stores)
        self.composers = [
            Composer(engine.program, engine.code.labels, self.texts, self.events, self.stores)
            for engine in self.engines
        ]
        self.used = [
            any(self._meets(later.name, number) for later in self.programs[number + 1 :])
            for number in range(len(self.programs))
        ]
        self._inline()
        self.deliveries = Deliveries(self.composers, self.events, self.stores, self.pool)
        self.places: list[list[Ints]] = [[] for _ in self.programs]
        self.made_last: list[Ints] = [np.zeros((0, 4), np.int64) for _ in self.programs]
        self.incomplete: list[list[Incomplete]] = [[] for _ in self.programs]
        self.told: list[Ints] = [np.zeros((0, 5), np.int64) for _ in self.programs]
        self.fed = 0
        self.met = 0
        self.bound = RECLAIM
        self.idle = IDLE
        self.batch = BATCH
        self.fetch: Fetch | None = None
        self.begins = self._ends()
        nothing = tuple(self._definition(number, []) for number in range(len(self.programs)))
        self.nothing = Found(nothing, self.events.as_it_is(), self.texts.all(), not self.division.elsewhere)

    @cached_property
    def _uses(self) -> dict[str, set[str]]:
        """The types that each definition names."""
        return {definition.name: used_types(definition) for definition in without_lets(self.pattern).definitions}

    @cached_property
    def _any_type(self) -> set[str]:
        """The definitions that meet events of any type."""
        return {one.name for one in without_lets(self.pattern).definitions if uses_any_type(one)}

    def _ends(self) -> tuple[int, list[int]]:
        """The next numbers of events and composites."""
        return self.events.end, [store.end for store in self.stores]

    def timer_names(self) -> dict[int, str]:
        """The timers of all definitions by their ranks among each other, as ``Definition/Timer``."""
        found: dict[int, str] = {}
        for number, program in enumerate(self.programs):
            for timer in timers_of(program):
                found[number * RANKS + timer.order] = f"{program.name}/{timer.name}"
        return found

    def labels_elsewhere(self) -> dict[str, frozenset[str]]:
        """The definitions that are detected elsewhere, with their labels."""
        return {one.name: frozenset(one.labels) for one in self.composers if one.name in self.division.elsewhere}

    def _inline(self) -> None:
        inlined = {n: one for n, one in enumerate(self.composers) if one.name in self.division.inlined}
        for number, composer in enumerate(self.composers):
            used = {n: one for n, one in inlined.items() if n < number and self._meets(composer.name, n)}
            composer.inline(used)

    def feed(self, table: EventTable, until: int, delivered: Delivered = NOBODY, picked: Picked | None = None) -> Found:
        """Consumes events and fires the timers before ``until``; returns the composites made.

        ``picked`` are the rows of the types that matter, if somebody looked for them already.
        """
        self._compact_many()
        self._reclaim()
        number = self.deliveries.take(delivered.composites)
        self.begins = self._ends()
        first = self.events.end
        if self.fetch is not None:
            for definition in range(len(self.engines)):
                self.fetch(definition, [Piece(table, first)], until)
        self.events.add(table)
        if picked is not None:
            self.batch = max(self.batch, batch_after(max(len(table), BATCH), len(picked.rows)))
        met_before, start = self.met, 0
        while start < max(len(table), 1):
            end = delivered.boundary(len(table), start + self.batch)
            batch = table.slice(start, end - start)
            here = picked and picked.between(start, end)
            given = Piece(batch, first + start, picked=here)
            met = [(PRIMITIVE, given), *self._delivered(delivered, number, start, end, first)]
            start = end
            is_last = start >= len(table)
            symbols = self._consume(met, until if is_last else int(batch.field("hi")[-1].as_py()))
            self.batch = batch_after(len(batch), symbols)
            if not is_last:
                self._compact_many()
        if self.met == met_before:
            self.events.drop(table)
        return self._found()

    def _delivered(
        self, delivered: Delivered, number: Callable[[Composite], int], start: int, end: int, first: int
    ) -> list[Met]:
        """The composites delivered for rows of a batch, as what definitions meet."""
        if not len(delivered.rows):
            return []
        here = np.flatnonzero((delivered.rows >= start) & (delivered.rows < end))
        owners = np.array([self.deliveries.owner(delivered.composites[one]) for one in here.tolist()], np.int64)
        met: list[Met] = []
        for owner in np.unique(owners).tolist():
            chosen = here[owners == owner]
            numbers = np.array([number(delivered.composites[one]) for one in chosen.tolist()], np.int64)
            fired = delivered.timers[chosen] >= 0
            places = np.where(fired, delivered.timers[chosen], first + delivered.anchors[chosen])
            kind = np.where(fired, TIMER, EVENT)
            name, attributes = self.programs[owner].name, self.composers[owner].attributes
            [whole] = composed.join([piece.take(rows) for piece, _, rows in self.stores[owner].locate(numbers)])
            for table, alike in pieces_of(name, attributes, whole, self.texts.all()):
                keys = Keys(whole.hi[alike], kind[alike], places[alike])
                met.append((owner, Piece(table, 0, keys, numbers[alike], name)))
        return met

    def _consume(self, met: list[Met], until: int) -> int:
        """Consumes a batch; returns how many of its rows and of the composites were symbols of a definition."""
        symbols = 0
        table = met[0][1].table
        self.fed += len(table)
        met_rows: list[Ints] = []
        last = int(table.numbers("hi")[-1]) if len(table) else until - 1
        for number, engine in enumerate(self.engines):
            if engine.program.name in self.division.elsewhere:
                continue
            wanted = [one for one in met if self._meets(engine.program.name, one[0])]
            if self.fetch is not None and len(wanted) > 1:
                self.fetch(number, [piece for _, piece in wanted[1:]], until)
            completed, rows = engine.advance([piece for _, piece in wanted], self.pool, until, number * RANKS)
            for (owner, piece), chosen in zip(wanted, rows, strict=True):
                if len(chosen):
                    self.symbols[number].add(owner, piece.start, piece.behind_start(chosen))
                    symbols += len(chosen)
            met_rows.append(rows[0])
            if len(completed.made):
                met += self._composed(number, completed)
            if self.choice.incomplete:
                engine.let_go(max(until - 1, last))
                self._report(number)
        self.met += len(met_rows[0]) if len(met_rows) == 1 else len(np.unique(np.concatenate(met_rows)))
        return symbols

    def _compact_many(self) -> None:
        """Before more events come: where a definition has many symbols, those that no run holds are forgotten."""
        for number, engine in enumerate(self.engines):
            if engine.symbols.are_many(engine.instances.count):
                self.compact(number)

    def compact(self, number: int) -> None:
        """Forgets symbols of a definition that no run holds and, where there are many, instances that hold nothing."""
        engine = self.engines[number]
        self.symbols[number].keep(engine.compacted())
        needed = engine.needed()
        if engine.instances.count - len(needed) > self.idle + len(needed):
            if self.fetch is not None:
                self.fetch.note(number)
            engine.keep_instances(needed)

    def _composed(self, number: int, completed: Completed) -> list[Met]:
        """Keeps the composites that a definition made; returns them as what later definitions meet.

        Those of one place are met in the order of results.
        """
        engine, store, made = self.engines[number], self.stores[number], completed.made
        owners, rows = self.symbols[number].of(made.symbols)
        fresh = self.composers[number].compose(made, engine.instances, owners, rows)
        once = self._once(number, fresh)
        fresh = fresh if once is None else fresh.take(once)
        if (self.used[number] or self.division.publishes) and not fresh.is_in_order:
            order = rows_in_order((fresh.hi, fresh.lo), fresh.leaf_offsets, fresh.leaves, [])
            once, fresh = order if once is None else once[order], fresh.take(order)
        start = store.end
        store.add(fresh)
        if self.division.publishes:
            keys = completed.keys if once is None else completed.keys.take(once)
            self.places[number].append(np.column_stack([np.where(keys.kind == TIMER, keys.number, -1), keys.among()]))
        if not self.used[number] or not len(fresh):
            return []
        keys = completed.keys if once is None else completed.keys.take(once)
        pieces = pieces_of(engine.program.name, self.composers[number].attributes, fresh, self.texts.all())
        return [(number, Piece(table, start, keys.take(alike), alike, engine.program.name)) for table, alike in pieces]

    def _once(self, number: int, fresh: Composed) -> Ints | None:
        """Which composites to keep where several of the same parts may be made; None for all.

        Runs that matched different inlined composites may have matched the same events.
        """
        if not self.composers[number].inlines or not len(fresh):
            return None
        before = self.made_last[number]
        told = np.column_stack([fresh.words.view(np.int64), fresh.hi])
        _, first = np.unique(np.concatenate([before, told]), axis=0, return_index=True)
        once: Ints = np.sort(first[first >= len(before)]) - len(before)
        both = np.concatenate([before, told[once]])
        self.made_last[number] = both[both[:, -1] == both[:, -1].max()]
        return once

    def _report(self, number: int) -> None:
        """Keeps a definition's runs that came to nothing."""
        engine = self.engines[number]
        ended = engine.ended()
        if len(ended):
            owners, rows = self.symbols[number].of(ended.symbols)
            matched = self.composers[number].compose(ended.as_made(engine.selects), engine.instances, owners, rows)
            told = np.column_stack([matched.words.view(np.int64), ended.at, ended.reason])
            before = self.told[number]
            _, first = np.unique(np.concatenate([before, told]), axis=0, return_index=True)
            once = np.sort(first[first >= len(before)]) - len(before)
            both = np.concatenate([before, told[once]])
            self.told[number] = both[both[:, -2] == both[:, -2].max()]
            self.incomplete[number].append(Incomplete(matched.take(once), ended.at[once], ended.reason[once]))

    def finish(self, now: int) -> Found:
        """The input is over: reports the runs that came to nothing, or still wait, if that is wanted."""
        self.begins = self._ends()
        if self.fetch is not None:
            self.fetch.everything()
        for number, engine in enumerate(self.engines):
            engine.finish(now)
            if self.choice.incomplete:
                self._report(number)
        return self._found()

    def _meets(self, name: str, piece: int) -> bool:
        if piece == PRIMITIVE:
            return True
        made = self.programs[piece].name
        hidden = made == BARE or made in self.division.inlined
        return made in self._uses[name] or (name in self._any_type and not hidden)

    def _found(self) -> Found:
        if self._ends()[1] == self.begins[1] and not any(self.incomplete):
            return self.nothing
        made = [store.since(begin) for store, begin in zip(self.stores, self.begins[1], strict=True)]
        definitions = tuple(self._definition(number, some) for number, some in enumerate(made))
        self.incomplete = [[] for _ in self.programs]
        self.places = [[] for _ in self.programs]
        return Found(definitions, self.events.as_it_is(), self.texts.all(), not self.division.elsewhere)

    def _definition(self, number: int, made: list[Composed]) -> FoundDefinition:
        """What was found of a definition."""
        composer = self.composers[number]
        return FoundDefinition(
            self.programs[number].name,
            tuple(composer.attributes),
            tuple(composer.labels),
            tuple(made) or (composer.nothing(),),
            self.stores[number].as_it_is(),
            tuple(self.incomplete[number]),
            np.concatenate([NOWHERE, *self.places[number]]) if self.division.publishes else None,
        )

    def _reclaim(self) -> None:
        """Lets go what no run can need any more, when it is worth the while."""
        for number, store in enumerate(self.stores):
            if not self.used[number] and store.pieces:
                store.keep(NOTHING)
        if self._held() > self.bound:
            keep_needed(self.events, self.stores, self.symbols)
            self.bound = RECLAIM + 2 * self._held()
        self.wording.reclaim()
        self.events.settle()
        for store in self.stores:
            store.settle()

    def _held(self) -> int:
        return len(self.events) + sum(map(len, self.stores))


def timers_of(program: Program) -> list[Timer]:
    """The timers of a program and of all sides inside."""
    return [*program.timers, *(one for sides in program.sides for side in sides for one in timers_of(side))]


def batch_after(events: int, symbols: int) -> int:
    """How many events to take at once, after so many that had so many symbols.

    >>> batch_after(BATCH, BATCH) == BATCH, batch_after(BATCH, BATCH // 10) == 4 * BATCH, batch_after(1, 0) == BATCH
    (True, True, True)
    """
    if events < BATCH:
        return BATCH
    return min(max(BATCH, min(4 * events, events * BATCH // (2 * symbols + 1))), 16 * BATCH)
