"""`penstock.detect`: what it takes, what its options do, and that order does not matter."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock as ps
from penstock.detection.output import csv_lines, json_lines

OPEN = {"type": "Open", "source": "d", "id": "1", "time": "2026-03-02T09:00:00Z", "data": {"door": "D1", "by": "Jo"}}
CLOSE = {"type": "Close", "source": "d", "id": "2", "time": "2026-03-02T09:05:00Z", "data": {"door": "D1"}}
PAIR = "[Open(door = $d)] ; [Close(door = $d)]"
ALONE = "([Open], [T in {T, Close}]){T = 10 min}"


def test_dicts_and_tables_give_the_same() -> None:
    table = pa.table(
        {
            "type": ["Close", "Open"],
            "source": ["d", "d"],
            "id": ["2", "1"],
            "time": [datetime(2026, 3, 2, 9, 5, tzinfo=UTC), datetime(2026, 3, 2, 9, 0, tzinfo=UTC)],
            "by": [None, "Jo"],
            "door": ["D1", "D1"],
        }
    )
    from_dicts, from_table = ps.detect([OPEN, CLOSE], PAIR), ps.detect(table, PAIR)
    assert list(from_dicts) == list(from_table)
    assert from_dicts.table["id"].equals(from_table.table["id"])


def test_columns_are_mapped() -> None:
    table = pa.table({"alarm": ["11", "1"], "start": [30, 40], "device": [5, 5]})
    found = ps.detect(
        table, "['11'(device = $d)] ; ['1'(device = $d)]", columns={"type": "alarm", "lo": "start"}, time_unit="s"
    )
    assert [(one.lo, one.hi, dict(one.attributes)) for one in found] == [(30_000_000, 40_000_000, {"d": 5})]


def test_times_without_a_zone_are_refused_or_in_the_given_one() -> None:
    naive = [OPEN | {"time": datetime(2026, 3, 2, 9, 0)}]
    with pytest.raises(ps.DataError, match="zone"):
        ps.detect(naive, "[Open]")
    in_berlin = ps.detect(naive, "[Open]", zone="Europe/Berlin").table["hi"][0].as_py()
    assert in_berlin == datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def test_clock_error_widens_stamps() -> None:
    one = next(iter(ps.detect([OPEN | {"time": 100}], "[Open]", clock_error=7)))
    assert (one.lo, one.hi) == (93, 107)


@pytest.mark.parametrize("until", [1772442600000000, "2026-03-02T09:10:00Z", datetime(2026, 3, 2, 9, 10, tzinfo=UTC)])
def test_timers_fire_until_the_end(until: object) -> None:
    assert len(ps.detect([OPEN], ALONE)) == 0
    assert len(ps.detect([OPEN], ALONE, until=until)) == 1  # type: ignore[arg-type]
    assert len(ps.detect([OPEN], ALONE, until="2026-03-02T09:09:59Z")) == 0


def test_restart_brings_back_a_start() -> None:
    events = [CLOSE | {"id": "0", "time": 1}, OPEN | {"time": 2}]
    assert len(ps.detect(events, "[Open in {Open, Close}]")) == 0
    assert len(ps.detect(events, "[Open in {Open, Close}]", restart=True)) == 1


@pytest.mark.parametrize(
    ("context", "matched"),
    [
        ("continuous", ["1 3", "2 3"]),
        ("chronicle", ["1 3", "2 4"]),
        ("recent", ["2 3"]),
        ("cumulative", ["1 2 3"]),
    ],
)
def test_the_context_says_which_runs_are_used_up(context: str, matched: list[str]) -> None:
    events = [{"type": type, "id": str(at), "time": at} for at, type in enumerate("AABB", 1)]
    found = ps.detect(events, "[A] ; [B]", context=context)
    assert sorted(" ".join(part.id for part in one.parts) for one in found) == matched


@pytest.mark.parametrize(
    ("carry", "data"),
    [
        ("all", {"door": "D1", "by": "Jo"}),
        ("none", None),
        ("by", {"by": "Jo"}),
        (["by"], {"by": "Jo"}),
        ("door,by", {"door": "D1", "by": "Jo"}),
        (["unknown"], None),
    ],
)
def test_parts_keep_what_they_carry(carry: str | list[str], data: dict[str, str] | None) -> None:
    written = ps.detect([OPEN], "[Open]", carry=carry).to_pylist()[0]["parts"][0]["data"]
    assert (written and json.loads(written)) == data


def test_only_the_definitions_that_are_wanted() -> None:
    pattern = "X := [Open(door = $d)]\nY := [Close(door = $e)]\nZ := [X] ; [Close]"
    found = ps.detect([OPEN, CLOSE], pattern, only=["Z"])
    assert [one.type for one in found] == ["Z"]
    assert found.table.column_names == ["type", "lo", "hi", "id", "parts"]
    assert next(iter(found)).parts[0].attributes == {"d": "D1"}


def test_repeated_events_are_counted() -> None:
    assert ps.detect([OPEN, OPEN, CLOSE], PAIR).repeated == 1
    assert len(ps.detect([OPEN, OPEN, CLOSE], PAIR)) == 1


def test_events_that_cannot_be_met_move_the_end_of_the_input_and_nothing_else() -> None:
    other = {"type": "Other", "source": "d", "id": "9", "time": "2026-03-02T09:10:00Z"}
    found = ps.detect([other, OPEN, other], ALONE)
    assert (len(found), found.repeated) == (1, 0)
    assert ps.detect([other, OPEN, other], "[*]").repeated == 1


def test_what_is_carried_does_not_decide_which_of_two_repeated_events_is_kept() -> None:
    twice = [OPEN | {"data": {"by": by, "door": door}} for by, door in (("Jo", "D2"), ("Al", "D3"), ("Mo", "D1"))]
    kept = {ps.detect(twice, "[Open(door = $d)]", carry=carry).table["d"].to_pylist()[0] for carry in ("all", "none")}
    assert kept == {"D3"}


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (
            {"context": "resent"},
            "there is no context 'resent'",
            "did you mean `recent`? there are continuous, chronicle, recent, cumulative",
        ),
        ({"context": "x"}, "there is no context 'x'", "there are continuous, chronicle, recent, cumulative"),
        ({"only": ["Y"]}, "there is no definition `Y`", "the pattern defines X"),
        ({"only": ["XX"]}, "there is no definition `XX`", "did you mean `X`? the pattern defines X"),
    ],
)
def test_options_that_cannot_be(options: dict[str, object], message: str, hint: str) -> None:
    with pytest.raises(ps.PatternError) as caught:
        ps.detect([OPEN], "X := [Open]", **options)  # type: ignore[arg-type]
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_attributes_that_a_table_does_not_have() -> None:
    table = pa.table({"type": ["Open"], "time": [5], "door": ["D1"]})
    with pytest.raises(ps.PatternError, match="no attribute `dor`, only door"):
        ps.detect(table, "[Open(dor = 1)]")
    with pytest.raises(ps.PatternError, match="no attribute `dor` to carry"):
        ps.detect(table, "[Open]", carry=["dor"])


@pytest.mark.parametrize("ask", [ps.Detector, lambda pattern: ps.detect([], pattern)])
def test_sets_alone_are_no_pattern(ask: Callable[[str], object]) -> None:
    with pytest.raises(ps.PatternError, match="there is no pattern here, only sets") as told:
        ask("let X = A")
    assert told.value.hint == "add a pattern of them, such as `[A] ; [B]`"


def test_events_that_are_none() -> None:
    with pytest.raises(ps.DataError, match="str is not a table"):
        ps.detect("events.jsonl", "[A]")
    with pytest.raises(ps.DataError, match="record 1"):
        ps.detect([{"type": "A"}], "[A]")


def test_composites_that_differ_in_labels_alone_are_always_in_one_order() -> None:
    orders = {tuple(ps.detect([OPEN], "x: [Open] | y: [Open] | z: [Open]").table["id"].to_pylist()) for _ in range(5)}
    assert len(orders) == 1
    assert len(orders.pop()) == 3


EVENTS = st.lists(
    st.builds(
        lambda type, room, lo, length, id: {
            "type": type,
            "source": room,
            "id": str(id),
            "lo": lo,
            "hi": lo + length,
            "data": {"room": room, "v": id / 2},
        },
        st.sampled_from("ABC"),
        st.sampled_from(["R1", "R2"]),
        st.integers(0, 9),
        st.integers(0, 2),
        st.integers(0, 20),
    ),
    max_size=8,
    unique_by=lambda event: (event["source"], event["id"]),
)
PATTERN = "M := a: [A(room = $r)] ; [B(room = $r)] select v = a.v\n([M] || [C]) | ([A(room = 'R1')], [T]){T = 3 us}"


@given(EVENTS, st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(events: list[dict[str, object]], random: object) -> None:
    shuffled = list(events)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, two = ps.detect(events, PATTERN), ps.detect(shuffled, PATTERN)
    assert one.table.equals(two.table)
    assert list(json_lines(one)) == list(json_lines(two))
    assert list(csv_lines(one)) == list(csv_lines(two))


@given(EVENTS)
def test_rows_are_in_order(events: list[dict[str, object]]) -> None:
    found = [(one.hi, one.lo, one.type) for one in ps.detect(events, PATTERN)]
    assert found == sorted(found)
