"""Composites as JSON lines, CSV and Parquet. The same composites are the same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import IO, Any

import pyarrow.parquet as pq

from penstock.detection.composites import Composites
from penstock.detection.values import json_text, json_value
from penstock.events.cloudevents import to_cloudevent, to_part
from penstock.events.event import Event, Value
from penstock.events.times import format_time

_QUOTED = re.compile(r'[",\r\n]|^\s|\s$|^$')


def cloudevent(composite: Event) -> dict[str, Any]:
    """A composite as a CloudEvent; its stamp is always there, also if it is a point.

    >>> list(cloudevent(Event("Met", "penstock/Met", "1", 0, 0)))
    ['specversion', 'type', 'source', 'id', 'time', 'timelo', 'timehi', 'data']
    """
    attributes = {name: json_value(value) for name, value in composite.attributes.items()}
    record = to_cloudevent(replace(composite, attributes=attributes))
    data = record.pop("data")
    stamp = {"timelo": format_time(composite.lo), "timehi": format_time(composite.hi)}
    return record | stamp | {"data": data}


def json_lines(composites: Composites) -> Iterator[str]:
    """One CloudEvent a line.

    >>> from penstock import detect
    >>> print(*json_lines(detect([{"type": "A", "id": "1", "time": 0}], "[A]")), end="")
    {"specversion": "1.0", "type": "composite", "source": "penstock/composite", \
"id": "...", "time": "1970-01-01T00:00:00Z", \
"timelo": "1970-01-01T00:00:00Z", "timehi": "1970-01-01T00:00:00Z", \
"data": {"parts": [{"type": "A", "source": "", "id": "1", "time": "1970-01-01T00:00:00Z"}]}}
    """
    for composite in composites:
        yield json_text(cloudevent(composite)) + "\n"


def csv_lines(composites: Composites) -> Iterator[str]:
    """The table's columns; times in RFC 3339, parts as JSON text. Empty text is in quotes, nothing is not.

    >>> from penstock import detect
    >>> next(csv_lines(detect([{"type": "A", "id": "1", "time": 0}], "[A]")))
    'type,lo,hi,id,parts\\n'
    """
    table = composites.table
    middle = [name for name in table.column_names if name not in ("type", "lo", "hi", "id", "parts")]
    values = [table[name].to_pylist() for name in middle]
    yield _csv_line(table.column_names)
    for row, one in enumerate(composites):
        attributes = (_csv_value(column[row]) for column in values)
        parts = json_text([to_part(part) for part in one.parts])
        yield _csv_line([one.type, format_time(one.lo), format_time(one.hi), *attributes, one.id, parts])


def _csv_value(value: Value | None) -> str | None:
    return value if value is None or isinstance(value, str) else json_text(json_value(value)).strip('"')


def _csv_line(cells: Iterable[str | None]) -> str:
    return ",".join("" if cell is None else _csv_cell(cell) for cell in cells) + "\n"


def _csv_cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _write_json_lines(composites: Composites, file: IO[bytes]) -> None:
    file.writelines(line.encode() for line in json_lines(composites))


def _write_csv(composites: Composites, file: IO[bytes]) -> None:
    file.writelines(line.encode() for line in csv_lines(composites))


def _write_parquet(composites: Composites, file: IO[bytes]) -> None:
    pq.write_table(composites.table.combine_chunks(), file)


WRITERS: dict[str, Callable[[Composites, IO[bytes]], None]] = {
    ".jsonl": _write_json_lines,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
"""How files with each ending are written."""
