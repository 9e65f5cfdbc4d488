"""Composites that another detector has published are taken in at their place, as if they had been detected here."""

from typing import Any

import pytest

import penstock as ps
from penstock.detection.detector import Detector
from penstock.engine.division import Division

SECOND = 1_000_000


def event(type: str, at: int, source: str = "s", **data: Any) -> dict[str, Any]:
    return {"type": type, "source": source, "id": f"{type}{at}{source}", "time": at * SECOND, "data": data}


def divided(
    pattern: str, events: list[dict[str, Any]], elsewhere: str, inlined: tuple[str, ...] = (), until: int = 60
) -> list[dict[str, Any]]:
    """What a detector gives that is told of one definition's composites by another, after all events have come."""
    part = Detector(pattern, sources=["s"], only=[elsewhere], division=Division(publishes=True))
    published = [*part.feed(events).published, *part.heartbeat("s", until * SECOND).published]
    whole = Detector(
        pattern, sources=["s", "part"], division=Division(frozenset([elsewhere]), frozenset(inlined), publishes=True)
    )
    whole.feed(events)
    whole.heartbeat("s", until * SECOND)
    whole = Detector.restore(whole.snapshot())
    found = whole.deliver(published, "part").to_pylist()
    whole = Detector.restore(whole.snapshot())
    return found + whole.heartbeat("part", until * SECOND).to_pylist()


def whole(pattern: str, events: list[dict[str, Any]], until: int = 60) -> list[dict[str, Any]]:
    defined = [one.name for one in ps.parse(pattern).definitions]
    return ps.detect(events, pattern, until=until * SECOND, only=defined[-1:]).to_pylist()


@pytest.mark.parametrize(
    "pattern",
    [
        "Met := [A] ; [B]\n[Met] ; [C]",
        "Met := x: [A(k = $k)] ; [B(k = $k)] select w = x.v\n[Met(k = $k AND w > 1)] ; [C(k = $k)]",
        "Met := x: [A] ; y: [B]\nm: [Met] [C in {C, A}]",
        "Met := ([A], [T in {T, B}]){T = 2 s}\n([Met], [U in {U, C}]){U = 2 s}",
        "Met := [A] ; [B]\n[!Met in {Met, B}] ; [C]",
        "Met := [B]\n[A] ; [B] ; [Met in {Met, B}]",
    ],
)
def test_a_named_type_from_elsewhere_is_as_if_detected_here(pattern: str) -> None:
    events = [event(type, at, k=at // 6, v=at) for at, type in enumerate("ABACBCABBCA")]
    assert divided(pattern, events, "Met") == whole(pattern, events)
    assert whole(pattern, events)


def test_a_composite_and_its_last_event_are_one_place() -> None:
    pattern = "Met := [A] ; [B]\n[A] [B, Met] ; [C]"
    events = [event(type, at) for at, type in enumerate("ABC")]
    assert divided(pattern, events, "Met") == whole(pattern, events)
    assert len(whole(pattern, events)) == 2


def test_a_part_that_is_inlined_is_not_listed_itself() -> None:
    events = [event(type, at, k=at % 2) for at, type in enumerate("AABBCC")]
    found = divided("Part := x: [A(k = $k)] ; [B(k = $k)]\ny: [Part(k = $k)] ; [C(k = $k)]", events, "Part", ("Part",))
    expected = whole("y: (x: [A(k = $k)] ; [B(k = $k)]) ; [C(k = $k)]", events)
    assert found == expected
    assert {part["label"] for row in found for part in row["parts"]} == {"x,y", "y", None}


def test_what_inlined_parts_have_in_common_is_found_once() -> None:
    events = [event(type, at) for at, type in enumerate("ABC")]
    found = divided("One := [A] ; [B]\nTwo := [A] [B]\n([One] | [Two]) ; [C]", events, "One", ("One", "Two"))
    assert len(found) == 1


def test_events_of_one_instant_wait_for_composites_of_that_instant() -> None:
    pattern = "Met := [A] ; [B]\n[Met] [C]"
    detector = Detector(pattern, sources=["s", "part"], division=Division(frozenset(["Met"])))
    later = [event("C", 5, "t"), event("A", 1), event("B", 5)]
    detector.feed([event("A", 1), event("B", 5), event("C", 5, "t")])
    part = Detector(pattern, only=["Met"], division=Division(publishes=True))
    published = part.feed([event("A", 1), event("B", 5)]).published
    assert not len(detector.deliver(published, "part"))
    steps = [detector.heartbeat(name, 5 * SECOND) for name in ("t", "part", "s")]
    assert [len(step) for step in steps] == [0, 0, 1]
    assert steps[-1].to_pylist() == whole(pattern, later)


def test_how_far_a_detector_has_come() -> None:
    detector = Detector("[A] ; [B]", sources=["s", "t"])
    assert detector.frontier is None
    detector.feed([event("A", 5), event("B", 9, "t")])
    assert detector.frontier == 5 * SECOND - 1
    detector.heartbeat("s", 7 * SECOND)
    assert detector.frontier == 7 * SECOND


def test_composites_that_nobody_awaits_are_refused() -> None:
    record = {"type": "Other", "id": "1", "time": 5, "data": {"parts": [event("A", 1)]}}
    detector = Detector("Met := [A]\n[Met]", division=Division(frozenset(["Met"])))
    with pytest.raises(ps.DataError, match="`Other` are not awaited here"):
        detector.deliver([record], "part")
    with pytest.raises(ps.DataError, match="has no parts"):
        detector.deliver([{"type": "Met", "id": "1", "time": 5, "data": {}}], "part")


def test_what_could_not_be_taken_in_later_is_refused_at_once() -> None:
    detector = Detector("Met := [A]\n[Met]", division=Division(frozenset(["Met"])))
    record = {"type": "Met", "id": "1", "time": 1, "data": {"parts": [event("A", 1) | {"label": "x"}]}}
    with pytest.raises(ps.DataError, match="have no label 'x'"):
        detector.deliver([record], "part")
    unlabelled = record | {"data": {"parts": [event("A", 1)]}, "place": "Met/T"}
    with pytest.raises(ps.DataError, match="no timer 'Met/T'"):
        detector.deliver([unlabelled], "part")


def test_attributes_of_different_kinds_below_composites_do_no_harm() -> None:
    parts = [event("A", 1, v=1), event("B", 2, v="one")]
    record = {"type": "Met", "id": "1", "lo": 1 * SECOND, "hi": 2 * SECOND, "data": {"parts": parts}}
    detector = Detector("Met := [A] ; [B]\n[Met]", sources=["part"], division=Division(frozenset(["Met"])))
    detector.deliver([record], "part")
    assert len(detector.heartbeat("part", 5 * SECOND)) == 1


def test_a_definition_that_there_is_not_cannot_be_elsewhere() -> None:
    with pytest.raises(ps.PatternError, match="no definition `Nothing`"):
        Detector("[A]", division=Division(frozenset(["Nothing"])))
