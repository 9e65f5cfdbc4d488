"""What ``penstock check`` says of a pattern."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rich.text import Text

from penstock.checks.report import DefinitionReport, report
from penstock.command.patterns import load_pattern
from penstock.command.writing import say, styled
from penstock.errors import ParseError, PatternError
from penstock.events.durations import format_duration


def run(argument: str, as_json: bool) -> None:
    """Report on standard output; an error about the pattern is raised, and for machines said there too."""
    try:
        reports = report(load_pattern(argument))
    except (ParseError, PatternError) as error:
        if as_json:
            _say_json({"well_formed": False, "error": _error_members(error)})
        raise
    if as_json:
        _say_json({"well_formed": True, "definitions": [one.to_json() for one in reports]})
    else:
        say(styled(Text("well-formed", "bold green"), *map(_described, reports)))


def _say_json(verdict: dict[str, Any]) -> None:
    say(json.dumps(verdict, ensure_ascii=False, indent=2) + "\n")


def _error_members(error: ParseError | PatternError) -> dict[str, Any]:
    return {
        "message": error.message,
        "hint": error.hint,
        "line": error.line,
        "column": error.column,
        "excerpt": error.excerpt,
    }


def _described(one: DefinitionReport) -> Text:
    text = Text("\n").append(one.name, "bold")
    for word, said in _lines(one):
        text.append(f"\n  {word}: ", "bold yellow" if word == "warning" else "cyan").append(said)
    return text


def _lines(one: DefinitionReport) -> Iterator[tuple[str, str]]:
    yield "parameters", ", ".join(f"${name}" for name in one.parameters) or "none"
    for name in one.parameters:
        yield from _splitting(name, one.splits.get(name, {}), one.copied.get(name, ()))
    yield "time bound", _bound(one.bound)
    yield from (("warning", warning) for warning in one.warnings)


def _bound(microseconds: int | None) -> str:
    if microseconds is None:
        return "none"
    return format_duration(microseconds) if microseconds else "a match is complete at once"


def _splitting(name: str, splits: dict[str, str], copied: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    by = ", ".join(f"{type} by {attribute}" for type, attribute in splits.items())
    yield f"${name} splits", by or "nothing"
    if copied:
        yield f"all instances of ${name} need", ", ".join(copied)
