"""What is printed parses to the same, and so does the JSON form."""

import json

from hypothesis import given

from penstock.algebra.json_form import items_from_json, to_json
from penstock.algebra.pattern import Pattern
from penstock.checks.check import checked, parse
from penstock.languages.core.parser import parse_syntax
from penstock.languages.core.printer import print_pattern
from penstock.testing.strategies import meaningful_patterns, patterns


def same(one: Pattern, other: Pattern) -> bool:
    """Equal, with 1, 1.0 and true told apart."""
    return one == other and repr(one) == repr(other)


@given(patterns)
def test_what_is_printed_parses_to_an_equal_pattern(pattern: Pattern) -> None:
    assert same(parse_syntax(print_pattern(pattern)), pattern)


@given(patterns)
def test_printing_is_stable(pattern: Pattern) -> None:
    text = print_pattern(pattern)
    assert print_pattern(parse_syntax(text)) == text


@given(patterns)
def test_the_json_form_says_the_same(pattern: Pattern) -> None:
    form = json.loads(json.dumps(to_json(pattern)))
    assert same(Pattern(items_from_json(form)), pattern)


@given(meaningful_patterns())
def test_meaningful_patterns_pass_the_checks(pattern: Pattern) -> None:
    assert same(checked(pattern), parse(print_pattern(pattern)))
