"""Incomplete runs as a table: the same ones as the reference has, in order, with reason and time."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import penstock as ps
from penstock.detection.output import csv_lines, json_lines
from penstock.events.found import Composite
from penstock.events.records import from_dicts
from penstock.events.times import of_datetime
from penstock.testing import reference
from penstock.testing.runs import Incomplete

PATTERNS = [
    "[A(room = $r)] ; [B(room = $r) in {B, C}] within 3 us",
    "M := x: [A(room = $r)] ; [B(room = $r)]\nx: [M] ; [C] ; [A] within 6 us",
    "([A], [T in {T, B}]){T = 2 us}",
]
EVENTS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.sampled_from(["R1", "R2"]), st.integers(0, 9)), max_size=8, unique=True
)


def dicts(events: list[tuple[str, str, int]]) -> list[dict[str, object]]:
    return [
        {"type": type, "source": room, "id": f"{type}{at}", "time": at, "data": {"room": room}}
        for type, room, at in events
    ]


def runs(events: list[dict[str, object]], pattern: str, **options: Any) -> ps.Composites:
    found = ps.detect(events, pattern, incomplete=True, **options).incomplete
    assert found is not None
    return found


@given(EVENTS, st.sampled_from(PATTERNS), st.sampled_from(["continuous", "chronicle", "recent"]))
def test_they_are_those_of_the_reference(events: list[tuple[str, str, int]], text: str, context: str) -> None:
    options: dict[str, Any] = {"context": context, "until": 100}
    found = runs(dicts(events), text, **options)
    told = reference.incomplete(ps.parse(text), from_dicts(dicts(events)).to_events(), **options)
    rows = [
        (one.hi, one.lo, one.type, one.id, row["reason"], of_datetime(row["at"]))
        for one, row in zip(found, found.to_pylist(), strict=True)
    ]
    assert sorted(rows) == sorted((one.hi, one.lo, one.type, _id(one), one.reason, one.at) for one in told)
    keys = [(row[5], *row[:3]) for row in rows]
    assert keys == sorted(keys)


def _id(one: Incomplete) -> str:
    return Composite(one.type, one.lo, one.hi, one.attributes, one.parts).id


def test_they_are_written_like_composites() -> None:
    found = runs(dicts([("A", "R1", 1), ("C", "R1", 2)]), "[A(room = $room)] ; [B in {B, C}]", carry="none")
    assert found.table.column_names == ["type", "lo", "hi", "reason", "at", "room", "id", "parts"]
    assert found.table["at"].to_pylist() == [datetime(1970, 1, 1, microsecond=2, tzinfo=UTC)]
    [line] = json_lines(found)
    assert '"data": {"reason": "failed", "at": "1970-01-01T00:00:00.000002Z", "room": "R1", "parts": [{' in line
    assert next(iter(csv_lines(found))) == "type,lo,hi,reason,at,room,id,parts\n"


def test_a_parameter_that_is_called_like_a_column() -> None:
    found = runs(dicts([("A", "R1", 1)]), "[A(room = $reason)] ; [B(room = $reason)]")
    assert [(row["reason"], row["reason_"]) for row in found.to_pylist()] == [("open", "R1")]


def test_only_those_of_the_definitions_that_are_wanted() -> None:
    events = dicts([("A", "R1", 1)])
    assert len(runs(events, "X := [A] ; [B]\nY := [A] ; [C]")) == 2
    assert runs(events, "X := [A] ; [B]\nY := [A] ; [C]", only=["Y"]).table["type"].to_pylist() == ["Y"]


def test_they_are_there_only_if_they_are_asked_for() -> None:
    assert ps.detect([], "[A] ; [B]").incomplete is None
    assert len(runs([], "[A] ; [B]")) == 0
    assert runs([], "[A(room = $r)] ; [B]").table.column_names == [
        *("type", "lo", "hi", "reason", "at", "r", "id", "parts")
    ]
