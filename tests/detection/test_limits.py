"""`penstock.Limits`: what can be given, what happens at each, and that what is dropped is counted."""

from datetime import timedelta

import pytest

import penstock as ps


def events(types: str) -> list[dict[str, object]]:
    return [{"type": type, "source": "s", "id": str(at), "time": at} for at, type in enumerate(types, 1)]


def test_an_age_is_a_duration() -> None:
    assert ps.Limits(age="1 s").age == ps.Limits(age=timedelta(seconds=1)).age == ps.Limits(age=1_000_000).age
    assert ps.Limits(age="1 s") == ps.Limits(age=1_000_000)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"runs": 0}, "runs: 0 is no limit"),
        ({"runs_per_instance": True}, "runs_per_instance: True is no limit"),
        ({"held": 1.5}, "held: 1.5 is no limit"),
        ({"age": 0}, "age: 0 is no duration"),
        ({"age": "5 mn"}, "age: '5 mn' is not a duration: 'mn' is not a unit of time"),
    ],
)
def test_what_is_no_limit(limits: dict[str, object], message: str) -> None:
    with pytest.raises(ps.PatternError) as caught:
        ps.Limits(**limits)  # type: ignore[arg-type]
    assert caught.value.message == message
    assert caught.value.hint


def test_the_oldest_runs_of_an_instance_are_dropped_and_counted() -> None:
    found = ps.detect(events("AAAB"), "[A] ; [B]", limits=ps.Limits(runs_per_instance=2))
    assert ([one.lo for one in found], found.dropped) == ([2, 3], 1)
    assert ps.detect(events("AAAB"), "[A] ; [B]").dropped == 0


def test_runs_that_are_dropped_inside_a_side_are_counted() -> None:
    assert ps.detect(events("AAAB"), "([A] ; [B]) || [C]", limits=ps.Limits(runs_per_instance=1)).dropped == 2


def test_runs_without_a_time_bound_are_dropped_when_they_are_old() -> None:
    limits = ps.Limits(age=2)
    found = ps.detect(events("AxxxxB"), "[A] ; [B]", limits=limits)
    assert (len(found), found.dropped) == (0, 1)
    found = ps.detect(events("AxxxxB"), "[A] ; [B] within 1 min", limits=limits)
    assert (len(found), found.dropped) == (1, 0)


def test_more_runs_in_all_than_may_be_are_an_error() -> None:
    with pytest.raises(ps.StateError, match="more than 2 runs of `composite` wait at once"):
        ps.detect(events("AAAB"), "[A] ; [B]", limits=ps.Limits(runs=2))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_as_many_runs_may_wait_as_the_limit_says(size: int) -> None:
    detector = ps.Detector("[A] ; [B]", limits=ps.Limits(runs=2))
    detector.feed(events("AA"))
    detector = ps.Detector("[A] ; [B]", limits=ps.Limits(runs=2))
    *before, last = [events("AAA")[start : start + size] for start in range(0, 3, size)]
    for some in before:
        detector.feed(some)
    with pytest.raises(ps.StateError, match="more than 2 runs of `composite` wait at once"):
        detector.feed(last)


@pytest.mark.parametrize("others", [0, 9, 600, 2000])
@pytest.mark.parametrize("after", [2, 100])
@pytest.mark.parametrize("known", [False, True])
def test_whether_too_many_wait_does_not_depend_on_what_comes_after(others: int, after: int, known: bool) -> None:
    pattern = "([A(k = $k)], [T in {T, B(k = $k)}]){T = 2 us}"
    given = [("A", 0, 1), ("A", 1, 2), *(("B", after + at, 2 if known else 3 + at) for at in range(others))]
    table = [{"type": type, "id": str(n), "time": at, "data": {"k": k}} for n, (type, at, k) in enumerate(given)]
    ps.detect(table, pattern, limits=ps.Limits(runs=2))
    with pytest.raises(ps.StateError, match="more than 1 runs of `composite` wait at once"):
        ps.detect(table, pattern, limits=ps.Limits(runs=1))


@pytest.mark.parametrize("pattern", ["[A(id = $k)] ; [B(id = $k)] within 2 us", "x: [A] ; [B(lo > x.lo)] within 2 us"])
@pytest.mark.parametrize("incomplete", [False, True])
def test_runs_whose_time_is_up_do_not_count(pattern: str, incomplete: bool) -> None:
    many = [{"type": "A", "id": str(at), "time": 10 * at} for at in range(500)]
    ps.detect(many, pattern, limits=ps.Limits(runs=1), incomplete=incomplete)
