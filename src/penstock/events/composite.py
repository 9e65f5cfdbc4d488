"""The parts of composites in a column of a table: JSON text, or lists of structs as in our own results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import DataError
from penstock.events.cloudevents import parts_of, to_part
from penstock.events.convert import decoded, is_text
from penstock.events.fields import FieldError
from penstock.events.stamps import Note


def is_parts_column(column: pa.Array) -> bool:
    """Whether a column named ``parts`` holds the parts of composites; otherwise it is an attribute.

    >>> is_parts_column(pa.array(["[]"])), is_parts_column(pa.array([3]))
    (True, False)
    """
    column = decoded(column)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return True
    return is_text(column.type) and pc.all(pc.starts_with(column, "[")).as_py() is not False


def parts_column(name: str, column: pa.Array, zone: str | None, note: Note) -> pa.Array:
    """The parts as JSON text in one form; rows where they are no events are noted.

    >>> parts_column("parts", pa.array([None, "[]"]), None, lambda row, error: None).to_pylist()
    [None, '[]']
    """
    texts: list[str | None] = []
    for row, value in enumerate(decoded(column).to_pylist()):
        texts.append(None)
        try:
            if value is not None:
                texts[row] = parts_text(_listed(value), zone)
        except DataError as error:
            problem = error.problem if isinstance(error, FieldError) else error.message
            note(row, FieldError(name, problem, hint=error.hint))
    return pa.array(texts, pa.string())


def parts_text(parts: list[Any], zone: str | None) -> str:
    """Parts that are CloudEvents, as JSON text in one form.

    >>> parts_text([{"type": "A", "source": "s", "id": "1", "time": 0}], None)
    '[{"type": "A", "source": "s", "id": "1", "time": "1970-01-01T00:00:00Z"}]'
    """
    events = parts_of({"parts": parts}, zone)
    return json.dumps([to_part(event) for event in events])


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise DataError(f"not valid JSON: {error}", hint="parts are a list of events") from None
    return [_unpacked(part) for part in value] if isinstance(value, list) else []


def _unpacked(part: Any) -> Any:
    """A part as it stands in our results, with its attributes as JSON text, taken apart."""
    if not isinstance(part, Mapping) or isinstance(part.get("data"), Mapping):
        return part
    data = part.get("data")
    return {key: part[key] for key in part if key not in ("data", "label", "path")} | {
        "data": json.loads(data) if isinstance(data, str) else {}
    }
