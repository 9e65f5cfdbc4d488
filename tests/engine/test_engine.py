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


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        (" | ".join(f"([A], [T{n}]){{T{n} = 1 s}}" for n in range(63)), "63 timers"),
        (" | ".join(f"([A] within {n} s)" for n in range(1, 64)), "63 limits"),
        (" ".join(f"x{n}: [A]" for n in range(63)), "63 labels"),
        ("[A] (" + " || ".join(" ".join(f"x{n}{side}: [A]" for n in range(32)) for side in "ab") + ")", "64 labels"),
    ],
)
def test_what_a_definition_has_too_much_of_is_said_with_its_place_and_a_way_out(pattern: str, what: str) -> None:
    with pytest.raises(ps.PatternError, match=f"one definition has {what}; at most 62") as caught:
        ps.parse(f"Small := [A]\n{pattern}")
    assert "line 2, column 1" in str(caught.value)
    assert caught.value.hint == "give a name to a part of it and use that"


def test_a_definition_may_have_any_number_of_conditions() -> None:
    events = [{"type": "A", "id": str(n), "time": n} for n in range(100)]
    all_hold = " ; ".join(f"([A] where {n} = {n})" for n in range(100))
    one_does_not = " ; ".join(f"([A] where {n} <> 80)" for n in range(100))
    assert len(ps.detect(events, all_hold, carry="none")) == 1
    assert len(ps.detect(events, one_does_not, carry="none")) == 0


def test_conditions_that_decide_together_what_follows_are_limited() -> None:
    events = [{"type": "A", "id": str(n), "time": n} for n in range(3)]
    for count in (10, 11):
        pattern = "[A]"
        for number in range(count):
            pattern = f"({pattern} where {number} = {number}) [B]?"
        if count == 10:
            assert len(ps.detect(events, pattern)) == 3
        else:
            with pytest.raises(ps.PatternError, match="11 `where` conditions decide what follows one atom") as caught:
                ps.parse(pattern)
            assert "line 1, column 1" in str(caught.value)
            assert caught.value.hint == "join conditions with AND, or give a name to a part of it and use that"


def test_many_instances_are_done_at_one_instant() -> None:
    count = 50_000
    keys = np.arange(count)
    same = {"type": ["A"] * count, "source": ["s"] * count, "lo": np.full(count, 7), "hi": np.full(count, 7)}
    events = pa.table(same | {"id": pa.array(keys).cast(pa.string()), "k": keys})
    either = "([A(k = $k)] ; [C(k = $k)]) | ([A(k = $k)], ([T] | [C(k = $k)])){T = 5 s}"
    for context in ("continuous", "cumulative"):
        assert len(ps.detect(events, either, until=10_000_000, context=context, carry="none")) == count


def test_sums_that_do_not_fit_are_null_and_averages_are_numbers() -> None:
    events = [{"type": "A", "id": str(at), "time": at, "data": {"v": 2**62}} for at in (1, 2)]
    [one] = ps.detect(events, "x: [A]{2} select total = sum(x.v), mean = avg(x.v)").to_pylist()
    assert (one["total"], one["mean"]) == (None, float(2**62))
    [one] = ps.detect(events, "x: [A] select total = sum(x.v)").to_pylist()[:1]
    assert one["total"] == 2**62


def test_few_events_with_very_many_ways_to_take_them_together() -> None:
    events = [{"type": "A", "id": str(at), "time": at} for at in range(1, 5)]
    assert len(ps.detect(events, "M := [A]+\n([M]+ || [M]+) ; [M]*")) == 4669


def test_more_runs_than_there_is_memory_for_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> None:
        raise MemoryError

    events = [{"type": "A", "id": str(at), "time": at} for at in range(5_000)]
    detector = ps.Detector("[A] ; [B]")
    monkeypatch.setattr("penstock.engine.heap.Memory.set_node_room", none_left)
    with pytest.raises(ps.StateError, match="no memory for"):
        detector.feed(events)


def test_a_parallel_may_not_begin_a_match_as_a_parameter_decides() -> None:
    with pytest.raises(ps.PatternError, match=r"depends on `\$k` whether a match may begin with the `\|\|`") as error:
        ps.parse("(x: [A(k = $k)]* where count(x) > $k) ([B(k = $k)] || [C(k = $k)])")
    assert error.value.hint


@pytest.mark.parametrize(("operator", "found"), [("=", 0), ("<>", 1), ("<", 1), (">=", 0)])
def test_numbers_are_compared_by_value_where_floats_are_far_apart(operator: str, found: int) -> None:
    events = [
        {"type": "A", "id": "1", "time": 1, "data": {"k": 2**53 + 1}},
        {"type": "B", "id": "2", "time": 2, "data": {"j": 2.0**53}},
    ]
    assert len(ps.detect(events, f"[A(k = $k)] ; [B(j {operator} $k)]")) == found
    assert len(ps.detect(events, f"x: [A] ; [B(j {operator} x.k)]")) == found
    turned = {"=": "=", "<>": "<>", "<": ">", ">=": "<="}[operator]
    assert len(ps.detect(events, f"x: [A] ; [B(x.k {turned} j)]")) == found


@pytest.mark.parametrize("real", [2.0**63, -(2.0**63), 1e300, -1e300, 0.5, -0.5])
def test_every_float_can_be_compared_with_whole_numbers(real: float) -> None:
    numbers = (-(2**63), -1, 0, 1, 2**63 - 1)
    for number in numbers:
        events = [
            {"type": "A", "id": "1", "time": 1, "data": {"k": number}},
            {"type": "B", "id": "2", "time": 2, "data": {"j": real}},
        ]
        assert len(ps.detect(events, "x: [A] ; [B(j < x.k)]")) == (real < number)
        assert len(ps.detect(events, "x: [A] ; [B(j > x.k)]")) == (real > number)


def test_an_event_that_may_lead_to_too_many_runs_is_an_error() -> None:
    events = [{"type": "A", "id": str(at), "time": at} for at in range(1, 9)]
    sides = " || ".join(["[M]+"] * 4)
    with pytest.raises(ps.StateError, match="no memory for"):
        ps.detect(events, f"M := [A]+\n({sides}) ; [M]*")
