"""Detection by the engine over events as objects, cut into batches anywhere; its columns as objects again."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from penstock.algebra.pattern import Pattern
from penstock.engine.composed import PRIMITIVE, Composed, labels_of
from penstock.engine.engine import Engine
from penstock.engine.found import Found
from penstock.engine.kept import Kept, T
from penstock.engine.library import Library
from penstock.engine.memory import REASONS
from penstock.engine.pool import Pool
from penstock.engine.prepared import Choice
from penstock.engine.snapshot import restore, save
from penstock.engine.values import decode
from penstock.events.event import Event
from penstock.events.found import Composite, Part
from penstock.events.order import ordered
from penstock.events.records import from_dicts
from penstock.events.table import EventTable
from penstock.testing.runs import Incomplete

SUPPORTED = {"context", "runs_per_instance", "age", "incomplete", "snapshots"}
"""What the engine knows of ``context``, ``runs_per_instance``, ``age``, ``incomplete`` and ``snapshots``.

Golden cases with other options wait; the comparison with the reference does not draw them.
"""


def rows(events: Iterable[Event]) -> EventTable:
    """Events as a table, in the order given."""
    records = [
        {
            "type": e.type,
            "source": e.source,
            "id": e.id,
            "seq": e.seq,
            "lo": e.lo,
            "hi": e.hi,
            "data": dict(e.attributes),
        }
        for e in events
    ]
    return from_dicts(records)


def table_of(events: Sequence[Event]) -> EventTable:
    """Events as a table, in the order of the input."""
    return ordered(rows(events))[0]


def feeds(
    pattern: Pattern,
    events: Sequence[Event],
    *,
    restart: bool = False,
    until: int | None = None,
    zone: str = "UTC",
    cuts: Sequence[int] = (),
    snapshots: Sequence[int] = (),
    **more: Any,
) -> Iterator[Found]:
    """What the engine finds in each batch if the input is cut at ``cuts``, and saved and restored at ``snapshots``."""
    table = table_of(events)
    ends = table.field("hi").to_pylist()
    end = max([*ends, *([until] if until is not None else [])], default=0)
    engine = Engine(pattern, Choice(restart=restart, zone=zone, **more))
    library, store = Library(engine, per_page=1), Store()
    edges = sorted({0, len(table), *(min(cut, len(table)) for cut in cuts)})
    for start, stop in zip(edges, [*edges[1:], None], strict=True):
        forget(engine)
        if start in snapshots:
            library = saved_and_opened(library, store, in_one_piece=start % 3 == 0)
            engine = library.engine
        if stop is None:
            yield engine.feed(table.slice(len(table)), end + 1)
            yield engine.finish(end)
        else:
            yield engine.feed(table.slice(start, stop - start), ends[stop - 1])


def forget(engine: Engine) -> None:
    """From now on nothing is held that is not needed, between batches."""
    engine.bound, engine.idle, engine.wording.enough = -1, -sys.maxsize, -1
    for number in range(len(engine.engines)):
        engine.compact(number)


class Store(dict[str, bytes]):
    """A store that is asked for what it has, and for nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def get(self, name: str, default: Any = None) -> Any:
        self.read.append(name)
        return self[name]


def saved_and_opened(library: Library, store: Store, in_one_piece: bool) -> Library:
    """The engine as it is after a restart: from bytes, or from a store that is written and read by pages."""
    if in_one_piece:
        return restore(save(library))
    library.write(store)
    assert {name for name in store if name.startswith("page")} == set(library.names())
    return Library.open(store, per_page=1)


def engine_detect(
    pattern: Pattern,
    events: Sequence[Event],
    *,
    restart: bool = False,
    until: int | None = None,
    zone: str = "UTC",
    cuts: Sequence[int] = (),
    **more: Any,
) -> list[Composite]:
    """What the engine finds in all."""
    found = list(feeds(pattern, events, restart=restart, until=until, zone=zone, cuts=cuts, **more))
    return [composite for one in found for composite in composites_of(one)]


def engine_incomplete(pattern: Pattern, events: Sequence[Event], **options: Any) -> list[Incomplete]:
    """The runs that the engine reports to have come to nothing."""
    return [one for found in feeds(pattern, events, incomplete=True, **options) for one in incomplete_of(found)]


def incomplete_of(found: Found) -> list[Incomplete]:
    """Incomplete runs as objects."""
    made = []
    for number, definition in enumerate(found.definitions):
        for ended in definition.incomplete:
            for row, (at, reason) in enumerate(zip(ended.at.tolist(), ended.reason.tolist(), strict=True)):
                one = composite_of(found, number, ended.matched, row)
                made.append(Incomplete(one.type, one.lo, one.hi, one.attributes, one.parts, REASONS[reason], at))
    return made


def composites_of(found: Found) -> list[Composite]:
    """Columns as objects; the ids in the columns must be what the objects say."""
    made = []
    for number, definition in enumerate(found.definitions):
        columns = definition.composites
        for row, id in enumerate(columns.ids().to_pylist()):
            made.append(composite_of(found, number, columns, row))
            assert made[-1].id == id
    return made


def pool_of(found: Found) -> Pool:
    pool = Pool()
    for text in found.texts.to_pylist():
        pool.number(text)
    return pool


def composite_of(found: Found, number: int, columns: Composed, row: int) -> Composite:
    definition, pool = found.definitions[number], pool_of(found)
    values = zip(columns.kinds[row].tolist(), columns.bits[row].tolist(), strict=True)
    attributes = {
        name: decode(kind, bits, pool) for name, (kind, bits) in zip(definition.attributes, values, strict=True)
    }
    inside = slice(columns.offsets[row], columns.offsets[row + 1])
    parts = zip(columns.owners[inside], columns.rows[inside], columns.labels[inside], strict=True)
    return Composite(
        definition.name,
        int(columns.lo[row]),
        int(columns.hi[row]),
        attributes,
        tuple(
            Part(symbol_of(found, int(owner), int(part)), frozenset(labels_of(int(mask), list(definition.labels))))
            for owner, part, mask in parts
        ),
    )


def symbol_of(found: Found, owner: int, number: int) -> Event | Composite:
    if owner == PRIMITIVE:
        table, row = row_of(found.events, number)
        return table.record(row)
    columns, row = row_of(found.definitions[owner].known, number)
    return composite_of(found, owner, columns, row)


def row_of(kept: Kept[T], number: int) -> tuple[T, int]:
    [(piece, _, rows)] = kept.locate(np.array([number]))
    return piece, int(rows[0])
