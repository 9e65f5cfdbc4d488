"""When an event may be consumed: each rule of each policy, of sources, heartbeats, late events and duplicates."""

import numpy as np
import pyarrow as pa
import pytest

from penstock.errors import DataError, StateError
from penstock.events.table import make_table
from penstock.ordering.places import NEVER
from penstock.ordering.policies import best_effort, delay, guaranteed, parse_policy, probabilistic
from penstock.ordering.stage import BROKEN_ORDER, TOO_LATE, UNKNOWN_SOURCE, Ordering
from tests.ordering.conftest import SECOND, fed, named, seen, table

ALL = ["best_effort", "guaranteed", "guaranteed(max_wait=10 s)", "probabilistic(0.9)", "delay(5 s)"]


# Stability.


def test_an_event_waits_until_every_source_has_shown_a_later_stamp() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    assert seen(fed(stage, 'a@1"s" b@5"s"')) == []
    ready = fed(stage, 'c@3"t"')
    assert seen(ready) == ["A1", "C3"]
    assert ready.progress == 3 * SECOND


def test_a_source_that_is_alone_waits_for_nobody() -> None:
    stage = Ordering(guaranteed())
    assert seen(fed(stage, "a@1")) == ["A1"]
    assert seen(fed(stage, "b@2 c@3")) == ["B2", "C3"]


def test_events_leave_in_the_weak_order() -> None:
    stage = Ordering(guaranteed(), ["silent"])
    fed(stage, 'e@3"u" c@2-3"s"')
    fed(stage, 'b@1-3"t" f@3"u"#1 a@2"s" d@3"r"')
    assert seen(stage.finish()) == ["A2", "B3", "C3", "D3", "E3", "F3"]


@pytest.mark.parametrize(("first", "second", "ready"), [("s", "t", ["A5"]), ("t", "s", [])])
def test_sources_with_one_stamp_are_told_apart_by_name_as_events_are(first: str, second: str, ready: list[str]) -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, f'x@4"{second}"')
    fed(stage, f'a@5"{first}"')
    held = [name for name in seen(fed(stage, f'b@6"{second}"')) if name != "X4"]
    # The one that has shown 5 may send more of that stamp, which come before those of the other only by name.
    assert held == ["A5"]
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, f'a@5"{first}"')
    assert [name for name in seen(fed(stage, f'b@5"{second}"')) if name == "A5"] == ready


def test_a_stamp_that_begins_earlier_comes_first_and_is_waited_for() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, 'a@4-5"s"')
    assert seen(fed(stage, 'b@3-5"t"')) == ["B5"]
    assert seen(fed(stage, 'c@6"t"')) == ["A5"]


# Sources.


def test_a_registered_source_is_waited_for_from_the_beginning() -> None:
    stage = Ordering(guaranteed(), ["s", "silent"])
    assert seen(fed(stage, 'a@1"s"')) == []
    assert stage.status().holding == ("silent",)


def test_a_source_is_known_from_its_first_event_and_what_was_passed_before_is_late() -> None:
    stage = Ordering(guaranteed())
    fed(stage, 'a@5"s"')
    ready = fed(stage, 'b@3"t"')
    assert named(ready.late.table) == ["B3"]
    assert ready.late.reason == [UNKNOWN_SOURCE]
    assert ready.late.lateness.tolist() == [2 * SECOND]
    assert seen(fed(stage, 'c@9"s"')) == []
    assert seen(fed(stage, 'd@8"t"')) == ["D8"]


def test_a_source_that_only_stands_in_a_dictionary_is_not_known() -> None:
    stage = Ordering(guaranteed())
    both = table('a@1"s" b@2"t"')
    assert seen(stage.feed(both.slice(0, 1), 0)) == ["A1"]
    assert stage.status().names == ["s"]


