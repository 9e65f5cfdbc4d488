"""A plan is made once for a pattern that is asked for again, and for no other."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.detection.limits import Limits
from penstock.detection.plan import plan_of


def test_the_same_pattern_with_the_same_options_has_one_plan() -> None:
    pattern = ps.parse("[A] ; [B]")
    assert plan_of(pattern, carry=["x"]) is plan_of(pattern, carry=["x"])


@pytest.mark.parametrize(
    "options",
    [{"context": "recent"}, {"restart": True}, {"zone": "Europe/Vienna"}, {"carry": "none"}, {"only": ["k"]},
     {"limits": Limits(runs=3)}, {"incomplete": True}],
)  # fmt: skip
def test_other_options_have_another_plan(options: dict[str, object]) -> None:
    pattern = ps.parse("[A(k = $k)] ; [B(k = $k)]")
    plan, other = plan_of(pattern), plan_of(pattern, **options)  # type: ignore[arg-type]
    assert plan != other
    assert plan_of(pattern) is plan


def test_what_is_chosen_by_numpy_can_be_saved() -> None:
    ps.detect([{"type": "A", "time": 1}], "[A]", restart=np.bool_(False))  # type: ignore[arg-type]
    ps.Detector("[A]", restart=np.bool_(True), incomplete=np.bool_(True)).snapshot()  # type: ignore[arg-type]
    assert ps.Detector("[A]").snapshot()


def test_patterns_that_are_equal_but_not_the_same_have_plans_of_their_own() -> None:
    whole, real = ps.parse("[A] select n = 1"), ps.parse("[A] select n = 1.0")
    assert whole == real
    events = pa.table({"type": ["A"], "time": [5]})
    found = [str(ps.detect(events, pattern).table.schema.field("n").type) for pattern in (whole, real)]
    assert found == ["int64", "double"]


def test_a_plan_goes_elsewhere_without_what_was_prepared_here() -> None:
    pattern = ps.parse("[A] ; [B]")
    before = len(pickle.dumps(plan_of(pattern)))
    assert plan_of(pattern).definitions
    plan = pickle.loads(pickle.dumps(plan_of(pattern)))  # noqa: S301
    assert len(pickle.dumps(plan)) <= before + 200
    assert plan == plan_of(pattern)


def test_detections_of_one_plan_after_each_other_find_the_same() -> None:
    pattern = ps.parse("[A(k = $k)] ; [B(k = $k)]")
    events = pa.table({"type": ["A", "B", "A", "B"], "time": [1, 2, 3, 4], "k": [1, 1, 2, 1]})
    first, other, again = (ps.detect(some, pattern).table for some in (events, events.slice(1), events))
    assert (len(first), len(other)) == (1, 0)
    assert first.equals(again)
