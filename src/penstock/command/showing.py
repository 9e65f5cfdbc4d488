"""The forms in which ``penstock show`` shows a pattern."""

from __future__ import annotations

import json
from collections.abc import Callable

from penstock.algebra.json_form import to_json
from penstock.algebra.pattern import Pattern
from penstock.automaton.compile import compile_pattern
from penstock.command.complaints import OptionError
from penstock.command.patterns import load_pattern
from penstock.command.writing import say
from penstock.drawing.dot import draw_dot
from penstock.drawing.svg import draw_svg
from penstock.drawing.text import draw_text
from penstock.errors import nearest
from penstock.languages.core.printer import print_pattern

LATER = ("pretty", "python", "gem", "ival")


def _as_json(pattern: Pattern) -> str:
    return json.dumps(to_json(pattern), ensure_ascii=False, indent=2)


FORMS: dict[str, Callable[[Pattern], str]] = {
    "core": print_pattern,
    "json": _as_json,
    "text": lambda pattern: draw_text(compile_pattern(pattern), pattern),
    "dot": lambda pattern: draw_dot(compile_pattern(pattern), pattern),
    "svg": lambda pattern: draw_svg(compile_pattern(pattern), pattern),
}
"""What each form is made by."""


def run(argument: str, form: str) -> None:
    """Write the pattern in the form to standard output."""
    if form not in FORMS:
        raise _unknown(form)
    say(FORMS[form](load_pattern(argument)).removesuffix("\n") + "\n")


def _unknown(form: str) -> OptionError:
    hint = f"the forms are {', '.join(FORMS)}"
    if form in LATER:
        return OptionError(f"--as {form} is not there yet", hint=hint)
    close = nearest(form, FORMS)
    return OptionError(f"--as: there is no form {form!r}", hint=f"did you mean {close}? {hint}" if close else hint)
