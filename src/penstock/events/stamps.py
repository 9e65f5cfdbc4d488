"""Interval stamps of many events from the times of their ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from penstock.errors import DataError
from penstock.events.fields import FieldError
from penstock.events.instant import swapped
from penstock.events.instants import Instants, Ints
from penstock.events.times import EARLIEST, LATEST

Span = tuple[tuple[str, str], Any, Any]
"""The names of the fields that give an interval's ends, and the two times as they were given."""
Note = Callable[[int, DataError], None]


def stamps(low: Instants, high: Instants, error: int, span: Callable[[int], Span], note: Note) -> tuple[Ints, Ints]:
    """The beginnings and ends of all events, widened by their clocks' error; bad rows are noted.

    >>> import numpy
    >>> times = Instants(numpy.array([10]), numpy.array([10]))
    >>> stamps(times, times, 2, lambda row: (("time", "time"), 10, 10), lambda row, error: None)
    (array([8]), array([12]))
    """
    if low is high and not low.bad and not error:
        return low.down, low.up
    unread(low.bad, lambda row: span(row)[0][0], note)
    unread(high.bad, lambda row: span(row)[0][1], note)
    readable = np.ones(len(low.down), bool)
    readable[[*low.bad, *high.bad]] = False
    for row in np.flatnonzero(readable & (low.down > high.up)).tolist():
        note(row, swapped(*span(row)))
    lo, hi = low.down - error, high.up + error
    for row in np.flatnonzero(readable & ((lo < EARLIEST) | (hi > LATEST))).tolist():
        note(row, FieldError(span(row)[0][0], "with its clock error it is outside the years 1 to 9999"))
    return lo, hi


def unread(bad: Mapping[int, DataError], field: Callable[[int], str], note: Note) -> None:
    """Note the rows whose time could not be read, each with the field that it stands in.

    >>> unread({3: DataError("is missing")}, lambda row: "time", lambda row, error: print(row, error))
    3 field 'time': is missing
    """
    for row, error in bad.items():
        note(row, FieldError(field(row), error.message, hint=error.hint))
