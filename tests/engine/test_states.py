"""State that earlier versions saved is read by this one: a file of `states` for each version of the format.

``python -m tests.engine.test_states`` writes the present version's.
"""

from pathlib import Path

import penstock as ps
from penstock.events.saved import VERSION

STATES = Path(__file__).parent / "states"
PATTERN = """Pair := a: [A(k = $k)] ; b: [B(k = $k AND v > a.v)] within 1 h
Silent := ([Pair(k = $k)], [T in {T, C(k = $k)}]){T = 5 min}
[A(k = $k)] || [C(k = $k)] select seen = 1"""
MINUTE = 60_000_000


def event(type: str, at: int, k: str, v: int = 0) -> dict[str, object]:
    return {"type": type, "source": "s", "id": f"{type}{at}", "time": at * MINUTE, "data": {"k": k, "v": v}}


BEFORE = [event("A", 1, "x", 3), event("A", 2, "y", 1), event("B", 3, "x", 4), event("A", 4, "z", 9)]
AFTER = [event("B", 5, "y", 2), event("C", 6, "z"), event("B", 7, "z", 10), event("N", 30, "n")]
ROUNDS = "[A(k = $k)] ; [B(k = $k)]+ ; [C(k = $k)]"
ROUNDS_BEFORE = [event(type, at, "x") for at, type in enumerate("AABAA", 1)]
ROUNDS_AFTER = [event(type, at, "x") for at, type in enumerate("BBC", 6)]


def told(found: ps.Composites) -> list[tuple[object, ...]]:
    return [(row["type"], row["lo"], row["hi"], row["k"], row["seen"], row["id"]) for row in found.to_pylist()]


def test_the_present_version_has_a_state() -> None:
    assert (STATES / f"version-{VERSION}.state").exists()


def test_saved_states_of_all_versions_go_on_as_if_nothing_had_happened() -> None:
    whole = ps.Detector(PATTERN, sources=["s"])
    whole.feed(BEFORE)
    wanted = told(whole.feed(AFTER)), told(whole.finish())
    for path in sorted(STATES.glob("version-*.state")):
        detector = ps.Detector.restore(path.read_bytes())
        assert (told(detector.feed(AFTER)), told(detector.finish())) == wanted, path.name
    assert {row[0] for some in wanted for row in some} == {"Pair", "Silent", "composite"}


def test_runs_that_moved_together_still_do() -> None:
    whole = ps.Detector(ROUNDS, sources=["s"])
    whole.feed(ROUNDS_BEFORE)
    wanted = [[part["id"] for part in row["parts"]] for row in whole.feed(ROUNDS_AFTER).to_pylist()]
    assert wanted == [
        ["A1", "B3", "B6", "B7", "C8"],
        ["A2", "B3", "B6", "B7", "C8"],
        ["A4", "B6", "B7", "C8"],
        ["A5", "B6", "B7", "C8"],
    ]
    for path in sorted(STATES.glob("rounds-*.state")):
        found = ps.Detector.restore(path.read_bytes()).feed(ROUNDS_AFTER).to_pylist()
        assert [[part["id"] for part in row["parts"]] for row in found] == wanted, path.name


if __name__ == "__main__":
    for name, pattern, before in (("version", PATTERN, BEFORE), ("rounds", ROUNDS, ROUNDS_BEFORE)):
        first = ps.Detector(pattern, sources=["s"])
        first.feed(before)
        (STATES / f"{name}-{VERSION}.state").write_bytes(first.snapshot())
