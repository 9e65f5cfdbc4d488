"""How to read files and tables that are not in our format: which column gives which field."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from penstock.errors import DataError, nearest
from penstock.events.times import unit_of, zone_of

_OPTIONS = {
    "type": "type_from",
    "time": "time_from",
    "lo": "time_from",
    "hi": "time_to",
    "source": "source_from",
    "id": "id_from",
    "seq": "seq_from",
    "arrival": "arrival_from",
}


@dataclass(frozen=True)
class Columns:
    """Where the fields of events stand, and how their times are to be read.

    ``time_from`` alone gives point events, with ``time_to`` it is the beginning of an interval. ``type`` is
    the type of all events, whatever the file says. ``time_unit`` is what numbers count (s, ms, us or ns;
    microseconds unless given), ``clock_error`` the ±ε of the clocks in microseconds, ``zone`` an IANA name
    for times without one. ``names`` are the column names of CSV files that have no header.

    >>> Columns(type_from="alarm_id", time_from="start", time_unit="s").renames
    True
    """

    type_from: str | None = None
    time_from: str | None = None
    time_to: str | None = None
    source_from: str | None = None
    id_from: str | None = None
    seq_from: str | None = None
    arrival_from: str | None = None
    type: str | None = None
    time_unit: str | None = None
    clock_error: int = 0
    zone: str | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        unit_of(self.time_unit)
        if self.zone is not None:
            zone_of(self.zone)
        if self.clock_error < 0:
            raise DataError(f"a clock error of {self.clock_error} us is negative", hint="give the ε of ±ε")

    @cached_property
    def renames(self) -> bool:
        """Whether any field is taken from a column of another name, or the type is the same for all.

        >>> Columns(zone="UTC").renames
        False
        """
        return self.type is not None or any(getattr(self, option) for option in _OPTIONS.values())

    def given(self, begin: str | None) -> dict[str, str | None]:
        """For each field, where it was said to be; ``begin`` is where times begin."""
        return {
            "type": self.type_from if self.type is None else None,
            "lo" if self.time_to else "time": begin,
            "hi": self.time_to,
            "source": self.source_from,
            "id": self.id_from,
            "seq": self.seq_from,
            "arrival": self.arrival_from,
        }

    def column_of(self, field: str) -> str:
        """What the records call a field.

        >>> Columns(time_from="start").column_of("time"), Columns().column_of("time")
        ('start', 'time')
        """
        return (getattr(self, _OPTIONS[field]) if field in _OPTIONS else None) or field


def columns_from(columns: Mapping[str, str], names: Collection[str] = (), **reading: Any) -> Columns:
    """The mapping of ``columns={"type": "alarm_id", "lo": "start"}``, for a table with the columns ``names``.

    Where only one end of an interval is mapped, the other is taken from the table's own ``lo`` or ``hi`` if
    it has one.

    >>> columns_from({"type": "alarm_id", "lo": "start"}, time_unit="s").time_from
    'start'
    """
    options: dict[str, Any] = {}
    for field, column in columns.items():
        if field not in _OPTIONS:
            close = nearest(field, _OPTIONS)
            hint = f"did you mean {close!r}?" if close else f"the fields are {', '.join(_OPTIONS)}"
            raise DataError(f"columns: {field!r} is no field of an event", hint=hint)
        options[_OPTIONS[field]] = column
    if "hi" in columns and "time_from" not in options:
        options["time_from"] = "lo" if "lo" in names else options.pop("time_to")
    elif "lo" in columns and "time_to" not in options and "hi" in names:
        options["time_to"] = "hi"
    return Columns(**options, **reading)
