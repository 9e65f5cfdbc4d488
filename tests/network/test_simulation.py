"""Networks in which nodes die, detectors move and links are cut: nothing is lost, and nothing doubled."""

import pytest

from tests.network.simulation import run


@pytest.mark.parametrize("seed", range(20))
def test_subscribers_hear_what_one_process_finds(seed: int) -> None:
    run(seed)


def test_who_was_first_at_a_place_is_known_elsewhere_too() -> None:
    run(9002, steps=300)


@pytest.mark.parametrize("seed", [500647, 500888])
def test_what_a_detector_tells_again_is_not_late(seed: int) -> None:
    run(seed, steps=240)
