"""Detection by the engine over events as objects, cut into batches anywhere."""

from collections.abc import Sequence
from typing import Any

from penstock.algebra.pattern import Pattern
from penstock.engine.definition import Choice
from penstock.engine.engine import Engine
from penstock.events.event import Event
from penstock.events.found import Composite
from penstock.events.order import ordered
from penstock.events.records import from_dicts
from penstock.events.table import EventTable

SUPPORTED = {"context", "runs_per_instance", "age"}
"""What the engine knows of ``context``, ``runs_per_instance``, ``age``, ``incomplete`` and ``snapshots``.

Golden cases with other options wait; the comparison with the reference does not draw them.
"""


def table_of(events: Sequence[Event]) -> EventTable:
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
    return ordered(from_dicts(records))[0]


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
    """What the engine finds if the input is cut into batches at ``cuts``."""
    table = table_of(events)
    ends = table.field("hi").to_pylist()
    end = max([*ends, *([until] if until is not None else [])], default=0)
    engine = Engine(pattern, Choice(restart=restart, zone=zone, **more))
    edges = sorted({0, len(table), *(min(cut, len(table)) for cut in cuts)})
    found = []
    for start, stop in zip(edges, [*edges[1:], None], strict=True):
        if stop is None:
            found += engine.feed(table.slice(len(table)), end + 1)
        else:
            found += engine.feed(table.slice(start, stop - start), ends[stop - 1])
    return found
