"""``penstock bench engine``: a small run, what it writes, and what it refuses."""

import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess
from typing import cast

import pytest
from typer.testing import CliRunner

from penstock.bench.plan import Plan, Step
from penstock.bench.results import Measurement
from penstock.bench.streams import Stream
from penstock.command.benchmarking import _measured
from penstock.command.main import app
from penstock.command.progress import progress_bar

Run = Callable[..., CompletedProcess[str]]

SMALL = ["bench", "engine", "--events", "3000", "--keys", "20", "--stream", "dense", "--query", "Q1", "--rounds", "1"]


def test_a_small_run_beside_all_others(penstock: Run, tmp_path: Path) -> None:
    result = penstock(*SMALL, "--part", "speed", "--json", "raw.json", "--markdown", "page.md")
    assert result.returncode == 0, result.stderr
    measured = json.loads((tmp_path / "raw.json").read_text())["measurements"]
    assert {(one["way"], one["source"]) for one in measured} >= {
        (way, source) for way in ("penstock", "polars", "pandas", "duckdb", "loop") for source in ("memory", "csv")
    }
    assert len({one["found"] for one in measured}) == 1
    assert len({one["checksum"] for one in measured if one["way"] != "engine"}) == 1
    assert "From memory: 3 k events, 20 keys" in result.stdout
    assert "| dense | Q1 |" in (tmp_path / "page.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.md", "raw.json"]


def test_files_are_kept_where_one_says(penstock: Run, tmp_path: Path) -> None:
    penstock(*SMALL, "--part", "speed", "--baseline", "loop", "--from", "parquet", "--data", "here")
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["dense-3000-20.parquet"]


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_plots(penstock: Run, tmp_path: Path) -> None:
    options = ["--part", "speed", "--baseline", "loop", "--from", "memory"]
    result = penstock(*SMALL, *options, "--plots", "plots", "--markdown", "page.md")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "plots" / "speed-dense-3000-20-memory.svg").read_text().startswith("<?xml")
    assert "(plots/speed-dense-3000-20-memory.svg)" in (tmp_path / "page.md").read_text()


def test_a_page_that_cannot_be_written_is_refused_before_the_work(penstock: Run) -> None:
    result = penstock(*SMALL, "--markdown", "nowhere/page.md")
    assert (result.returncode, result.stdout) == (1, "")
    assert "nowhere/page.md: cannot be written" in result.stderr


def test_a_query_that_is_not_there_is_a_bad_option(penstock: Run) -> None:
    assert penstock("bench", "engine", "--query", "Q9").returncode == 2


class Interrupted:
    """Measures one thing, and is interrupted at the next."""

    def steps(self, folder: Path) -> Iterator[Step]:
        yield "one", lambda: [Measurement("first", Stream("main", 1, 1), "[A]", "penstock", 1.0)]
        yield "two", self.interrupt

    def interrupt(self) -> list[Measurement]:
        raise KeyboardInterrupt


def test_interrupted_it_keeps_what_it_has_and_says_so(tmp_path: Path) -> None:
    with progress_bar() as bar:
        measured, notes = _measured(cast(Plan, Interrupted()), tmp_path, bar)
    assert [one.part for one in measured] == ["first"]
    assert notes == ["interrupted after 1 of 2 steps; what came later was not measured"]


def test_the_office_experiment_says_where_it_cannot_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.command.experimenting.missing", lambda: "network namespaces need root")
    result = CliRunner().invoke(app, ["bench", "office"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "this experiment cannot be run here: network namespaces need root" in result.stderr
