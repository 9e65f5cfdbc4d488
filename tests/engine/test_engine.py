"""Corners of the engine that neither the golden cases nor random patterns reach."""

import numpy as np
import pyarrow as pa
import pytest

import penstock as ps

DAY = 86_400_000_000


def test_a_parameter_may_take_values_of_different_kinds() -> None:
    events = [
        {"type": "A", "id": "1", "time": 1, "data": {"k": 1}},
        {"type": "B", "id": "2", "time": 2, "data": {"v": "text"}},
        {"type": "C", "id": "3", "time": 3, "data": {"b": True}},
    ]
    pattern = "Any := [A(k = $x)] | [B(v = $x)] | [C(b = $x)]\n[Any(x = 'text')]"
    found = list(ps.detect(events, pattern))
    assert [one.type for one in found] == ["Any", "Any", "composite", "Any"]


def test_a_clock_time_is_looked_up_only_where_a_timer_can_be_set() -> None:
    events = [{"type": "A", "id": "1", "time": 1}]
    [one] = ps.detect(events, "([A], [T]){T = at 03:30}", until="9999-12-31T23:59:59Z")
    assert one.hi == 3 * 3_600_000_000 + 1_800_000_000


def test_a_clock_time_after_a_timer_that_fires_far_behind_the_last_event() -> None:
    events = [{"type": "A", "id": "1", "time": 1}]
    pattern = "([A], ([T], [U]){U = at 03:30}){T = 1000 d}"
    [one] = ps.detect(events, pattern, until="2000-01-01T00:00:00Z")
    assert one.hi == 1000 * DAY + 3 * 3_600_000_000 + 1_800_000_000


def test_many_more_runs_than_there_was_room_for() -> None:
    count = 20_000
    table = pa.table(
        {
            "type": ["A"] * count + ["B"],
            "id": [str(number) for number in range(count + 1)],
            "time": np.arange(count + 1),
        }
    )
    assert len(ps.detect(table, "[A] ; [B]")) == count


def test_batches_do_not_show() -> None:
    count = 300_000
    table = pa.table(
        {
            "type": pa.array(np.array(["A", "B", "N"])[np.arange(count) % 3]),
            "id": pa.array(np.arange(count)).cast(pa.string()),
            "time": np.arange(count),
            "k": np.arange(count) // 3 % 1000,
        }
    )
    found = ps.detect(table, "[A(k = $k)] ; [B(k = $k)]", carry="none")
    assert len(found) == count // 3


@pytest.mark.parametrize("count", [62, 63])
def test_a_definition_with_as_many_sets_as_it_may_have(count: int) -> None:
    pattern = f"[{', '.join(f'T{number}' for number in range(count))}]"
    if count == 62:
        assert len(ps.detect([{"type": "T61", "id": "1", "time": 1}], pattern)) == 1
    else:
        with pytest.raises(ps.PatternError, match="at most 62"):
            ps.parse(pattern)


def test_many_instances_are_done_at_one_instant() -> None:
    count = 50_000
    keys = np.arange(count)
    same = {"type": ["A"] * count, "source": ["s"] * count, "lo": np.full(count, 7), "hi": np.full(count, 7)}
    events = pa.table(same | {"id": pa.array(keys).cast(pa.string()), "k": keys})
    either = "([A(k = $k)] ; [C(k = $k)]) | ([A(k = $k)], ([T] | [C(k = $k)])){T = 5 s}"
    for context in ("continuous", "cumulative"):
        assert len(ps.detect(events, either, until=10_000_000, context=context, carry="none")) == count