def test_a_source_can_leave_and_is_waited_for_no_longer() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, 'a@1"s" b@5"s"')
    assert seen(stage.leave("t", 0)) == ["A1", "B5"]
    assert stage.status().names == ["s"]
    assert seen(stage.leave("nobody", 0)) == []


def test_what_a_source_sent_before_it_left_keeps_its_place() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, 'a@5"s" b@3"t"')
    fed(stage, 'c@7"s"')
    assert seen(stage.leave("t", 0)) == ["A5", "C7"]
    stage = Ordering(guaranteed(), ["s", "t", "u"])
    fed(stage, 'a@5"s" b@3"t"')
    assert seen(stage.leave("t", 0)) == []
    assert seen(fed(stage, 'c@9"u"')) == ["B3", "A5"]


def test_a_number_that_is_given_again_knows_nothing_of_its_last_source() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, 'a@9"t"')
    stage.leave("t", 0)
    stage.sources.register(["new"])
    assert seen(fed(stage, 'b@5"s"')) == []
    [new] = [source for source in stage.status().slowest() if source.name == "new"]
    assert (new.shown, new.heard, new.events) == (None, None, 0)


def test_a_source_that_left_is_known_again_from_its_next_event() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    stage.leave("t", 0)
    assert seen(fed(stage, 'a@5"s"')) == ["A5"]
    ready = fed(stage, 'b@3"t"')
    assert (named(ready.late.table), ready.late.reason) == (["B3"], [UNKNOWN_SOURCE])
    assert seen(fed(stage, 'c@9"s"')) == []
    assert stage.status().holding == ("t",)


def test_when_all_sources_have_left_nothing_is_waited_for() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, 'a@5"s"')
    stage.leave("t", 0)
    fed(stage, 'b@7"s" c@8"t"')
    stage.leave("s", 0)
    ready = stage.leave("t", 0)
    assert len(stage.held) == 0
    assert ready.progress == 8 * SECOND


# Heartbeats and timers.


def test_a_heartbeat_moves_stability_and_timers_at_or_before_it_may_fire() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, 'a@5"s"')
    ready = stage.heartbeat("t", 5 * SECOND, 0)
    assert seen(ready) == ["A5"]
    assert ready.progress == 5 * SECOND
    assert stage.heartbeat("s", 7 * SECOND, 0).progress == 5 * SECOND + 1


def test_timers_wait_for_the_slowest_source_and_never_for_the_clock() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, 'a@5"s"', arrival=1000)
    assert stage.wait(2000 * SECOND).progress == NEVER
    stage.heartbeat("t", 3 * SECOND, 3000 * SECOND)
    assert stage.wait(9000 * SECOND).progress == 3 * SECOND + 1


def test_a_heartbeat_that_goes_back_takes_nothing_back() -> None:
    stage = Ordering(guaranteed(), ["s"])
    assert stage.heartbeat("s", 9 * SECOND, 0).progress == 9 * SECOND + 1
    assert stage.heartbeat("s", 3 * SECOND, 0).progress == 9 * SECOND + 1


def test_an_event_behind_its_source_s_heartbeat_breaks_the_promise() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    stage.heartbeat("s", 9 * SECOND, 0)
    fed(stage, 'a@5"s"')
    assert stage.counters.disordered == 1
    assert seen(fed(stage, 'b@7"t"')) == ["A5", "B7"]
    ready = fed(stage, 'c@6"s"')
    assert ready.late.reason == [BROKEN_ORDER]


def test_a_detector_is_a_source_that_may_complete_several_at_one_instant() -> None:
    stage = Ordering(guaranteed(), ["penstock/M"])
    assert seen(fed(stage, 'm@3-5"penstock/M"')) == []
    assert seen(fed(stage, 'm@1-5"penstock/M"/2')) == []
    assert len(stage.heartbeat("penstock/M", 5 * SECOND, 0).table) == 2


# Order broken by a source.


