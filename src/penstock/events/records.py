"""Python dicts, in our own form or as CloudEvents, as an `EventTable`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from penstock.errors import DataError
from penstock.events.attributes import SURROGATES, attribute_columns, attribute_values, is_encodable
from penstock.events.cloudevents import is_parts
from penstock.events.composite import parts_text
from penstock.events.fields import FieldError, Fields, fields_of
from penstock.events.flat import unflattened
from penstock.events.instant import disagrees
from penstock.events.instants import Ints, of_values
from penstock.events.mapping import Columns
from penstock.events.origin import BadRows, OnBad, Origin, origin_of
from penstock.events.stamps import stamps, unread
from penstock.events.table import EventTable, make_table
from penstock.events.uniform import uniform_table


def from_dicts(
    records: Iterable[Mapping[str, Any]],
    *,
    columns: Columns | None = None,
    zone: str | None = None,
    clock_error: int = 0,
    time_unit: str | None = None,
    on_bad: OnBad | None = None,
    origin: str | Origin = "record",
) -> EventTable:
    """Read events from dicts.

    A record that is no event is an error, or is left out and told to ``on_bad``. ``columns`` maps the keys
    of foreign records; the options after it are as in `Columns`, and win over it. Records without an id
    have none in the table either: `penstock.events.identity.with_ids` gives them one.

    >>> from_dicts([{"type": "Open", "time": 5, "data": {"door": "D1"}}]).record(0).attributes
    {'door': 'D1'}
    """
    columns = columns or _AS_NAMED
    given: dict[str, Any] = {"zone": zone, "clock_error": clock_error, "time_unit": time_unit}
    if any(given.values()):
        columns = replace(columns, **{name: value for name, value in given.items() if value})
    records = records if isinstance(records, list | tuple) else list(records)
    uniform = uniform_table(records, columns)
    if uniform is not None:
        return uniform
    reading = _Reading(columns, BadRows(), [], [])
    reading.take(records)
    return reading.table(origin_of(origin), on_bad)


_AS_NAMED = Columns()


@dataclass(frozen=True)
class _Reading:
    """Records being read: the fields of those that have them, and the numbers of their records."""

    columns: Columns
    bad: BadRows
    rows: list[int]
    fields: list[Fields]

    def take(self, records: Iterable[Mapping[str, Any]]) -> None:
        renames = self.columns.renames
        for row, record in enumerate(records):
            try:
                self.fields.append(fields_of(unflattened(record, self.columns) if renames else record))
                self.rows.append(row)
            except DataError as error:
                self.bad.add(row, self._named(error))

    def table(self, origin: Origin, on_bad: OnBad | None) -> EventTable:
        self._check_texts()
        lo, hi = self._stamps()
        arrivals = self._arrivals()
        parts = self._parts()
        values = attribute_values([f.data for f in self.fields], self.columns.zone, self._note)
        left_out = set(self.bad.settle(origin, on_bad))
        kept = [place for place, row in enumerate(self.rows) if row not in left_out]
        fields = [self.fields[place] for place in kept]
        uncertain = self.columns.clock_error > 0
        return make_table(
            {
                "type": [f.type for f in fields],
                "source": [f.source for f in fields],
                "id": [f.id for f in fields],
                "seq": [f.seq for f in fields],
                "lo": pa.array(lo[kept]),
                "hi": pa.array(hi[kept]),
                "parts": [parts.get(place) for place in kept],
                "arrival": [arrivals.get(place) for place in kept],
                "uncertain": [uncertain or f.uncertain for f in fields],
                "retracted": [f.retracted for f in fields],
            },
            attribute_columns(values, kept, lambda place: origin.where(self.rows[place])),
        )

    def _note(self, place: int, error: DataError) -> None:
        self.bad.add(self.rows[place], self._named(error))

    def _named(self, error: DataError) -> DataError:
        """The error with the name that the record itself has for the field."""
        return error.renamed(self.columns.column_of(error.field)) if isinstance(error, FieldError) else error

    def _check_texts(self) -> None:
        if is_encodable("".join(f"{f.type}{f.source}{f.id}" for f in self.fields)):
            return
        for place, f in enumerate(self.fields):
            for name, text in (("type", f.type), ("source", f.source), ("id", f.id or "")):
                if not is_encodable(text):
                    self._note(place, FieldError(name, f"{text!a} is no Unicode text", hint=SURROGATES))

    def _stamps(self) -> tuple[Ints, Ints]:
        fields, unit, zone = self.fields, self.columns.time_unit, self.columns.zone
        low = of_values([f.lo for f in fields], unit, zone)
        points = all(f.span[0] == "time" for f in fields)
        high = low if points else of_values([f.hi for f in fields], unit, zone)
        lo, hi = stamps(low, high, self.columns.clock_error, lambda row: fields[row][4:7], self._note)
        self._check_times(high.up)
        return lo, hi

    def _check_times(self, ends: Ints) -> None:
        """Where there are both an interval and a ``time``, that is its end."""
        places = [place for place, f in enumerate(self.fields) if f.time is not None]
        times = of_values([self.fields[p].time for p in places], self.columns.time_unit, self.columns.zone)
        unread({places[row]: error for row, error in times.bad.items()}, lambda row: "time", self._note)
        for place, end in zip(places, times.up.tolist(), strict=True):
            if end != ends[place]:
                f = self.fields[place]
                self._note(place, disagrees(f.time, f.span, f.hi))

    def _arrivals(self) -> dict[int, int]:
        places = [place for place, f in enumerate(self.fields) if f.arrival is not None]
        times = of_values([self.fields[p].arrival for p in places], self.columns.time_unit, self.columns.zone)
        unread({places[row]: error for row, error in times.bad.items()}, lambda row: "arrival", self._note)
        return dict(zip(places, times.up.tolist(), strict=True))

    def _parts(self) -> dict[int, str]:
        """The parts of composites, as JSON text in one form."""
        texts = {}
        for place, f in enumerate(self.fields):
            if "parts" in f.data and is_parts("parts", f.data["parts"]):
                try:
                    texts[place] = parts_text(f.data["parts"], self.columns.zone)
                except DataError as error:
                    self._note(place, error)
        return texts
