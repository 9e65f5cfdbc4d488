"""What a run measures, by what was asked for."""

from pathlib import Path

import pytest

from penstock.bench import growth
from penstock.bench.feeding import SIZES, measure
from penstock.bench.plan import Plan
from penstock.bench.queries import QUERIES
from penstock.bench.stages import stages
from penstock.bench.streams import Stream
from penstock.detection.local import detect

TINY = Plan(events=(300,), keys=(5,), streams=("dense",), queries=("Q1",), sources=("memory",), rounds=1)


def run(part: str, folder: Path) -> list[str]:
    plan = Plan(**{**vars(TINY), "parts": (part,)})
    return [one.way for _, work in plan.steps(folder) for one in work()]


@pytest.mark.parametrize(("part", "ways"), [("speed", ["penstock", "engine"]), ("first", ["penstock"])])
def test_parts_measure_penstock(part: str, ways: list[str], tmp_path: Path) -> None:
    assert run(part, tmp_path) == ways


def test_memory_is_measured_in_another_process(tmp_path: Path) -> None:
    ((_, work),) = Plan(**{**vars(TINY), "parts": ("memory",)}).steps(tmp_path)
    (one,) = work()
    assert one.found == len(detect(Stream("dense", 300, 5).table(), QUERIES["Q1"].pattern))
    assert one.more["peak"] > 1_000_000


def test_sizes_are_each_parts_own_unless_asked_for(tmp_path: Path) -> None:
    titles = [title for title, _ in Plan(queries=("Q1",), sources=("csv",), parts=("speed",)).steps(tmp_path)]
    assert titles == [
        f"{kind}, 2 M events, {keys} keys: Q1 from csv" for keys in ("10 k", "1 M") for kind in ("main", "dense")
    ]


def test_runs_that_wait_make_nothing() -> None:
    waiting = [point for point in growth.points(Stream("main", 500, 5)) if point[0] == "live runs"]
    assert {one.found for one in growth.measure(*waiting[0], rounds=1)} == {0}


def test_stages_begin_with_detect_and_go_down() -> None:
    table = Stream("dense", 300, 5).table()
    found = stages(lambda: detect(table, QUERIES["Q1"].pattern))
    assert found[0].name == "local.detect"
    assert {one.depth for one in found[1:]} >= {1, 2}
    assert all(one.seconds <= found[0].seconds for one in found)


class Fed:
    """Takes what a detector takes, and remembers how much it was."""

    def __init__(self, pattern: str) -> None:
        self.sizes: list[int] = []
        FED.append(self)

    def feed(self, batch: list[object]) -> list[object]:
        self.sizes.append(len(batch))
        return []

    def finish(self) -> list[object]:
        return []


FED: list[Fed] = []


def test_small_batches_are_fed_as_they_should_be() -> None:
    measured = measure(Fed, Stream("main", 3_000, 5), QUERIES["Q1"])
    assert [set(one.sizes) for one in FED] == [{size} for size in SIZES]
    assert [one.more["batch"] for one in measured] == list(SIZES)