def test_a_source_that_breaks_its_order_is_counted_and_put_in_its_place_if_that_is_ahead() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, 'a@5"s"')
    fed(stage, 'b@3"s"')
    assert stage.counters.disordered == 1
    ready = fed(stage, 'c@9"t"')
    assert seen(ready) == ["B3", "A5"]
    assert stage.counters.late == 0


def test_a_source_that_breaks_its_order_is_late_if_its_place_is_past() -> None:
    stage = Ordering(guaranteed())
    fed(stage, "a@5")
    ready = fed(stage, "b@3")
    assert (seen(ready), named(ready.late.table), ready.late.reason) == ([], ["B3"], [BROKEN_ORDER])
    [source] = stage.status().slowest()
    assert (source.late, source.disordered, source.events) == (1, 1, 2)


def test_what_one_source_says_of_one_instant_is_never_late_for_its_ids() -> None:
    stage = Ordering(guaranteed())
    assert seen(fed(stage, "a@5/9")) == ["A5"]
    assert seen(fed(stage, "b@5/10")) == ["B5"]
    assert seen(fed(stage, "c@5/10")) == []
    assert stage.counters.duplicate == 1


def test_a_counter_that_goes_back_at_one_instant_is_late() -> None:
    stage = Ordering(guaranteed())
    fed(stage, "a@5#7")
    assert fed(stage, "b@5#6/2").late.lateness.tolist() == [0]
    assert seen(fed(stage, "c@5#8/3")) == ["C5"]


# Duplicates.


@pytest.mark.parametrize("policy", ALL)
def test_a_repeated_event_is_consumed_once_and_counted(policy: str) -> None:
    stage = Ordering(parse_policy(policy), ["s", "t"])
    given = [fed(stage, 'a@5"s"/1 a@5"s"/1 b@6"s"/2'), fed(stage, 'b@6"s"/2 c@5"t"/1'), stage.finish()]
    assert sorted(name for ready in given for name in seen(ready)) == ["A5", "B6", "C5"]
    assert stage.counters.duplicate == 2


def test_of_repeated_events_that_come_together_the_first_in_order_is_kept() -> None:
    stage = Ordering(guaranteed())
    assert seen(fed(stage, "a@6/1 a@5/1 b@7/2")) == ["A5", "B7"]


def test_a_repeated_event_behind_the_frontier_is_late() -> None:
    stage = Ordering(guaranteed())
    fed(stage, "a@5/1 b@6/2")
    assert named(fed(stage, "a@5/1").late.table) == ["A5"]
    assert stage.counters.duplicate == 0


def test_ids_are_forgotten_with_the_events() -> None:
    stage = Ordering(guaranteed())
    for at in range(1, 200):
        fed(stage, f"a@{at}/1")
    assert stage.counters.consumed == 199
    assert (len(stage.held), len(stage.there)) == (0, 1)


# max_wait.


def test_a_silent_source_is_waited_for_no_longer_than_max_wait() -> None:
    stage = Ordering(guaranteed("10 s"), ["s", "silent"])
    assert seen(fed(stage, 'a@1"s"', arrival=100)) == []
    assert seen(stage.wait(110 * SECOND - 1)) == []
    ready = stage.wait(110 * SECOND)
    assert (seen(ready), ready.progress) == (["A1"], SECOND)


def test_what_comes_after_max_wait_is_late_and_says_so() -> None:
    stage = Ordering(guaranteed("10 s"), ["s", "slow"])
    fed(stage, 'a@5"s"', arrival=100)
    stage.wait(110 * SECOND)
    ready = fed(stage, 'b@2"slow" c@7"slow"', arrival=111)
    assert (named(ready.late.table), ready.late.reason, ready.late.lateness.tolist()) == (
        ["B2"],
        [TOO_LATE],
        [3 * SECOND],
    )


