"""The PATTERN of a command: a text, or the path of a file with one."""

from __future__ import annotations

import json
import os
from pathlib import Path

from penstock.algebra.json_form import items_from_json
from penstock.algebra.pattern import Pattern
from penstock.checks.check import parse
from penstock.command.complaints import OptionError
from penstock.errors import ParseError, Place
from penstock.languages.core.printer import print_pattern

KNOWN = (".pen", ".json")
LATER = (".pretty", ".gem", ".ival")


def load_pattern(argument: str) -> Pattern:
    """The pattern that an argument means.

    >>> load_pattern("[A] ; [B]").definitions[0].name
    'composite'
    """
    ending = os.path.splitext(argument)[1].lower()
    if ending not in (*KNOWN, *LATER) and not os.path.isfile(argument):
        return parse(argument)
    if ending in LATER:
        raise OptionError(
            f"{argument}: patterns in {ending} files are not there yet",
            hint=f"patterns are read from {' and '.join(KNOWN)} files",
        )
    text = _text(Path(argument))
    return _from_json(text, argument) if ending == ".json" else parse(text, argument)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise OptionError(
            f"{path}: there is no such file", hint="a pattern is a text such as '[A] ; [B]', or a path"
        ) from None
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise OptionError(f"{path}: not UTF-8", hint="save the file as UTF-8") from None


def _from_json(text: str, name: str) -> Pattern:
    """A pattern in the algebra's JSON form; errors about its meaning point into its core text."""
    try:
        items = items_from_json(json.loads(text))
    except json.JSONDecodeError as error:
        place = Place(text, error.pos, error.pos + 1, name)
        raise ParseError(f"not valid JSON: {error.msg}", place=place) from None
    except RecursionError:
        raise ParseError(f"{name}: nested too deep") from None
    except ParseError as error:
        raise ParseError(f"{name}: {error.message}", hint=error.hint) from None
    return parse(print_pattern(Pattern(items)), f"{name} as core text")
