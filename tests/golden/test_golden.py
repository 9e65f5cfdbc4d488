"""Every golden case, on the reference."""

from pathlib import Path

import pytest

from penstock.testing.golden import Case, read_cases, run
from penstock.testing.reference import incomplete, reference

CASES = [case for path in sorted(Path(__file__).parent.glob("*.txt")) for case in read_cases(path)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.where)
def test_the_reference_does_what_the_case_says(case: Case) -> None:
    assert run(case, reference, incomplete) == [], f"{case.title}\n{case.pattern}"


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 80
