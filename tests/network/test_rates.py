"""What nodes measure of sources and detectors, and when they tell it."""

from __future__ import annotations

from collections import Counter

from penstock.events.records import from_dicts
from penstock.network.rates import Meter, counted


def test_events_are_counted_by_source_and_type() -> None:
    pairs = [("a", "Open"), ("b", "Open"), ("a", "Close"), ("a", "Open")]
    table = from_dicts([{"type": type, "source": source, "time": 5} for source, type in pairs])
    assert counted(table) == Counter(pairs)


def test_a_rate_is_told_again_only_when_it_is_another_one() -> None:
    meter, total, told = Meter(), 0, []
    for rate in (10, 11, 9, 12, *[100] * 10, *[0] * 40):
        total += rate
        told += [one.rates["Open"] for one in meter.measure([Counter({("door", "Open"): total})], 1.0)]
    assert told[0] == 10
    assert told[1] > 30
    assert told[-1] < 0.1
    assert len(told) < 12


def test_what_two_detectors_hear_of_one_source_counts_once() -> None:
    heard = Counter({("door", "Open"): 20})
    [rates] = Meter().measure([heard, heard], 10.0)
    assert rates.rates == {"Open": 2.0}


def test_silence_is_measured_too() -> None:
    [rates] = Meter().measure([{("door", "Open"): 0}], 10.0)
    assert rates.rates == {"Open": 0.0}


def test_a_detector_that_comes_back_does_not_count_less_than_nothing() -> None:
    meter = Meter()
    meter.measure([Counter({("door", "Open"): 100})], 1.0)
    assert all(rate >= 0 for one in meter.measure([Counter()], 1.0) for rate in one.rates.values())
