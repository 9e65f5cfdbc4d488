"""Detection in files: in batches where they can be read so, which takes little memory, and otherwise as a whole.

Both ways give the same results and the same errors. Whatever is unusual is left to reading as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import IO, Any

import numpy as np
import pyarrow as pa

from penstock.algebra.names import primitive_types
from penstock.detection.composites import Composites
from penstock.detection.course import Course
from penstock.detection.local import NEVER, detect_all
from penstock.detection.plan import Plan
from penstock.engine.pagereading import PageReading
from penstock.errors import DataError, PenstockError
from penstock.events.batches import ROWS, EventBatches, read_batches
from penstock.events.files import Progress, event_files, read_events
from penstock.events.mapping import Columns
from penstock.events.table import EventTable

IN_BATCHES = (".csv", ".parquet")
"""The endings of files that may be read in batches."""
Paths = Sequence[str | PathLike[str]]


@dataclass(frozen=True)
class FoundInFiles:
    """What was found, the errors about records that were skipped, and the types of all events."""

    composites: Composites
    bad: tuple[DataError, ...]
    types: frozenset[str]


def detect_files(
    paths: Paths,
    plan: Plan,
    columns: Columns | None = None,
    *,
    until: int | None = None,
    skip_bad: bool = False,
    stdin: IO[Any] | None = None,
    progress: Progress | None = None,
    begins: Callable[[str], None] | None = None,
    rows: int = ROWS,
) -> FoundInFiles:
    """What a plan finds in files and folders, or in JSON lines from ``stdin``; arguments as for `read_events`.

    ``begins`` is told what begins: ``detecting``, or ``reading and detecting`` where that is done in batches, of
    about so many ``rows``.

    >>> import io
    >>> from penstock import parse
    >>> from penstock.detection.plan import plan_of
    >>> found = detect_files([], plan_of(parse("[A]")), stdin=io.StringIO('{"type": "A", "time": 5}'))
    >>> len(found.composites), found.types
    (1, frozenset({'A'}))
    """
    columns, begins = columns or Columns(), begins or _silently
    files = event_files(paths)
    if files and all(path.suffix.lower() in IN_BATCHES for path in files):
        begins("reading and detecting")
        found = _in_batches(files, plan, columns, until, rows)
        if found is not None:
            return found
        begins("reading")
    loaded = read_events(paths, columns, skip_bad=skip_bad, stdin=stdin, progress=progress)
    begins("detecting")
    return FoundInFiles(detect_all(loaded.table, plan, until), loaded.bad, types_of(loaded.table))


def _silently(doing: str) -> None:
    """Nobody wants to know."""


def _in_batches(paths: Paths, plan: Plan, columns: Columns, until: int | None, rows: int) -> FoundInFiles | None:
    """The same in batches; None if this cannot be done, or if there is an error to be reported."""
    batches = read_batches(
        paths, columns, relevant=plan.relevant, wanted_attributes=plan.attributes, rows=rows, reader=PageReading()
    )
    if not batches.holds or batches.blank is None:
        return None
    try:
        composites, seen = _course(batches, batches.blank, plan, until)
    except PenstockError:
        return None
    if not batches.holds:
        return None
    return _with_all_types(FoundInFiles(composites, (), seen), paths, plan, columns)


def _course(
    batches: EventBatches, blank: EventTable, plan: Plan, until: int | None
) -> tuple[Composites, frozenset[str]]:
    """What is found, if the batches turn out to hold, and the types of the events that were met."""
    course = Course(plan, blank)
    seen: frozenset[str] = frozenset()
    for table in batches:
        course.feed(table)
        seen |= types_of(table)
    last = max(NEVER if at is None else at for at in (batches.last, until))
    course.feed(plan.narrowed(blank), last + 1)
    return course.finish(last), seen


def _with_all_types(found: FoundInFiles, paths: Paths, plan: Plan, columns: Columns) -> FoundInFiles:
    """Where a type of the pattern is missing, it matters which types there are that were not asked for."""
    if primitive_types(plan.pattern) <= found.types:
        return found
    everything = read_batches(paths, columns, wanted_attributes=frozenset())
    types = frozenset(name for table in everything for name in types_of(table))
    return replace(found, types=found.types | types)


def types_of(table: EventTable) -> frozenset[str]:
    """The types of all events of a table.

    >>> from penstock.events.table import make_table
    >>> types_of(make_table({"type": ["A"], "lo": [1], "hi": [1]}, {}))
    frozenset({'A'})
    """
    types = table.field("type")
    is_there = np.bincount(np.asarray(types.indices), minlength=len(types.dictionary)) > 0
    return frozenset(types.dictionary.filter(pa.array(is_there)).to_pylist())
