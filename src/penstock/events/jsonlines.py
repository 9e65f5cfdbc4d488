"""JSON lines as an `EventTable`: one CloudEvent a line."""

from __future__ import annotations

import json
from typing import Any

from penstock.errors import DataError
from penstock.events.jsoncolumns import ordinary_table
from penstock.events.mapping import Columns
from penstock.events.origin import JsonLines, Lines, OnBad, Origin, file_line
from penstock.events.records import from_dicts
from penstock.events.table import EventTable


def read_json_lines(
    content: bytes, name: str, columns: Columns, on_bad: OnBad | None = None
) -> tuple[EventTable, Origin]:
    """The events of a file's content, and where each record stands; blank lines are skipped.

    >>> table, origin = read_json_lines(b'{"type": "A", "time": 5}', "events.jsonl", Columns())
    >>> len(table), origin.where(0)
    (1, 'events.jsonl, line 1')
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    plain = (content.replace(b"\r\n", b"\n") if b"\r" in content else content).rstrip(b"\n")
    ordinary = ordinary_table(plain, columns)
    if ordinary is not None:
        return ordinary, JsonLines(name, Lines(plain), range(1, len(ordinary) + 1))
    records: list[Any] = []
    lines: list[str] = []
    numbers: list[int] = []
    for number, raw in enumerate(content.split(b"\n"), 1):
        if not raw or raw.isspace():
            continue
        try:
            line = _decoded(raw, name, number)
            records.append(_parsed(line, name, number))
        except DataError as error:
            if on_bad is None:
                raise
            on_bad(error)
            continue
        lines.append(line)
        numbers.append(number)
    origin = JsonLines(name, lines, numbers)
    return from_dicts(records, columns=columns, on_bad=on_bad, origin=origin), origin


def _decoded(raw: bytes, name: str, number: int) -> str:
    try:
        return raw.decode().rstrip("\r")
    except UnicodeDecodeError as error:
        text = raw.decode(errors="replace")
        start = len(raw[: error.start].decode(errors="replace"))
        place = file_line(name, number, text, start, start + 1)
        raise DataError("not UTF-8", hint="save the file as UTF-8", place=place) from None


def _parsed(line: str, name: str, number: int) -> Any:
    try:
        return _DECODER.decode(line)
    except json.JSONDecodeError as error:
        place = file_line(name, number, line, error.pos, error.pos + 1)
        problem = error.msg[0].lower() + error.msg[1:]
        raise DataError(f"not valid JSON: {problem}", hint="expected one CloudEvent a line", place=place) from None
    except (ValueError, RecursionError) as error:
        place = file_line(name, number, line, 0, len(line))
        raise DataError(f"not valid JSON: {error}", hint="expected one CloudEvent a line", place=place) from None


def _constant(word: str) -> None:
    """NaN is an absent number; the infinite ones are not JSON."""
    if word != "NaN":
        raise ValueError(f"{word} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_constant)
