"""Flink CEP beside us: what its program says becomes measurements, and what is missing is named."""

from pathlib import Path

import pytest

from penstock.bench import flink
from penstock.bench.queries import QUERIES
from penstock.bench.streams import Stream
from penstock.errors import PenstockError

SAID = """read 0.1 0.2 0 0
Q1 1.0 1.0 3 77
Q1/filtered 0.2 0.2 3 77
read 0.5 0.75 0 0
Q1 4.0 5.0 3 77
Q1/filtered 2.0 3.0 3 77
read 0.6 0.5 0 0
Q1 4.5 4.75 3 77
Q1/filtered 1.5 2.5 3 77
"""


def test_the_warm_round_does_not_count_and_reading_is_subtracted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(flink, "_run", lambda command: SAID)
    monkeypatch.setattr(flink, "_java", lambda program: program)
    plain, filtered = flink.measure(Stream("main", 10, 2), [QUERIES["Q1"]], tmp_path)
    assert (plain.way, plain.seconds, plain.cpu, plain.found, plain.checksum, plain.rounds) == (
        "flink", 3.5, 4.25, 3, "77", 2
    )  # fmt: skip
    assert (filtered.way, filtered.seconds, filtered.cpu, filtered.rounds) == ("flink, filtered", 1.0, 2.0, 2)


def test_without_java_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(PenstockError, match="Flink CEP needs javac") as raised:
        flink.measure(Stream("main", 10, 2), [QUERIES["Q1"]], tmp_path)
    assert "JDK" in (raised.value.hint or "")


def test_what_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(PenstockError, match="failed"):
        flink._run(["false"])
