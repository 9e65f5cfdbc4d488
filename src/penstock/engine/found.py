"""What a batch of events completes: the composites of all definitions, and what they are made of, as columns."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from penstock.engine.composed import Composed
from penstock.engine.kept import Ints, Kept
from penstock.engine.texts import Values
from penstock.events.table import EventTable


@dataclass(frozen=True)
class Incomplete:
    """Runs that came to nothing: what each had matched, when it ended, and the number of the reason."""

    matched: Composed
    at: Ints
    reason: Ints


@dataclass(frozen=True)
class FoundDefinition:
    """The composites of one definition. ``labels`` are by bit, ``known`` has by number all that parts may refer to.

    ``places`` says, where that was asked for, what completed each composite, the rank of a timer or -1 for an event,
    and the composite's number among those that were completed there.
    """

    name: str
    attributes: tuple[str, ...]
    labels: tuple[str, ...]
    composites: Composed
    known: Kept[Composed]
    incomplete: tuple[Incomplete, ...] = ()
    places: Ints | None = None


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
        return sum(len(one.composites) for one in self.definitions)

    def values(self, definition: int, attribute: str, composites: Composed) -> Values:
        """An attribute of composites of a definition."""
        column = self.definitions[definition].attributes.index(attribute)
        return Values(composites.kinds[:, column], composites.bits[:, column], self.texts)


def known_rows(composites: Composed, owner: int) -> Ints:
    """The numbers of an owner's rows among the parts of composites."""
    rows: Ints = composites.rows[composites.owners == owner]
    return rows
