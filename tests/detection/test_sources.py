"""The table that says which source holds everything up."""

from io import StringIO

from rich.console import Console
from tests.ordering.conftest import SECOND, fed

from penstock.detection.sources import sources_table
from penstock.ordering.policies import guaranteed, probabilistic
from penstock.ordering.stage import Ordering


def printed(stage: Ordering, most: int = 10) -> list[str]:
    console = Console(width=120, file=StringIO(), color_system=None)
    with console.capture() as shown:
        console.print(sources_table(stage.status(), most))
    return [line.rstrip() for line in shown.get().splitlines() if line.strip()]


def test_the_source_that_is_waited_for_stands_first() -> None:
    stage = Ordering(guaranteed(), ["door-1", "badge-7"])
    fed(stage, 'a@5"door-1" b@3"badge-7" c@4"badge-7"', arrival=6)
    stage.wait(16 * SECOND)
    _, _, first, second, caption = printed(stage)
    assert "badge-7 ◀ holds up" in first
    assert "1 s" in first
    assert "10 s" in first
    assert "◀" not in second
    assert caption == "guaranteed · consumed up to 1970-01-01T00:00:04Z, 1 event held · 2 sources"


def test_only_the_slowest_are_shown_of_many() -> None:
    stage = Ordering(guaranteed(), [f"s{number}" for number in range(1000)])
    assert len(printed(stage, most=3)) == 2 + 3 + 1


def test_estimated_delays_are_shown_where_there_are_some() -> None:
    stage = Ordering(probabilistic(0.9), ["never"])
    fed(stage, 'a@5"s"', arrival=4.5)
    assert any("−500 ms" in line for line in printed(stage))


def test_what_went_wrong_is_counted_below() -> None:
    stage = Ordering(guaranteed())
    fed(stage, "a@5/1 a@5/1")
    fed(stage, "b@2/2")
    assert "1 late, 1 twice" in " ".join(printed(stage)[-2:])
