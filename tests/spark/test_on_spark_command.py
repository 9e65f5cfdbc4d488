"""``penstock detect --engine spark`` gives the bytes, messages and statuses of ``penstock detect``."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from penstock.command.main import app

EXAMPLES = Path(__file__).parents[2] / "examples"
ALARMS = Path(__file__).parents[3] / "shared" / "data" / "telecom-alarms" / "Alarm.csv"
PAIRS = "[Open(door = $d)] ; [Close(door = $d)]"


def run(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["detect", *map(str, arguments)], input=stdin, env={"COLUMNS": "200"})


def both(*arguments: str | Path, stdin: str | None = None) -> tuple[Result, Result]:
    """Without Spark, and on it; what each definition that is not shared out is told about is no message of both."""
    return run(*arguments, stdin=stdin), run(*arguments, "--engine", "spark", stdin=stdin)


def same(local: Result, spark: Result) -> bool:
    said = "".join(line for line in spark.stderr.splitlines(keepends=True) if "by one worker" not in line)
    assert (spark.exit_code, said) == (local.exit_code, local.stderr)
    assert spark.stdout_bytes == local.stdout_bytes
    return True


@pytest.fixture
def doors(tmp_path: Path) -> Path:
    """The example's events as Parquet, the last ones twice, in two files."""
    table = pa.csv.read_csv(EXAMPLES / "doors" / "doors.csv")
    (tmp_path / "doors").mkdir()
    pq.write_table(table, tmp_path / "doors" / "one.parquet", row_group_size=3)
    pq.write_table(table.slice(5), tmp_path / "doors" / "two.parquet")
    return tmp_path / "doors"


def test_the_office(spark: SparkSession) -> None:
    assert same(*both(EXAMPLES / "office" / "office.pen", EXAMPLES / "office" / "events.jsonl"))


def test_parquet_that_workers_read(spark: SparkSession, doors: Path) -> None:
    assert same(*both(EXAMPLES / "doors" / "doors.pen", doors))
    assert same(*both(PAIRS, doors, "--carry", "none", "--format", "table"))


def test_parquet_without_repeated_events_and_with_ids_in_any_order(spark: SparkSession, tmp_path: Path) -> None:
    rows = range(60)
    columns = {"type": ["Open", "Close", "Bell"] * 20, "time": [*rows], "door": [row % 7 for row in rows]}
    table = pa.table(columns | {"id": [str(row * 7 % 60) for row in rows]})
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=16)
    assert same(*both(PAIRS, tmp_path / "events.parquet"))


@pytest.mark.parametrize(
    ("pattern", "columns"),
    [
        ("[A(b = $k)] ; [B(b = $k)]", {"type": ["A", "A", "B"], "a": [1, 2, 0], "b": [2, 1, 1]}),
        (
            "P := [A(k = $k)] ; [B(k = $k)]\nQ := [C(k = $k)] ; [B(k = $k)]",
            {"type": ["A", "C", "B"], "arrival": [9, 3, 9], "k": [1, 1, 1]},
        ),
    ],
    ids=["by an attribute", "by its arrival"],
)
@pytest.mark.parametrize("carry", ["none", "all"])
def test_the_same_of_two_events_that_differ_counts(
    spark: SparkSession, tmp_path: Path, pattern: str, columns: dict[str, list[int | str]], carry: str
) -> None:
    table = pa.table({"id": ["1", "1", "2"], "time": [1, 1, 5]} | columns)
    pq.write_table(table, tmp_path / "events.parquet")
    assert same(*both(pattern, tmp_path / "events.parquet", "--carry", carry))


def test_incomplete_runs(spark: SparkSession, doors: Path, tmp_path: Path) -> None:
    for engine, name in (("local", "local.csv"), ("spark", "spark.csv")):
        run(PAIRS, doors, "--incomplete", tmp_path / name, "--engine", engine)
    assert (tmp_path / "spark.csv").read_bytes() == (tmp_path / "local.csv").read_bytes()


@pytest.mark.skipif(not ALARMS.exists(), reason="the sample of alarms is not here")
def test_a_file_in_a_format_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    lines = ALARMS.read_text().splitlines(keepends=True)[:3000]
    (tmp_path / "alarms.csv").write_text("".join(lines))
    named = lines[0].strip().split(",")
    alarm, start, device = (next(name for name in named if word in name) for word in ("alarm", "start", "dev"))
    pattern = f"['11'({device} = $d)] ; ['1'({device} = $d)] within 1 h"
    reading = ["--type-from", alarm, "--time-from", start, "--time-unit", "s"]
    assert same(*both(pattern, tmp_path / "alarms.csv", *reading))


@pytest.mark.parametrize(
    ("pattern", "events"),
    [
        ("[Open(door = $d)", '{"type": "Open", "time": 5}'),
        (PAIRS, '{"type": "Open", "time": 5}\n{"type": "Close"}'),
        (PAIRS, ""),
    ],
)
def test_what_is_wrong_is_said_in_the_same_words(spark: SparkSession, pattern: str, events: str) -> None:
    assert same(*both(pattern, stdin=events))


def test_bad_rows_of_files_that_workers_read(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"type": ["Open", "Close"], "time": [5, None], "id": ["1", "2"], "door": ["x", "x"]})
    pq.write_table(table, tmp_path / "bad.parquet")
    local, on_spark = both(PAIRS, tmp_path / "bad.parquet")
    assert local.exit_code == 3
    assert same(local, on_spark)
    assert same(*both(PAIRS, tmp_path / "bad.parquet", "--skip-bad"))


def test_options_that_make_no_sense(spark: SparkSession) -> None:
    assert run(PAIRS, "--master", "local[1]").exit_code == 2
    assert run(PAIRS, "--follow", "--engine", "spark", stdin="").exit_code == 2