def test_max_wait_counts_from_an_event_s_own_arrival_where_it_has_one() -> None:
    stage = Ordering(guaranteed("10 s"), ["s", "silent"])
    events = table('a@1"s" b@2"s"')
    events = events.replaced("arrival", pa.array([100 * SECOND, 105 * SECOND]))
    assert seen(stage.feed(events, 105 * SECOND)) == []
    assert seen(stage.wait(110 * SECOND)) == ["A1"]
    assert seen(stage.wait(115 * SECOND)) == ["B2"]


def test_an_event_takes_those_before_it_along() -> None:
    stage = Ordering(guaranteed("10 s"), ["s", "t", "silent"])
    fed(stage, 'b@5"s"', arrival=100)
    fed(stage, 'a@3"t"', arrival=109)
    assert seen(stage.wait(110 * SECOND)) == ["A3", "B5"]


def test_with_max_wait_a_heartbeat_moves_timers_past_a_silent_source() -> None:
    stage = Ordering(guaranteed("10 s"), ["s", "silent"])
    stage.heartbeat("s", 50 * SECOND, 100 * SECOND)
    assert stage.wait(109 * SECOND).progress == NEVER
    assert stage.wait(110 * SECOND).progress == 50 * SECOND + 1


# delay.


def test_delay_consumes_what_is_older_than_the_newest_stamp_by_more_than_d() -> None:
    stage = Ordering(delay("5 s"))
    assert seen(fed(stage, "a@1 b@6")) == []
    ready = fed(stage, "c@7")
    assert (seen(ready), ready.progress) == (["A1"], 2 * SECOND)
    assert named(fed(stage, "d@1.9 e@2.5").late.table) == ["D1"]


def test_delay_goes_by_arrivals_too() -> None:
    stage = Ordering(delay("5 s"), ["never"])
    assert seen(fed(stage, "a@1", arrival=6)) == []
    assert seen(stage.wait(6 * SECOND + 1)) == ["A1"]


# best_effort.


def test_best_effort_consumes_on_arrival_and_counts_what_comes_behind() -> None:
    stage = Ordering(best_effort(), ["s", "t"])
    assert seen(fed(stage, 'b@5"s" a@3"s"')) == ["A3", "B5"]
    ready = fed(stage, 'c@4"t" d@6"t"')
    assert (seen(ready), ready.progress, len(ready.late)) == (["C4", "D6"], 6 * SECOND, 0)
    assert stage.counters.out_of_order == 1


def test_best_effort_never_takes_progress_back() -> None:
    stage = Ordering(best_effort())
    assert fed(stage, "a@9").progress == 9 * SECOND
    ready = fed(stage, "b@3")
    assert (seen(ready), ready.progress) == (["B3"], 9 * SECOND)


def test_best_effort_fires_timers_up_to_a_heartbeat_of_all_sources() -> None:
    stage = Ordering(best_effort(), ["s", "t"])
    assert stage.heartbeat("s", 9 * SECOND, 0).progress == NEVER
    assert stage.heartbeat("t", 7 * SECOND, 0).progress == 7 * SECOND + 1


# probabilistic: what can be said of single events; `test_probable` has the statistics.


def test_probabilistic_waits_until_a_source_s_usual_delay_is_over() -> None:
    stage = Ordering(probabilistic(0.99))
    for at in range(1, 100):
        fed(stage, f'a@{at}"s"/{at}', arrival=at + 0.001)
        fed(stage, f'a@{at}.2"t"/{at}', arrival=at + 0.5)
    assert seen(fed(stage, 'b@100.1"s"/x', arrival=100.101)) == []
    assert seen(stage.wait(100 * SECOND + 300_000)) == []
    assert seen(stage.wait(100 * SECOND + 500_000)) == ["B100"]


def test_probabilistic_consumes_what_is_stable_without_waiting() -> None:
    stage = Ordering(probabilistic(0.99), ["s", "t"])
    fed(stage, 'a@1"s"', arrival=1)
    assert seen(fed(stage, 'b@2"t"', arrival=2)) == ["A1"]


