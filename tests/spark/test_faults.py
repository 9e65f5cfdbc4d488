"""A stream whose driver and workers are killed gives what one gives that is not: nothing lost, nothing doubled."""

from pathlib import Path

from tests.spark.faults import run


def test_kills_change_nothing(tmp_path: Path) -> None:
    found, expected = run(tmp_path, drivers=3, workers=10, seed=5)
    assert found == expected
    assert len(expected) > 20
