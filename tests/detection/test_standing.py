"""Events that matter are found and put side by side without a change of what is detected."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock as ps
from penstock.detection.local import read_table
from penstock.detection.plan import plan_of
from penstock.detection.standing import FEW, standing

PATTERN = "[A(k = $k)] ; [B(k = $k)] within 40 us"
SILENCE = "([A(k = $k)], [T in {T, B(k = $k)}]){T = 5 us}"
NOISE = 3 * FEW
"""So many events of no matter stand around each that matters."""

Rows = list[dict[str, Any]]


def with_noise(events: Rows) -> Rows:
    """The same events, each with many around it that the patterns do not name."""
    rows: Rows = []
    for event in events:
        noise = [{**event, "type": "N", "id": f"n{len(rows) + number}"} for number in range(NOISE)]
        rows += [*noise[: NOISE // 2], event, *noise[NOISE // 2 :]]
    return rows


def table_of(events: Rows) -> pa.Table:
    kinds = {"type": pa.string(), "id": pa.string(), "lo": pa.int64(), "hi": pa.int64(), "k": pa.int64()}
    return pa.table({name: pa.array([one[name] for one in events], kind) for name, kind in kinds.items()})


def alone(events: Rows, pattern: str = PATTERN) -> bool:
    """Whether the events that matter stand in order, and were put side by side."""
    found = standing(read_table(table_of(events), None, None, None, 0), plan_of(ps.parse(pattern)))
    return found is not None and len(found[0]) == len(found[1].rows) < len(events)


@st.composite
def some_events(draw: st.DrawFn) -> Rows:
    """Events whose ids mostly rise, in length or in letters, and whose stamps mostly do."""
    events: Rows = []
    hi, number = 0, 0
    prefix = draw(st.sampled_from(["", "é", "seven77", "a name of more than two words, "]))
    for _ in range(draw(st.integers(0, 12))):
        hi += draw(st.sampled_from([1, 1, 2, 5, 0, -1]))
        number += draw(st.sampled_from([1, 1, 1, 9, 90, 0, -1]))
        length = draw(st.sampled_from([0, 0, 0, 3]))
        id = draw(st.sampled_from([f"{prefix}{number}", f"{prefix}{number}", f"{prefix}{number}", "", None]))
        type, key = draw(st.sampled_from("AB")), draw(st.integers(0, 1))
        events.append({"type": type, "id": id, "lo": hi - length, "hi": hi, "k": key})
    return events


@given(some_events(), st.sampled_from([PATTERN, SILENCE]), st.sampled_from(["none", "all", "k"]))
def test_what_does_not_matter_changes_nothing(events: Rows, pattern: str, carry: str) -> None:
    few, expected = (ps.detect(table_of(rows), pattern, carry=carry) for rows in (with_noise(events), events))
    assert few.table.equals(expected.table)
    assert few.repeated == expected.repeated


def counted(ids: list[str]) -> Rows:
    return with_noise([{"type": "A", "id": id, "lo": at, "hi": at, "k": 1} for at, id in enumerate(ids)])


RISING = {
    "counters": ["8", "9", "10", "11"],
    "one word": ["aaaaaaaa", "aaaaaaab"],
    "more words": ["door number 7, left", "door number 8, left", "door number 8, right"],
    "beyond ASCII": ["é7", "é8", "日本"],
}
NOT_RISING = {
    "shorter": ["10", "9"],
    "equal": ["7", "7"],
    "equal and long": ["door number 7, left", "door number 7, left"],
    "a later word falls": ["door number 8, left", "door number 7, left"],
    "empty": ["", "1"],
}


@pytest.mark.parametrize("ids", RISING.values(), ids=RISING)
def test_those_that_rise_are_put_side_by_side(ids: list[str]) -> None:
    events, picked = standing(read_table(table_of(counted(ids)), None, None, None, 0), plan_of(ps.parse(PATTERN)))
    assert events.field("id").to_pylist() == ids
    assert picked.rows.tolist() == list(range(len(ids)))


@pytest.mark.parametrize("ids", NOT_RISING.values(), ids=NOT_RISING)
def test_others_are_ordered_first(ids: list[str]) -> None:
    assert not alone(counted(ids))


def test_a_stamp_that_falls_or_stays_is_out_of_order() -> None:
    for instants in ([5, 4], [5, 5]):
        events = [{"type": "A", "id": str(n), "lo": at, "hi": at, "k": 1} for n, at in enumerate(instants)]
        assert not alone(with_noise(events))


def test_many_that_matter_stay_where_they_are() -> None:
    events = [{"type": "AN"[n % 2], "id": str(n), "lo": n, "hi": n, "k": 1} for n in range(8)]
    found = standing(read_table(table_of(events), None, None, None, 0), plan_of(ps.parse(PATTERN)))
    assert found is not None
    assert (len(found[0]), found[1].rows.tolist()) == (8, [0, 2, 4, 6])


def test_the_input_ends_with_its_last_event_whatever_that_is() -> None:
    events = [{"type": "A", "id": "1", "lo": 0, "hi": 0, "k": 1}]
    noise = [{"type": "N", "id": str(n), "lo": n, "hi": n, "k": 1} for n in range(2, 2 + NOISE)]
    assert len(ps.detect(table_of(events + noise), SILENCE)) == 1
    assert len(ps.detect(table_of(events), SILENCE)) == 0


COLUMNS = {
    "k": pa.array([7, 1, 2, 7, 3, 4, 7], pa.int64()),
    "celsius": pa.array([1.5, None, 2.5, -0.0, 3.0, 4.0, 5.25], pa.float64()),
    "v": pa.array([1.5, 9.0, 2.5, -0.0, 3.0, 4.0, 5.25], pa.float64()),
    "since": pa.array([1, 2, 3, 4, 5, 6, 7], pa.timestamp("us", "UTC")),
    "open": pa.array([True, False, None, True, True, False, False]),
    "room": pa.array(["a", "b", None, "d", "e", "f", "g"]),
}


@pytest.mark.parametrize("start", [0, 2], ids=["whole", "a slice"])
def test_whatever_columns_have_goes_with_the_events(start: int) -> None:
    ends = [10 * number for number in range(1, 8)]
    fields = {"type": [*"NNNNNNA"], "id": [*"1234567"], "lo": [end - 3 for end in ends], "hi": ends}
    table = pa.table({**fields, **COLUMNS}).slice(start)
    found = standing(read_table(table, None, None, None, 0), plan_of(ps.parse("[A]")))
    assert found is not None
    events, picked = found
    assert (len(events), picked.rows.tolist()) == (1, [0])
    assert events.record(0) == read_table(table, None, None, None, 0).record(6 - start)
    assert events.attributes.to_pylist() == [{name: column[6].as_py() for name, column in sorted(COLUMNS.items())}]