# The end, limits, and what cannot be ordered.


@pytest.mark.parametrize("policy", ALL)
def test_at_the_end_everything_leaves_in_order_and_timers_up_to_the_last_end_may_fire(policy: str) -> None:
    stage = Ordering(parse_policy(policy), ["s", "silent"])
    given = [fed(stage, 'b@5"s" a@3"s"', arrival=5), stage.finish()]
    assert [name for ready in given for name in seen(ready)] == ["A3", "B5"]
    assert given[-1].progress == 5 * SECOND + 1


@pytest.mark.parametrize("policy", ALL)
def test_an_input_without_events_ends_without_progress(policy: str) -> None:
    ready = Ordering(parse_policy(policy)).finish()
    assert (len(ready.table), ready.progress) == (0, NEVER)
    assert len(Ordering(parse_policy(policy)).feed(table(""), 5).table) == 0


def test_more_events_held_than_may_be_is_an_error_that_says_for_whom_they_wait_and_loses_nothing() -> None:
    stage = Ordering(guaranteed(), ["s", "badge-7"], held=2)
    fed(stage, 'a@1"s" b@2"s"')
    with pytest.raises(StateError, match="3 events are held") as refused:
        fed(stage, 'c@3"s"')
    assert "'badge-7' has shown nothing yet" in str(refused.value.hint)
    assert seen(stage.leave("badge-7", 0)) == ["A1", "B2", "C3"]


def test_an_event_without_an_id_is_refused() -> None:
    with pytest.raises(DataError, match="without an id"):
        Ordering(guaranteed()).feed(make_table({"type": ["A"], "lo": [1], "hi": [1]}, {}), 0)


def test_an_attribute_of_two_kinds_is_refused_whether_or_not_events_meet() -> None:
    stage = Ordering(guaranteed())
    fed(stage, "a@1(v=1)")
    fed(stage, "b@2(v=1.5)/2")
    with pytest.raises(DataError, match="'v' is a whole number in earlier events and text in these"):
        fed(stage, "c@3(v='x')/3")
    assert stage.counters.consumed == 2


# What is told.


def test_status_says_who_holds_everything_up_and_counts() -> None:
    stage = Ordering(guaranteed(), ["s", "t", "u"])
    fed(stage, 'a@5"s" b@3"t"', arrival=6)
    stage.heartbeat("u", 4 * SECOND, 7 * SECOND)
    status = stage.status()
    assert status.holding == ("t",)
    assert [(one.name, one.shown) for one in status.slowest(2)] == [("t", 3 * SECOND), ("u", 4 * SECOND)]
    assert (status.held, status.counters.consumed, status.progress, len(status)) == (1, 1, 3 * SECOND, 3)


def test_status_tells_how_long_events_waited() -> None:
    stage = Ordering(guaranteed(), ["s", "t"])
    fed(stage, 'a@1"s" b@9"s"', arrival=10)
    fed(stage, 'c@5"t"', arrival=14)
    assert stage.counters.mean_wait == (4 + 0) / 2 * SECOND


def test_estimated_delays_are_told() -> None:
    stage = Ordering(probabilistic(0.9), ["never"])
    fed(stage, 'a@1"s"', arrival=1.5)
    assert {one.name: one.delay for one in stage.status().slowest()} == {"never": None, "s": 500_000.0}


def test_progress_never_goes_back_and_ready_events_never_go_behind_it() -> None:
    random = np.random.default_rng(3)
    for policy in ALL[1:]:
        stage = Ordering(parse_policy(policy), ["s", "t"])
        before = NEVER
        for number in range(60):
            at = number + int(random.integers(0, 9))
            ready = fed(stage, f'a@{at}"{random.choice(["s", "t", "u"])}"/{number}', arrival=number)
            assert ready.progress >= before
            assert all(end >= before for end in ready.table.field("hi").to_pylist())
            before = ready.progress
