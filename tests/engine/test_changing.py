"""A pattern that changes: runs of what has not changed go on, and it is said what has."""

from typing import Any

import pytest

import penstock as ps
from penstock.detection.plan import plan_of
from penstock.ordering.policies import guaranteed

BEFORE = "Pair := [A(k = $k)] ; [B(k = $k)]\nLong := [Pair(k = $k)] ; [C(k = $k)]\nOther := [D(k = $k)] ; [E(k = $k)]"
REORDERED = "\n".join(["Other := [D(k = $k)] ; [E(k = $k)]", "New := [A]", *BEFORE.split("\n")[:2]])


def event(type: str, at: int, k: Any = "x") -> dict[str, Any]:
    return {"type": type, "source": "s", "id": f"{type}{at}", "time": at, "data": {"k": k}}


def saved() -> dict[str, bytes]:
    detector, store = ps.Detector(BEFORE, sources=["s"]), {}
    detector.feed([event("A", 1), event("B", 2), event("D", 3), event("A", 4), event("N", 5)])
    detector.save(store)
    return store


def resumed(pattern: str, store: dict[str, bytes], **options: Any) -> ps.Detector:
    return ps.Detector.resumed(plan_of(ps.parse(pattern)), guaranteed(), store, **options)[0]


def found(detector: ps.Detector) -> list[tuple[str, list[str]]]:
    composites = detector.feed([event("B", 6), event("E", 7), event("C", 8), event("N", 9)])
    return [(one.type, [part.id for part in leaves(one)]) for one in composites]


def leaves(event: Any) -> list[Any]:
    return [leaf for part in event.parts for leaf in leaves(part)] if event.parts else [event]


def test_runs_go_on_where_definitions_are_added_and_have_another_order() -> None:
    store = saved()
    detector = resumed(REORDERED, store)
    detector.save(store)
    again = resumed(REORDERED, store)
    assert found(again) == found(resumed(BEFORE, saved()))
    assert ("Long", ["A1", "B2", "C8"]) in found(resumed(BEFORE, saved()))


def test_a_change_is_refused_with_what_has_changed() -> None:
    with pytest.raises(ps.StateError, match="another pattern: `Long` has changed, `Other` is gone") as raised:
        resumed(BEFORE.replace("[C(", "[F(").split("\nOther")[0], saved())
    assert "runs of `Pair` would go on" in str(raised.value)


def test_what_uses_a_changed_definition_has_changed() -> None:
    with pytest.raises(ps.StateError, match="`Pair` has changed, `Long` has changed"):
        resumed(BEFORE.replace("[B(k = $k)]", "[B(k = $k)] ; [B]"), saved())


def test_changed_definitions_start_anew_if_that_is_wanted() -> None:
    changed = BEFORE.replace("[E(k = $k)]", "[E(k = $k AND k <> '')]")
    got = found(resumed(changed, saved(), restarts=True))
    assert got == [one for one in found(resumed(BEFORE, saved())) if one[0] != "Other"]


def test_other_options_change_all_and_are_named() -> None:
    plan = plan_of(ps.parse(BEFORE), restart=True, context="recent")
    with pytest.raises(ps.StateError, match="of detection with another `restart`, `context`") as raised:
        ps.Detector.resumed(plan, guaranteed(), saved())
    assert "changed='restart'" in str(raised.value)


def test_another_policy_is_refused() -> None:
    with pytest.raises(ps.StateError, match="of the policy guaranteed, and best_effort"):
        ps.Detector.resumed(plan_of(ps.parse(BEFORE)), ps.best_effort(), saved())
