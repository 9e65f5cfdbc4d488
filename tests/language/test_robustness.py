"""Whatever is given to the parser, it says in time what is wrong."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import ParseError, PenstockError, parse
from penstock.languages.core.parser import parse_syntax

TOKENS = [
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ";",
    "|",
    "||",
    "*",
    "+",
    "?",
    ":",
    ":=",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "-",
    "/",
    "!",
    "in",
    "not",
    "let",
    "within",
    "where",
    "select",
    "at",
    "and",
    "or",
    "between",
    "like",
    "is",
    "null",
    "true",
    "false",
    "escape",
    "A",
    "B",
    "x",
    "T",
    "v",
    "count",
    "max",
    "hour",
    "office.door",
    "'text'",
    "''",
    '"',
    "$k",
    "$",
    "3",
    "4.5",
    "1e9",
    "min",
    "s",
    "19:00",
    "2026-03-01T10:00:00Z",
    "#",
    "\n",
    "\n\t",
    "⊆",
    "¬",
    "->",
    "==",
    "&",
    "@",
    "\ufeff",
]

QUICK = 3.0
HUGE = {
    "filters in filters": "A(" * 5_000,
    "types and groups": "A (B " * 5_000,
    "open brackets": "(" * 20_000,
    "square brackets": "[" * 20_000,
    "brackets around brackets": "(" * 5_000 + "A" + ")" * 5_000,
    "labels": "x: (" * 5_000,
    "repetitions": "[A]" + "*" * 20_000,
    "suffixes": "A" + " within 1 s" * 5_000,
    "negations": "[A(" + "NOT " * 5_000 + "v)]",
    "signs": "[A(v > " + "-" * 20_000 + "1)]",
    "sums": "[A(v = 1" + " + 1" * 10_000 + ")]",
    "conditions in brackets": "[A(" + "(" * 5_000 + "v" + ")" * 5_000 + ")]",
    "a long text": "[A] ; " * 50_000,
    "a large number": "[A(v = " + "9" * 50_000 + ")]",
    "a large count": "[A]{" + "9" * 50_000 + "}",
    "a large duration": "[A] within " + "9" * 50_000 + " d",
    "a large exponent": "[A] within 1e9999999999 d",
    "a small exponent": "[A] within 1e-9999999 d",
    "a long fraction": "(A, B){T = at 1:00:00." + "9" * 50_000 + "}",
}


@given(st.text(max_size=60))
def test_any_text_parses_or_is_an_error_of_ours(text: str) -> None:
    try_to_parse(text)


@given(st.lists(st.sampled_from(TOKENS), max_size=15).map(" ".join))
def test_any_words_parse_or_are_an_error_of_ours(text: str) -> None:
    try_to_parse(text)


@given(st.lists(st.sampled_from(TOKENS), max_size=12).map("".join))
def test_any_words_without_spaces_too(text: str) -> None:
    try_to_parse(text)


def try_to_parse(text: str) -> None:
    """Parses a text, or makes sure that the error can be shown."""
    try:
        parse(text)
    except PenstockError as caught:
        error = caught
    else:
        return
    assert str(error)
    assert error.line is not None


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
def test_what_is_too_deep_or_too_large_is_refused_quickly(text: str) -> None:
    start = time.process_time()
    with pytest.raises(ParseError):
        parse_syntax(text)
    assert time.process_time() - start < QUICK


@pytest.mark.parametrize("text", ["[A]{2000}{2000}", "[A]{10000}", "([A]{0,200}){0,200}"])
def test_a_small_text_with_a_large_meaning_is_refused_quickly(text: str) -> None:
    start = time.process_time()
    with pytest.raises(PenstockError, match="too large"):
        parse(text)
    assert time.process_time() - start < QUICK


def test_ninety_brackets_are_not_too_many() -> None:
    assert parse("(" * 90 + "A" + ")" * 90) == parse("A")
