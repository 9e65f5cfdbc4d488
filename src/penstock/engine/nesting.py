"""One program of a definition, and those of the sides of each ``||`` in it, over the same symbols and instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.engine import memory as m
from penstock.engine.by_key import Keyed
from penstock.engine.kept import joined
from penstock.engine.keys import Instances
from penstock.engine.made import Made
from penstock.engine.memory import Ints
from penstock.engine.prepared import Shape
from penstock.engine.runner import Runner
from penstock.engine.selection import places_of
from penstock.engine.symbols import NO_KEYS, TIMER, Chosen, Keys, Piece, Shares, joined_keys


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
        return keys_of(self.pieces, self.symbols)

    @cached_property
    def lo(self) -> Ints:
        """When the symbols begin."""
        return joined([one.table.numbers("lo")[one.rows] for one in self.symbols])


class Detection:
    """One program of a definition, with the sides of each ``||`` in it.

    What one that ``replays`` meets is the past of instances yet to come: they are brought to where they would stand had
    they been there from the beginning.
    """

    def __init__(self, shape: Shape, zone: str) -> None:
        self.program = shape.program
        self.parameters = shape.parameters
        self.sides = [[Detection(side, zone) for side in sides] for sides in shape.sides]
        self.delivery = shape.delivery
        self.runner = Runner(shape.program, shape.layout, zone, shape.remembered)
        self.reads = True
        self.replays = shape.replays

    def all(self) -> list[Detection]:
        """This and all sides inside."""
        inner = [one for sides in self.sides for side in sides for one in side.all()]
        return [self, *inner]

    def _inside(self, completed: Callable[[Detection], Completed]) -> list[Inner]:
        """What each side completes, and its bit among the sets."""
        return [
            (bit, side, completed(side))
            for number, sides in enumerate(self.sides)
            for bit, side in enumerate(sides, self._side_bit(number))
        ]

    def advance(
        self, batch: Batch, shares: dict[int, Shares], instances: Instances, until: int, rank: int
    ) -> Completed:
        """Detects over a batch; ``rank`` is added to timers' orders to place them among other definitions'."""
        if self.replays and instances.count > self.runner.known:
            self.replay(self.runner.known, batch, instances, rank)
        rows, owners, sets = shares[id(self)]
        inner = self._inside(lambda side: side.advance(batch, shares, instances, until, rank))
        if not inner and batch.is_one_table:
            identity = int(batch.identities[0]) if len(batch.identities) else 0
            chosen = batch.symbols[0]
            instants, begins = (np.asarray(chosen.table.field(name)) for name in ("hi", "lo"))
            given = places_of(rows, chosen.rows, instants, begins, owners, sets, batch.first, identity)
            return self.completed(batch, given, NO_PARTS, instances, lambda: batch.keys.take(rows), until, rank)
        own = _as_places(batch.lo[rows], owners, rows + batch.first, sets, batch.identities[rows])
        given, parts, ordered = self._together(own, batch.keys.take(rows), inner, batch.all_identities)
        return self.completed(batch, given, parts, instances, lambda: ordered, until, rank)

    def replay(self, first: int, batch: Batch, instances: Instances, rank: int) -> Completed:
        """Brings instances from ``first`` on to where they would stand; returns what they would have completed.

        A side with no parameters has been there: what it completed is found again. One that binds all of them where it
        starts has nothing to do with instances that were not there.
        """
        if self.parameters and not self.replays:
            return Completed(self.runner.nothing(), lambda: NO_KEYS)
        inner = self._inside(lambda side: side.replay(first, batch, instances, rank))
        past = self.runner.past
        given, parts, ordered = self._together(past.places, past.keys, inner, batch.all_identities)
        values = self._values(batch, instances)
        if self.parameters:
            made = self.runner.replay(given, parts, values, first, instances.count)
        else:
            made = self.runner.rehearse(given, parts, values)
        return Completed(made, lambda: self._keys(made, ordered, given[:, m.PLACE], rank))

    def _together(self, own: Ints, own_keys: Keys, inner: Sequence[Inner], identities: Ints) -> tuple[Ints, Ints, Keys]:
        """Places with what sides completed among them, the parts of that, and their keys."""
        rows, total = [own], 0
        for bit, side, done in inner:
            made, count = done.made, len(done.made)
            owners = made.instance if side.parameters or not self.parameters else np.full(count, -1)
            nothing = np.full(count, -1)
            completed = _as_places(made.lo, owners, nothing, np.full(count, 1 << bit), nothing)
            completed[:, m.SIDE] = np.arange(total, total + count)
            rows.append(completed)
            total += count
        keys = joined_keys([own_keys, *(done.keys for _, _, done in inner)])
        order, places = keys.order()
        every = joined(rows)
        within = np.lexsort((every[order, m.INSTANCE], places))
        order, places = order[within], places[within]
        ordered, given = keys.take(order), every[order]
        given[:, m.PLACE], given[:, m.INSTANT] = places, ordered.instant
        return given, _side_parts([done.made for _, _, done in inner], identities), ordered

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
        made = self.runner.advance(given, parts, self._values(batch, instances), known, until)
        self.runner.remember(given, keys, until)
        return Completed(made, lambda: self._keys(made, keys(), given[:, m.PLACE], rank))

    def advance_by(self, keyed: Keyed, batch: Batch, instances: Instances, until: int, rank: int) -> Completed:
        """Detects over rows that a column shares out."""
        if not self.runner.takes_keyed:
            given = keyed.places(instances)
            return self.completed(batch, given, NO_PARTS, instances, lambda: batch.keys, until, rank)
        made = self.runner.advance_by_key(keyed, NO_PARTS, instances, batch.values, until)
        return Completed(made, lambda: self._keys(made, batch.keys, np.arange(len(keyed)), rank))

    def _values(self, batch: Batch, instances: Instances) -> dict[int, int]:
        """What conditions read."""
        read = {m.INSTANCE_KINDS: instances.kinds.ctypes.data, m.INSTANCE_VALUES: instances.values.ctypes.data}
        return batch.values | (read if self.reads else {})

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


Inner = tuple[int, Detection, Completed]
"""The bit of a side among the sets of a program, the side, and what it completed."""


def _as_places(lo: Ints, owners: Ints, symbols: Ints, sets: Ints, identities: Ints) -> Ints:
    """Rows for the kernel, of which it is not yet said which places they stand at."""
    rows = np.zeros((len(lo), m.PLACE_WIDTH), np.int64)
    rows[:, m.BEGINS], rows[:, m.INSTANCE], rows[:, m.PLACE_SYMBOL] = lo, owners, symbols
    rows[:, m.SETS], rows[:, m.SIDE], rows[:, m.IDENTITY] = sets, -1, identities
    return rows


def keys_of(pieces: list[Piece], chosen: list[Chosen]) -> Keys:
    """The keys of the chosen rows of pieces."""
    return joined_keys([piece.keys_of(some.rows) for piece, some in zip(pieces, chosen, strict=True)])


def _side_parts(made: list[Made], identities: Ints) -> Ints:
    """The parts of sides' composites, as the kernel takes them."""
    ends = np.cumsum([0, *(len(one.symbols) for one in made)])
    symbols = joined([one.symbols for one in made])
    return m.pack(
        {},
        {
            m.SIDE_FIRST: joined([one.offsets[:-1] + start for one, start in zip(made, ends, strict=False)]),
            m.SIDE_LAST: joined([one.offsets[1:] + start for one, start in zip(made, ends, strict=False)]),
            m.PART_SYMBOL: symbols,
            m.PART_LABELS: joined([one.labels for one in made]),
            m.PART_IDENTITY: identities[symbols],
        },
    )


NO_PARTS = m.blank(dict.fromkeys(range(m.PART_IDENTITY + 1), 0))
