"""``probabilistic(p)`` keeps its promise under different laws of delay, and waits less than ``guaranteed``."""

import numpy as np
import pytest

from penstock.ordering.estimates import Estimates
from penstock.ordering.policies import Policy, guaranteed, probabilistic
from penstock.ordering.sources import Sources
from penstock.ordering.stage import Ordering
from penstock.testing.delays import Changing, Constant, Exponential, HeavyTailed
from penstock.testing.simulator import Delivery, Route, SimulatedSource, simulate
from tests.ordering.conftest import SECOND, fed

NAMES = [f"s{number}" for number in range(8)]
LAWS = {
    "constant": Constant(200_000),
    "exponential": Exponential(300_000),
    "heavy-tailed": HeavyTailed(50_000, 2.0),
    "very heavy-tailed": HeavyTailed(50_000, 1.5),
    "changing": Changing(Exponential(200_000), Exponential(600_000), 150 * SECOND),
    "one dies": Exponential(300_000),
}


def delivered(law: str) -> Delivery:
    route = Route(LAWS[law])
    dies = {NAMES[1]: 150 * SECOND} if law == "one dies" else {}
    rates = {NAMES[0]: 0.1}
    return simulate(
        [SimulatedSource(name, rate=rates.get(name, 2.0), route=route, dies=dies.get(name)) for name in NAMES],
        300,
        seed=2,
    )


def outcome(delivery: Delivery, policy: Policy) -> tuple[float, float]:
    """The share of events consumed while an earlier one was under way, and the mean wait."""
    stage = Ordering(policy, NAMES)
    ends = np.zeros(0, np.int64)
    wrong = np.zeros(0, bool)
    for arrival in delivery.arrivals(100_000):
        ready = stage.feed(arrival.table, arrival.at)
        if len(ready.late):
            wrong[np.searchsorted(ends, np.asarray(ready.late.table.field("hi")).min(), side="right") :] = True
        ends = np.append(ends, np.asarray(ready.table.field("hi")))
        wrong = np.append(wrong, np.zeros(len(ready.table), bool))
    stage.finish()
    return float(wrong.sum()) / stage.counters.consumed, stage.counters.mean_wait


@pytest.mark.parametrize("law", LAWS)
def test_the_share_of_wrongly_early_consumptions_is_at_most_what_p_allows(law: str) -> None:
    delivery = delivered(law)
    wrong, wait = outcome(delivery, probabilistic(0.9))
    assert wrong <= 0.1
    assert wait < outcome(delivery, guaranteed())[1] / 2


def test_a_source_that_is_rarely_heard_does_not_look_late() -> None:
    stage = Ordering(probabilistic(0.9), ["s", "rare"])
    fed(stage, 'r@0.5"rare"', arrival=0.6)
    for at in range(1, 400):
        fed(stage, f'a@{at}"s"', arrival=at + 0.1)
        if at % 100 == 0:
            fed(stage, f'r@{at}.5"rare"', arrival=at + 0.6)
    stage.wait(400 * SECOND + 500_000)
    # It was heard long ago, and nobody waits for what it sends once in a hundred seconds.
    assert stage.progress > 399 * SECOND


def estimates_of(delays: list[int]) -> tuple[Estimates, Sources]:
    stage = Ordering(probabilistic(0.9))
    for number, delay in enumerate(delays, 1):
        fed(stage, f'a@{number}"s"', arrival=number + delay / SECOND)
    assert hasattr(stage.rule, "estimates")
    return stage.rule.estimates, stage.sources


def test_a_source_that_died_is_noticed() -> None:
    estimates, sources = estimates_of([50_000] * 60)
    soon, later = (estimates.outlook(sources, at * SECOND).under_way(at * SECOND) for at in (62, 600))
    assert soon > 0.01
    assert later < soon / 100


def test_a_source_that_is_often_heard_and_falls_silent_is_waited_for() -> None:
    delays = HeavyTailed(50_000, 1.5).draw(np.random.default_rng(1), np.zeros(400, np.int64))
    estimates, sources = estimates_of(np.minimum(delays, 900_000).tolist())
    # It says something every second: after twenty without a word, what it said first is probably still under way.
    soon, later = (estimates.outlook(sources, at * SECOND).under_way((at - 1) * SECOND) for at in (402, 420))
    assert soon < 0.1
    assert later > 0.5


def test_what_is_usual_follows_a_change() -> None:
    estimates, sources = estimates_of([50_000] * 100 + [900_000] * 200)
    assert estimates.usual(sources.current())[0] == pytest.approx(900_000, rel=0.1)


def test_what_is_usual_of_the_rate_follows_a_change() -> None:
    stage = Ordering(probabilistic(0.9))
    for at in [*range(1, 100), *range(100, 4000, 20)]:
        fed(stage, f'a@{at}"s"', arrival=at + 0.05)
    assert hasattr(stage.rule, "estimates")
    [rate] = stage.rule.estimates.outlook(stage.sources, stage.now).rates.tolist()
    assert rate * SECOND == pytest.approx(1 / 20, rel=0.1)


def test_the_probability_that_nothing_is_under_way_is_the_product_over_sources() -> None:
    def under_way(*names: str) -> float:
        stage = Ordering(probabilistic(0.9))
        for at in range(1, 50):
            for name in names:
                fed(stage, f'a@{at}"{name}"', arrival=at + 0.05)
        assert hasattr(stage.rule, "estimates")
        outlook: float = stage.rule.estimates.outlook(stage.sources, 50_060_000).under_way(50_000_000)
        return np.exp(-outlook)

    assert under_way("s") < 1
    # They share what is known of tails, so that they are a little surer together.
    assert under_way("s", "t") == pytest.approx(under_way("s") * under_way("t"), rel=0.05)


def test_a_clock_that_is_ahead_is_a_delay_below_nothing() -> None:
    estimates, sources = estimates_of([-300 * SECOND] * 50)
    assert estimates.usual(sources.current())[0] == pytest.approx(-300 * SECOND)
    # At 351 on its clock it is 51 here; what it sent before has come.
    assert estimates.outlook(sources, 51 * SECOND).under_way(350 * SECOND) < 0.05


def test_being_wrong_makes_careful_and_being_right_makes_bold() -> None:
    rule = Ordering(probabilistic(0.9)).rule
    rule.judge(np.arange(100), np.zeros(0, np.int64))
    before = rule.save()["caution"]
    rule.judge(np.zeros(0, np.int64), np.array([50]))
    careful = rule.save()["caution"]
    rule.judge(np.arange(100, 200), np.zeros(0, np.int64))
    assert before < careful
    assert rule.save()["caution"] < careful
