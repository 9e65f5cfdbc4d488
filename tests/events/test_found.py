"""A composite's id: the same for the same composite, another for any other."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock as ps
from penstock.events.event import Event
from penstock.events.found import Composite, Part

PART = (["s", "1"], ["a"])


def composite_id(type, attributes, lo, hi, parts):
    """The id of a composite whose parts are given as ``[source, id]``, or ``[id]`` for composites, and labels."""
    inside = (Event("B", "s", "9", 0, 0),)
    symbols = [
        Event("A", *name, 0, 0) if len(name) > 1 else Event("M", "", *name, 0, 0, parts=inside) for name, _ in parts
    ]
    labels = [frozenset(some) for _, some in parts]
    return Composite(type, lo, hi, attributes, tuple(map(Part, symbols, labels))).id


SAME = ("Pair", {"d": 1}, 5, 9, [PART])


@pytest.mark.parametrize(
    "other",
    [
        ("Pairs", {"d": 1}, 5, 9, [PART]),
        ("Pair", {"d": 2}, 5, 9, [PART]),
        ("Pair", {"d": "1"}, 5, 9, [PART]),
        ("Pair", {"d": True}, 5, 9, [PART]),
        ("Pair", {"e": 1}, 5, 9, [PART]),
        ("Pair", {}, 5, 9, [PART]),
        ("Pair", {"d": 1}, 4, 9, [PART]),
        ("Pair", {"d": 1}, 5, 10, [PART]),
        ("Pair", {"d": 1}, 5, 9, [PART, PART]),
        ("Pair", {"d": 1}, 5, 9, [(["s", "1"], [])]),
        ("Pair", {"d": 1}, 5, 9, [(["t", "1"], ["a"])]),
        ("Pair", {"d": 1}, 5, 9, [(["1"], ["a"])]),
    ],
)
def test_another_composite_has_another_id(other: tuple) -> None:
    assert composite_id(*SAME) != composite_id(*other)


def test_numbers_are_equal_by_value_and_labels_are_a_set() -> None:
    assert composite_id("P", {"d": 1, "e": 0.5}, 5, 9, [(["s", "1"], ["b", "a"])]) == composite_id(
        "P", {"e": 0.5, "d": 1.0}, 5, 9, [(["s", "1"], ["a", "b"])]
    )


def test_a_time_is_its_text() -> None:
    instant = datetime(2026, 3, 2, tzinfo=UTC)
    assert composite_id("P", {"t": instant}, 5, 9, []) == composite_id("P", {"t": "2026-03-02T00:00:00Z"}, 5, 9, [])


@given(st.integers(-(2**53), 2**53))
def test_whole_floats_are_integers(value: int) -> None:
    assert composite_id("P", {"d": value}, 0, 0, []) == composite_id("P", {"d": float(value)}, 0, 0, [])


def test_what_is_carried_does_not_count() -> None:
    events = [{"type": "A", "source": "s", "id": "1", "time": 5, "data": {"v": 1}}]
    ids = {ps.detect(events, "[A]", carry=carry).table["id"][0].as_py() for carry in ("all", "none", "v")}
    assert len(ids) == 1


def test_ids_are_stable_over_releases() -> None:
    events = [
        {"type": "A", "source": "s", "id": "1", "time": 5, "data": {"r": "Büro"}},
        {"type": "B", "source": "s", "id": "2", "time": 9},
    ]
    found = ps.detect(events, "M := a: [A(r = $r)]\n[M] ; [B]")
    assert found.table["id"].to_pylist() == ["7db38d500763a7fecbcbdcf4", "b2293e39374106eed531b3f6"]
