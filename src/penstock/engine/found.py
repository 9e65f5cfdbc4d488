"""What a batch of events completes: the composites of all definitions, and what they are made of, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from penstock.engine.composed import Composed, join
from penstock.engine.kept import Ints, Kept
from penstock.engine.texts import Values
from penstock.events.table import EventTable

MANY = 1 << 14
"""So many composites are worth a stretch of their own."""


@dataclass(frozen=True)
class Incomplete:
    """Runs that came to nothing: what each had matched, when it ended, and the number of the reason."""

    matched: Composed
    at: Ints
    reason: Ints


@dataclass(frozen=True)
class FoundDefinition:
    """The composites of one definition. ``labels`` are by bit, ``known`` has by number all that parts may refer to.

    ``made`` are the composites in one or more pieces, in the order in which they were made. ``places`` says, where that
    was asked for, what completed each composite, the rank of a timer or -1 for an event, and the composite's number
    among those that were completed there.
    """

    name: str
    attributes: tuple[str, ...]
    labels: tuple[str, ...]
    made: tuple[Composed, ...]
    known: Kept[Composed]
    incomplete: tuple[Incomplete, ...] = ()
    places: Ints | None = None

    @cached_property
    def composites(self) -> Composed:
        """All of them together."""
        return join([*self.made])[0]


@dataclass(frozen=True)
class Found:
    """Composites as columns; nothing that is detected later changes them.

    ``events`` has the rows of the input by number: those that leaves are, and perhaps others. Where composites were
    delivered, ``in_order`` is false: their events have numbers that say nothing of the order of the input.
    """

    definitions: tuple[FoundDefinition, ...]
    events: Kept[EventTable]
    texts: pa.Array
    in_order: bool = True

    def __len__(self) -> int:
        return sum(len(piece) for one in self.definitions for piece in one.made)

    def stretches(self) -> Iterator[Found]:
        """The composites in shares one behind the other, so that all need not be copied to be together.

        They are in the order of results if those of each share are: no two shares have the same instant.
        """
        there = [number for number, one in enumerate(self.definitions) if any(map(len, one.made))]
        if len(there) != 1:
            yield self
            return
        own = self.definitions[there[0]]
        for some in apart(own.made):
            only = replace(own, made=tuple(some), incomplete=(), places=None)
            yield replace(self, definitions=(*self.definitions[: there[0]], only, *self.definitions[there[0] + 1 :]))

    def values(self, definition: int, attribute: str, composites: Composed) -> Values:
        """An attribute of composites of a definition."""
        column = self.definitions[definition].attributes.index(attribute)
        return Values(composites.kinds[:, column], composites.bits[:, column], self.texts)


def apart(made: Sequence[Composed], enough: int = MANY) -> list[list[Composed]]:
    """Composites in shares of ``enough`` or more, cut only where all before end earlier than all behind."""
    shares: list[list[Composed]] = []
    count = last = 0
    for piece in filter(len, made):
        if not shares or (count >= enough and int(piece.hi.min()) > last):
            shares.append([])
            count, last = 0, int(piece.hi[0])
        shares[-1].append(piece)
        count, last = count + len(piece), max(last, int(piece.hi.max()))
    return shares


def known_rows(composites: Composed, owner: int) -> Ints:
    """The numbers of an owner's rows among the parts of composites."""
    rows: Ints = composites.rows[composites.owners == owner]
    return rows
