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


@pytest.mark.parametrize("names", [3, 300])
def test_a_table_without_what_is_read_or_carried_is_refused_whatever_was_asked_before(names: int) -> None:
    columns = {f"c{number}": [1] for number in range(names)}
    there, other = pa.table({"type": ["A"], "time": [5], "v": [7], **columns}), pa.table({"type": ["A"], "time": [5]})
    pattern = ps.parse("[A(v = 7)]")
    for _ in range(2):
        assert len(ps.detect(there, pattern, carry="c1")) == 1
        with pytest.raises(ps.PatternError, match="no attribute `v`"):
            ps.detect(other, pattern, carry="c1")
    with pytest.raises(ps.PatternError, match="no attribute `w` to carry"):
        ps.detect(there, pattern, carry="w")


@pytest.mark.parametrize("names", [2, 64, 65, 1000])
def test_types_are_found_among_few_names_and_among_many(names: int) -> None:
    types = [f"T{number}" for number in range(names)]
    events = pa.table({"type": pa.array(types).dictionary_encode(), "time": range(names)})
    assert len(ps.detect(events, f"[T{names - 2}] ; [T{names - 1}]")) == 1
    with pytest.raises(ps.DataError, match="'type': is missing"):
        ps.detect(pa.table({"type": pa.array([*types, ""]).dictionary_encode(), "time": range(names + 1)}), "[T0]")


@pytest.mark.parametrize("names", [2, 64, 65, 1000])
def test_names_that_a_dictionary_says_twice_are_one_type(names: int) -> None:
    dictionary = pa.array([f"T{number // 2}" for number in range(names)])
    codes = pa.array(np.arange(names, dtype=np.int32))
    events = pa.table({"type": pa.DictionaryArray.from_arrays(codes, dictionary), "time": range(names)})
    assert len(ps.detect(events, "[T0] ; [T0]")) == 1
