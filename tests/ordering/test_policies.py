"""Policies are written as people write them, printed back, and refused with a hint."""

from datetime import timedelta

import pytest

from penstock.errors import PatternError
from penstock.ordering.policies import (
    Guaranteed,
    best_effort,
    delay,
    guaranteed,
    parse_policy,
    probabilistic,
)

POLICIES = [best_effort(), guaranteed(), guaranteed("1 h 30 min"), probabilistic(0.99), probabilistic(1 / 3), delay(7)]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_what_is_printed_is_read_back(policy: object) -> None:
    assert parse_policy(str(policy)) == policy


@pytest.mark.parametrize(
    "text",
    ["guaranteed(max_wait=10 s)", " guaranteed ( max_wait = 10 s ) ", "guaranteed(10 s)", "guaranteed(max_wait=10sec)"],
)
def test_spaces_and_the_argument_name_are_free(text: str) -> None:
    assert parse_policy(text) == Guaranteed(10_000_000)


@pytest.mark.parametrize("text", ["best_effort", "best_effort()", "guaranteed", "guaranteed()"])
def test_empty_parentheses_may_stand(text: str) -> None:
    assert str(parse_policy(text)) == text.removesuffix("()")


def test_durations_are_microseconds_timedelta_or_text() -> None:
    assert delay(5_000_000) == delay("5 s") == delay(timedelta(seconds=5))
    assert guaranteed(max_wait=timedelta(minutes=1)) == guaranteed(max_wait="1 min")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("garanteed", "'garanteed' is no policy", "did you mean guaranteed?"),
        ("", "'' is no policy", "policies are"),
        ("delay", "delay needs to know d", "delay(5 s)"),
        ("probabilistic()", "probabilistic needs to know p", "probabilistic(0.99)"),
        ("probabilistic(high)", "'high' in 'probabilistic(high)' is no number", "policies are"),
        ("probabilistic(1.5)", "1.5 is no probability", "between 0 and 1"),
        ("probabilistic(nan)", "nan is no probability", "between 0 and 1"),
        ("delay(5 parsecs)", "'parsecs' is not a unit of time", "units are"),
        ("delay(0 s)", "not a positive duration", "longer than nothing"),
        ("guaranteed(wait=5 s)", "guaranteed knows no 'wait'", "max_wait=10 s"),
        ("best_effort(5 s)", "best_effort knows no '5 s'", "policies are"),
    ],
)
def test_anything_else_is_refused_with_a_hint(text: str, message: str, hint: str) -> None:
    with pytest.raises(PatternError) as refused:
        parse_policy(text)
    assert message in refused.value.message
    assert hint in str(refused.value.hint)


@pytest.mark.parametrize("given", [0, -1, True, 1.5, timedelta(0)])
def test_a_duration_is_longer_than_nothing(given: object) -> None:
    with pytest.raises(PatternError, match="is no duration"):
        delay(given)  # type: ignore[arg-type]
