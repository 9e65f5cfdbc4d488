"""Detection in this process, over events that are all there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from penstock.algebra.pattern import Pattern
from penstock.checks.check import parse
from penstock.detection.composites import Composites, composites_table
from penstock.detection.kinds import kinds_of
from penstock.detection.parts import PartWriter
from penstock.detection.selection import Selection
from penstock.engine.definition import Choice
from penstock.engine.engine import Engine
from penstock.errors import PatternError, nearest
from penstock.events.arrow import from_arrow
from penstock.events.identity import with_ids
from penstock.events.instant import instant
from penstock.events.mapping import Columns, columns_from
from penstock.events.order import ordered
from penstock.events.records import from_dicts
from penstock.events.table import EventTable
from penstock.filters.attributes import check_attributes

CONTEXTS = ("continuous",)
"""The contexts that can be chosen."""
NEVER = -(2**63)
"""The end of an input without events."""


def detect(
    events: Any,
    pattern: Pattern | str,
    *,
    context: str = "continuous",
    restart: bool = False,
    until: int | str | datetime | None = None,
    zone: str | None = None,
    carry: str | Iterable[str] = "all",
    only: Iterable[str] = (),
    columns: Mapping[str, str] | Columns | None = None,
    time_unit: str | None = None,
    clock_error: int = 0,
) -> Composites:
    """The composites of a pattern over events that are all there; their order does not matter.

    Args:
        events: Anything Arrow (pandas, polars, duckdb, tables, other composites), or dicts with ``type``,
            ``source``, ``id``, ``time`` or ``lo`` and ``hi``, and attributes under ``data``.
        pattern: A pattern, or its text in the core language.
        context: Which runs a composite uses up.
        restart: Whether a start that has failed comes back.
        until: When the input ends for timers, if later than its last event: microseconds, a ``datetime`` or
            RFC 3339 text.
        zone: The time zone of times that say none, which are refused otherwise, and of clock times in the pattern,
            which are UTC otherwise.
        carry: Which attributes the parts keep: ``all``, ``none`` or names.
        only: The definitions whose composites are wanted; all unless some are named.
        columns: Where a table has its fields, such as ``{"type": "alarm_id", "lo": "start_timestamp"}``.
        time_unit: What numbers that are times count: ``s``, ``ms``, ``us`` or ``ns``.
        clock_error: By how many microseconds the clocks may be wrong, either way.

    >>> door = {"door": "D1"}
    >>> events = [
    ...     {"type": "Close", "source": "s", "id": "2", "time": "2026-03-02T09:05:00Z", "data": door},
    ...     {"type": "Open", "source": "s", "id": "1", "time": "2026-03-02T09:00:00Z", "data": door},
    ... ]
    >>> detect(events, "[Open(door = $d)] ; [Close(door = $d)]")
    <1 composite: composite 1>
      2026-03-02 09:00:00 – 09:05:00  composite  d=D1  Open@09:00:00 Close@09:05:00
    """
    whole = parse(pattern) if isinstance(pattern, str) else pattern
    if context not in CONTEXTS:
        raise PatternError(f"the context {context!r} is not there yet", hint=f"there is only {', '.join(CONTEXTS)}")
    table, repeated = ordered(_table(events, columns, zone, time_unit, clock_error))
    check_attributes(whole, table)
    kinds = kinds_of(whole)
    wanted = kinds.only(only)
    end = None if until is None else instant(until, None, zone, round_up=True)
    last = max(np.asarray(table.field("hi")).max(initial=NEVER), end if end is not None else NEVER)
    found = Engine(whole, Choice(zone=zone or "UTC", restart=restart)).feed(table, int(last) + 1)
    selection = Selection(found, wanted.attributes)
    return Composites(composites_table(selection, wanted, PartWriter(kinds, _carried(carry, table))), repeated)


def _table(
    events: Any,
    columns: Mapping[str, str] | Columns | None,
    zone: str | None,
    time_unit: str | None,
    clock_error: int,
) -> EventTable:
    if isinstance(events, EventTable):
        return with_ids(events)
    reading: dict[str, Any] = {"zone": zone, "time_unit": time_unit, "clock_error": clock_error}
    if isinstance(events, list | tuple):
        mapping = columns if isinstance(columns, Columns) else columns_from(columns or {})
        return with_ids(from_dicts(events, columns=mapping, **reading))
    return with_ids(from_arrow(events, columns, **reading))


def _carried(carry: str | Iterable[str], table: EventTable) -> list[str] | None:
    """The attributes that primitive parts keep, each once; ``None`` for all."""
    if carry == "all":
        return None
    named = carry.split(",") if isinstance(carry, str) else carry
    wanted = [] if carry == "none" else list(dict.fromkeys(name.strip() for name in named))
    there = table.attributes.column_names
    for name in wanted:
        if table.fixed and name not in there:
            close = nearest(name, there)
            hint = f"did you mean `{close}`?" if close else f"they have {', '.join(there)}"
            raise PatternError(f"the events have no attribute `{name}` to carry", hint=hint)
    return wanted
