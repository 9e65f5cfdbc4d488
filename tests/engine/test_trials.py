"""Five thousand random trials, cut into batches and restored in between: the engine finds what the reference finds.

``python -m tests.compare`` runs as many as one likes.
"""

import pytest

from tests.compare.case import case_of
from tests.compare.trial import compared, random_trial

TRIALS = 250


@pytest.mark.parametrize("seed", range(20))
def test_the_engine_finds_what_the_reference_finds(seed: int) -> None:
    for number in range(TRIALS):
        trial = random_trial(f"test {seed}:{number}")
        difference, _ = compared(trial)
        assert difference is None, case_of(trial, "they differ")


@pytest.mark.parametrize(
    "seed",
    [
        "990001:56",
        "77:2312",
        "14:469",
        "2026b:13586",
        "2026c:20079",
        "2026c:37022",
        "2026d:3963",
        "2026d:13731",
        "2026k:187452",
        "2026t:63869",
        "2026ab:53908",
    ],
)
def test_a_trial_in_which_they_once_differed(seed: str) -> None:
    assert compared(random_trial(seed))[0] is None
