"""``penstock demo office``: what it writes, and that its events give the same composites again."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

Run = Callable[..., CompletedProcess[str]]
OFFICE = Path(__file__).parents[2] / "examples" / "office" / "office.pen"


def test_its_events_give_the_same_composites(penstock: Run, tmp_path: Path) -> None:
    short = ("--engine", "local", "--hours", "1", "--seconds", "0")
    result = penstock("demo", "office", *short, "--events", "day.jsonl", "--output", "live.jsonl")
    assert result.returncode == 0, result.stderr
    again = penstock("detect", str(OFFICE), "day.jsonl")
    assert (tmp_path / "live.jsonl").read_text() == again.stdout != ""
    assert (tmp_path / "office.svg").read_text().startswith("<svg ")
    assert "Scenario 1" in result.stdout
    assert "Scenario 2" in result.stdout
    assert "policy guaranteed: 0 late" in result.stdout


def test_a_picture_of_another_kind_is_refused(penstock: Run) -> None:
    result = penstock("demo", "office", "--engine", "local", "--picture", "office.gif")
    assert (result.returncode, result.stdout) == (2, "")
    assert "office.gif has no ending that we can write" in result.stderr


def test_a_folder_that_is_not_there_is_noticed_first(penstock: Run) -> None:
    result = penstock("demo", "office", "--engine", "local", "--events", "nowhere/day.jsonl")
    assert result.returncode == 1
    assert "there is no such folder" in result.stderr
