"""From patterns, options and the columns of a table to the work that is done on Spark. Nothing here knows Spark."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack, cast

from penstock.algebra.pattern import BARE, Definition, Pattern
from penstock.checks.check import parse
from penstock.detection.arguments import check_options
from penstock.detection.course import Course
from penstock.detection.kinds import kinds_of
from penstock.detection.plan import Plan, plan_of
from penstock.errors import PatternError, nearest
from penstock.events.instant import instant
from penstock.events.mapping import Columns, columns_from
from penstock.events.table import EventTable
from penstock.spark.options import Options, StreamOptions, TableOptions
from penstock.spark.packing import Recipe
from penstock.spark.schema import result_schema
from penstock.spark.split import split
from penstock.spark.work import Work

Given = Pattern | str
Patterns = Given | Sequence[Given] | Mapping[str, Given]
"""A pattern or its text, several of them, or several by the names that bare ones get."""
_OF_PLANS = ("context", "restart", "zone", "carry", "limits", "incomplete")
_OF_COLUMNS = ("zone", "time_unit", "clock_error")


class OneBucketWarning(UserWarning):
    """A pattern cannot be shared out, so that one worker detects all of it."""


def patterns_of(given: Patterns) -> tuple[Pattern, ...]:
    """The patterns that were given, parsed; all of their definitions have different names.

    >>> [one.definitions[0].name for one in patterns_of({"Pair": "[A] ; [B]", "Alone": "[C]"})]
    ['Pair', 'Alone']
    """
    if isinstance(given, Pattern | str):
        return (_parsed(given),)
    if isinstance(given, Mapping):
        patterns = tuple(_renamed(_parsed(one), name) for name, one in given.items())
    else:
        patterns = tuple(map(_parsed, given))
    if not patterns:
        raise PatternError("there is no pattern", hint="give at least one")
    counts = Counter(definition.name for pattern in patterns for definition in pattern.definitions)
    for name, number in counts.items():
        if number > 1:
            raise PatternError(
                f"{number} of the patterns define `{name}`",
                hint="give bare patterns names, as in {'Pair': '[A] ; [B]', …}" if name == BARE else "rename one",
            )
    return patterns


def _parsed(given: Given) -> Pattern:
    check_options(pattern=given)
    return parse(given) if isinstance(given, str) else given


def _renamed(pattern: Pattern, name: str) -> Pattern:
    """The pattern with this name for what has none."""
    items = tuple(
        replace(one, name=name, bare=False) if isinstance(one, Definition) and one.name == BARE else one
        for one in pattern.items
    )
    return Pattern(items, pattern.text, pattern.name)


def common_options(options: TableOptions | StreamOptions, kind: type[TableOptions | StreamOptions]) -> Options:
    """Those options that tables and streams have, of options of one kind.

    >>> common_options({"unique": True, "context": "recent"}, TableOptions)
    {'context': 'recent'}
    """
    for name in options:
        if name not in kind.__annotations__:
            raise TypeError(f"there is no option {name!r} here")
    check_options(**{name: value for name, value in options.items() if name != "until"})
    common = {name: value for name, value in options.items() if name in Options.__annotations__}
    if "only" in options:
        common["only"] = tuple(options["only"])
    return cast("Options", common)


def plans_of(patterns: Sequence[Pattern], **options: Unpack[Options]) -> tuple[Plan, ...]:
    """The plan of each pattern, with the options of `penstock.detect`; those about columns do not matter here.

    >>> plans = plans_of(patterns_of({"One": "[A]", "Two": "[B]"}), only=["Two"])
    >>> [plan.only for plan in plans]
    [('Two',)]
    """
    wanted = tuple(options.get("only", ()))
    _check_known(patterns, wanted)
    chosen: dict[str, Any] = {name: value for name, value in options.items() if name in _OF_PLANS}
    plans = []
    for pattern in patterns:
        own = tuple(name for name in wanted if name in kinds_of(pattern).attributes)
        if own or not wanted:
            plans.append(plan_of(pattern, only=own, **chosen))
    return tuple(plans)


def _check_known(patterns: Sequence[Pattern], wanted: Sequence[str]) -> None:
    known = [name for pattern in patterns for name in kinds_of(pattern).attributes]
    for name in wanted:
        if name not in known:
            close, listed = nearest(name, known), f"the patterns define {', '.join(known)}"
            hint = f"did you mean `{close}`? {listed}" if close else listed
            raise PatternError(f"there is no definition `{name}`", hint=hint)


def needs_end(plans: Iterable[Plan]) -> bool:
    """Whether results depend on when the input ends: timers fire until then, and runs that wait are told of.

    >>> [needs_end(plans_of(patterns_of(text))) for text in ("[A] ; [B]", "([A], [T in {T, B}]){T = 5 s}")]
    [False, True]
    """
    return any(plan.needs_end for plan in plans)


def mapping_of(names: Sequence[str], **options: Unpack[Options]) -> Columns:
    """How the events of a table with these columns are read; options as for `penstock.detect`."""
    columns = options.get("columns")
    if isinstance(columns, Columns):
        return columns
    chosen: dict[str, Any] = {name: value for name, value in options.items() if name in _OF_COLUMNS}
    return columns_from(columns or {}, names, **chosen)


def work_of(
    plans: Sequence[Plan],
    blank: EventTable,
    columns: Columns,
    buckets: int,
    until: int | str | datetime | None = None,
    *,
    settles: bool = True,
) -> Work:
    """The work that finds what plans say in events with the attributes of a blank table; checked as a whole.

    ``settles`` says whether events may be repeated.

    >>> import pyarrow as pa
    >>> from penstock.events.arrow import from_arrow
    >>> blank = from_arrow(pa.schema([("type", pa.string()), ("time", pa.int64()), ("k", pa.int64())]).empty_table())
    >>> work = work_of(plans_of(patterns_of("[A(k = $k)] ; [B(k = $k)]")), blank, Columns(), 4)
    >>> work.schema.names, work.recipe.total
    (['type', 'lo', 'hi', 'k', 'id', 'parts'], 4)
    """
    for plan in plans:
        Course(plan, blank)
    patterns = [plan.pattern for plan in plans]
    is_tagged = any(plan.choice.incomplete for plan in plans)
    only = [name for plan in plans for name in plan.only]
    recipe = Recipe(
        split(patterns),
        buckets,
        columns,
        types=_union([plan.types for plan in plans]),
        attributes=_union([plan.attributes for plan in plans]),
        zone=plans[0].choice.zone,
    )
    end = None if until is None else instant(until, None, columns.zone, round_up=True)
    schema = result_schema(patterns, blank, only, is_tagged=is_tagged)
    return Work(recipe, tuple(plans), blank.attributes.schema, blank.fixed, schema, end, settles=settles)


def _union(some: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    """All that any wants; None is everything."""
    return None if None in some else frozenset[str]().union(*(one for one in some if one is not None))


def warn_of_one_bucket(work: Work) -> None:
    """Say which definitions are not shared out, and why."""
    for name, reason in work.recipe.split.reasons.items():
        warnings.warn(
            f"`{name}` is detected in one bucket, since {reason}; a parameter that all its events have would spread it",
            OneBucketWarning,
            stacklevel=3,
        )
