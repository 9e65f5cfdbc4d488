"""Detection while a scenario runs gives what detection of its events gives, however they come in."""

import pytest

from penstock import detect
from penstock.events.times import SECOND
from penstock.scenarios.live import InProcess
from penstock.scenarios.office.patterns import OFFICE, load
from penstock.scenarios.office.simulator import simulate


@pytest.mark.parametrize("tick", [60 * SECOND, 300 * SECOND])
def test_live_is_the_same_as_afterwards(tick: int) -> None:
    day = simulate(seed=4, hours=1)
    live = InProcess(load(OFFICE), list(day.sources))
    for arrival in day.arrivals(tick):
        live.take(arrival)
    found = live.finish()
    afterwards = detect(day.events, load(OFFICE))
    assert sorted(found.table["id"].to_pylist()) == sorted(afterwards.table["id"].to_pylist())
    progress = live.progress()
    assert (progress.consumed, progress.late, progress.composites) == (len(day.events), 0, len(afterwards))
