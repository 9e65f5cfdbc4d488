"""What detections of one pattern have in common is made once, and none of them changes it for the others."""

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps
from penstock.automaton.compile import compile_pattern
from penstock.detection.limits import Limits
from penstock.detection.plan import plan_of
from penstock.engine.engine import Engine
from penstock.engine.prepared import Choice, prepared
from tests.engine.conftest import composites_of
from tests.engine.test_reclaiming import batch

PATTERNS = ["[A] ; [B]", "([A], [T in {T, B}]){T = 3 us}", "x: [A] ; [B(count(x) = 1)]", "([A] ; [B]) || [C]"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_detections_side_by_side_do_not_disturb_each_other(pattern: str) -> None:
    definitions = prepared(compile_pattern(ps.parse(pattern)), Choice())
    layouts = [array for definition in definitions for layout in definition.arrays for array in layout]
    before = [array.copy() for array in layouts]
    one, other = (Engine(ps.parse(pattern), definitions=definitions) for _ in range(2))
    alone = Engine(ps.parse(pattern))
    for start, types in enumerate(("AB", "CA", "BC")):
        expected = composites_of(alone.feed(batch(types, 2 * start), 2 * start + 2))
        assert composites_of(one.feed(batch(types, 2 * start), 2 * start + 2)) == expected
        other.feed(batch("ACB", 3 * start), 3 * start + 3)
    assert all(np.array_equal(*both) for both in zip(before, layouts, strict=True))


def test_a_limit_that_one_detection_reaches_counts_for_no_other() -> None:
    plan = plan_of(ps.parse("[A] ; [B]"), limits=Limits(runs=3))
    one, other = (Engine(plan.pattern, plan.choice, definitions=plan.definitions) for _ in range(2))
    one.engines[0].detection.runner.set_elsewhere(2)
    with pytest.raises(ps.PenstockError, match="more than 3 runs"):
        one.feed(batch("AA", 0), 2)
    assert len(other.feed(batch("AAAB", 0), 4)) == 3


@pytest.mark.parametrize("keys", [1, 7, 5000])
def test_many_timers_fire_though_room_must_be_made_for_what_they_complete(keys: int) -> None:
    count = 5000
    events = pa.table(
        {
            "type": ["A"] * count,
            "id": [str(number) for number in range(count)],
            "time": np.arange(count) // 2,
            "k": np.arange(count) % keys,
        }
    )
    found = ps.detect(events, "([A(k = $k)], [T in {T, B(k = $k)}]){T = 1 ms}", until=10_000)
    assert len(found) == count
    assert found.table["hi"].cast(pa.int64()).to_pylist() == [1000 + number // 2 for number in range(count)]
