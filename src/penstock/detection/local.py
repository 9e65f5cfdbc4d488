"""Detection in this process, over events that are all there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from penstock.algebra.pattern import Pattern
from penstock.checks.check import parse
from penstock.detection.arguments import check_options
from penstock.detection.composites import Composites
from penstock.detection.course import Course
from penstock.detection.limits import Limits
from penstock.detection.plan import Plan, plan_of
from penstock.detection.standing import standing
from penstock.events.arrow import from_arrow
from penstock.events.identity import with_ids
from penstock.events.instant import instant
from penstock.events.mapping import Columns, columns_from
from penstock.events.order import ordered
from penstock.events.records import from_dicts
from penstock.events.table import EventTable

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
    limits: Limits | None = None,
    incomplete: bool = False,
) -> Composites:
    """The composites of a pattern over events that are all there; their order does not matter.

    Args:
        events: Anything Arrow (pandas, polars, duckdb, tables, other composites), or dicts with ``type``,
            ``source``, ``id``, ``time`` or ``lo`` and ``hi``, and attributes under ``data``.
        pattern: A pattern, or its text in the core language.
        context: Which runs a composite uses up: ``continuous``, ``chronicle``, ``recent`` or ``cumulative``.
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
        limits: How many runs may wait, and for how long; those of `penstock.Limits` unless others are given.
        incomplete: Whether the runs that came to nothing are wanted too, as ``incomplete`` of the result.

    >>> door = {"door": "D1"}
    >>> events = [
    ...     {"type": "Close", "source": "s", "id": "2", "time": "2026-03-02T09:05:00Z", "data": door},
    ...     {"type": "Open", "source": "s", "id": "1", "time": "2026-03-02T09:00:00Z", "data": door},
    ... ]
    >>> detect(events, "[Open(door = $d)] ; [Close(door = $d)]")
    <1 composite: composite 1>
      2026-03-02 09:00:00 – 09:05:00  composite  d=D1  Open@09:00:00 Close@09:05:00
    """
    check_options(
        pattern=pattern, context=context, restart=restart, zone=zone, carry=carry, only=only,
        columns=columns, time_unit=time_unit, clock_error=clock_error, limits=limits, incomplete=incomplete,
    )  # fmt: skip
    plan = plan_of(
        _parsed(pattern) if isinstance(pattern, str) else pattern, context=context, restart=restart, zone=zone,
        carry=carry, only=only, limits=limits, incomplete=incomplete,
    )  # fmt: skip
    table = read_table(events, columns, zone, time_unit, clock_error)
    return detect_all(table, plan, None if until is None else instant(until, None, zone, round_up=True))


@lru_cache(maxsize=64)
def _parsed(text: str) -> Pattern:
    """The pattern of a text, which is often the same as before."""
    return parse(text)


def detect_all(table: EventTable, plan: Plan, until: int | None = None) -> Composites:
    """What a plan finds in events that are all there, in any order; the input ends at its last event or ``until``.

    >>> from penstock.events.table import make_table
    >>> table = make_table({"type": ["B", "A"], "lo": [9, 5], "hi": [9, 5]}, {})
    >>> len(detect_all(table, plan_of(parse("[A] ; [B]"))))
    1
    """
    course = Course(plan, table)
    end = NEVER if until is None else until
    stand = standing(table, plan)
    if stand:
        events, picked = stand
        ends = events.numbers("hi")[picked.rows[-1:]]
        last = table.latest(end) if plan.needs_end else int(ends.max(initial=end))
        course.feed(events, last + 1, picked)
        return course.finish(last)
    last = table.latest(end)
    # An id that is made is a hash of all that an event says, and so is which of two repeated events is kept.
    given = with_ids(plan.relevant(table)) if table.field("id").null_count else table
    events, repeated = ordered(plan.relevant(plan.narrowed(given)))
    if repeated and plan.attributes is not None:
        events, repeated = ordered(plan.relevant(given))
    course.feed(plan.narrowed(events), last + 1)
    return course.finish(last, repeated)


def read_table(
    events: Any,
    columns: Mapping[str, str] | Columns | None,
    zone: str | None,
    time_unit: str | None,
    clock_error: int,
) -> EventTable:
    """Events as a table, from anything that they may be given as."""
    if isinstance(events, EventTable):
        return events
    reading: dict[str, Any] = {"zone": zone, "time_unit": time_unit, "clock_error": clock_error}
    if isinstance(events, list | tuple):
        mapping = columns if columns is None or isinstance(columns, Columns) else columns_from(columns)
        return from_dicts(events, columns=mapping, **reading)
    return from_arrow(events, columns, **reading)
