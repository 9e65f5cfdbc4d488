"""The comparison itself: what it prints can be read, and what it makes small still differs."""

from collections.abc import Iterator

import pytest

from penstock.algebra import expressions as x
from penstock.algebra.node import walk
from penstock.testing.golden import cases_of, run
from penstock.testing.reference import incomplete, reference
from tests.compare.case import case_of
from tests.compare.shrink import shrunk
from tests.compare.trial import Trial, compared, random_trial


@pytest.mark.parametrize("number", range(25))
def test_a_trial_as_a_golden_case_says_what_the_reference_finds(number: int) -> None:
    [case] = cases_of(case_of(random_trial(f"cases:{number}"), "a trial"), "here")
    assert run(case, reference, incomplete) == []


def test_a_seed_gives_the_same_trial_again() -> None:
    assert random_trial("same:1") == random_trial("same:1") != random_trial("same:2")


def nodes(trial: Trial) -> Iterator[object]:
    return (node for item in trial.pattern.items for node in walk(item))


def test_a_trial_is_made_as_small_as_it_can_be() -> None:
    def differs(trial: Trial) -> bool:
        limited = any(isinstance(node, x.Within) for node in nodes(trial))
        return limited and any(event.type == "A" for event in trial.events)

    trial = next(one for n in range(100) if differs(one := random_trial(f"small:{n}")))
    small = shrunk(trial, differs)
    assert [event.type for event in small.events] == ["A"]
    assert sum(isinstance(node, x.Expression) for node in nodes(small)) == 2
    assert (small.options, small.cuts) == ({}, ())


def test_the_comparison_sees_what_is_missing_and_what_is_odd(monkeypatch: pytest.MonkeyPatch) -> None:
    found = (one for n in range(100) if (one := random_trial(f"seen:{n}")) and (compared(one)[1]))
    trial = next(one for one in found if reference(one.pattern, one.events, **one.options))
    assert compared(trial)[0] is None
    monkeypatch.setattr("tests.compare.trial.feeds", lambda *_, **__: [])
    difference, _ = compared(trial)
    assert difference is not None
    assert difference.missing
    assert not difference.odd
