"""Detection on a real Spark finds what one process finds, whatever the partitions; what is wrong is said clearly."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import penstock as ps
from penstock import spark as on_spark
from penstock.algebra.names import uses_any_type
from penstock.algebra.pattern import Pattern
from penstock.events.table import EventTable
from penstock.events.times import LATEST
from penstock.filters.attributes import check_attributes
from penstock.spark.schema import fitted
from tests.compare.trial import random_trial
from tests.engine.conftest import rows
from tests.engine.test_golden import CASES
from tests.spark.renaming import renamed

PAIRS = "[Open(door = $d)] ; [Close(door = $d)]"
DOORS = [("Open", "1", 1, "x"), ("Close", "2", 2, "x"), ("Open", "3", 3, "y"), ("Bell", "4", 9_000_000, None)]
SCHEMA = "type string, id string, time long, door string"


def plain(table: EventTable) -> pa.Table:
    """Events as the table that a user would have."""
    columns = {name: table.field(name) for name in ("source", "id", "seq", "lo", "hi")}
    columns["type"] = table.field("type").dictionary_decode()
    columns["source"] = table.field("source").dictionary_decode()
    return pa.table(columns | {name: table.attribute(name) for name in table.attributes.column_names})


def content(found: list[dict[str, Any]]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in found)


def told(found: DataFrame) -> pa.Table:
    return found.toArrow()


def expected(table: pa.Table, patterns: dict[str, Pattern], schema: pa.Schema, **options: Any) -> list[dict[str, Any]]:
    local = [ps.detect(table, pattern, **options).table for pattern in patterns.values()]
    return [row for one in local for row in fitted(one, schema).to_pylist()]


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", on_spark.OneBucketWarning)
        yield


def reads_only(pattern: Pattern, table: EventTable) -> bool:
    """Whether the events have all attributes that are read."""
    try:
        check_attributes(pattern, EventTable(table.fields, table.attributes, fixed=True))
    except ps.PatternError:
        return False
    return True


def test_golden_cases_beside_each_other_in_one_job(spark: SparkSession) -> None:
    patterns: dict[str, Pattern] = {}
    tables: list[pa.Table] = []
    kinds: dict[str, pa.DataType] = {}
    for number, case in enumerate(CASES[::6]):
        pattern, table = ps.parse(case.pattern), rows(case.trace.events)
        own = {name: table.attribute(name).type for name in table.attributes.column_names}
        plainly = not case.more and not case.restart and case.zone == "UTC" and case.until is None
        alike = all(kinds.get(name, kind) == kind for name, kind in own.items())
        if not plainly or not alike or any(map(uses_any_type, pattern.definitions)) or not reads_only(pattern, table):
            continue
        kinds |= own
        patterns[f"C{number}"] = renamed(pattern, lambda name, n=number: f"C{n}.{name}")  # type: ignore[misc]
        events = plain(table)
        types = pa.array([f"C{number}.{type}" for type in events["type"].to_pylist()], pa.string())
        sources = pa.array([f"{number}" for _ in range(len(events))], pa.string())
        names = events.column_names
        events = events.set_column(names.index("type"), "type", types)
        tables.append(events.set_column(names.index("source"), "source", sources))
    assert len(patterns) > 20
    whole = pa.concat_tables(tables, promote_options="default")
    found = told(on_spark.detect(spark.createDataFrame(whole).repartition(3), list(patterns.values()), buckets=2))
    assert content(found.to_pylist()) == content(expected(whole, patterns, found.schema))


@pytest.mark.parametrize("seed", ["one", "two"])
def test_random_patterns_over_random_partitions(spark: SparkSession, seed: str) -> None:
    trials = [random_trial(f"on spark:{seed}:{number}") for number in range(12)]
    events = [replace(event, id=f"{n}-{event.id}") for n in range(8) for event in trials[n].events]
    table = plain(rows([replace(event, attributes=numbers(event.attributes)) for event in events]))
    patterns: dict[str, Pattern] = {}
    for number, trial in enumerate(trials):
        own = {one.name for one in trial.pattern.definitions}
        one = renamed(trial.pattern, lambda name, n=number, own=own: f"P{n}.{name}" if name in own else name)  # type: ignore[misc]
        try:
            ps.detect(table, one, carry="none")
        except ps.PatternError:
            continue
        patterns[f"P{number}"] = one
    df = spark.createDataFrame(table).repartition(4, f.rand(7))
    found = told(on_spark.detect(df, list(patterns.values()), buckets=3, carry="none"))
    assert content(found.to_pylist()) == content(expected(table, patterns, found.schema, carry="none"))


def numbers(attributes: Any) -> dict[str, Any]:
    """Attributes of which each has one kind, and the parameter's whole numbers beside others."""
    return {"k": attributes.get("k"), "v": attributes.get("v") if isinstance(attributes.get("v"), float) else 1.5}


def doors(spark: SparkSession, more: Sequence[tuple[Any, ...]] = (), schema: str = SCHEMA) -> DataFrame:
    return spark.createDataFrame([*DOORS, *more], schema)


def ids(found: DataFrame) -> list[list[str]]:
    return sorted([part["id"] for part in row["parts"]] for row in found.collect())


def test_the_same_event_twice_counts_once_and_of_two_with_one_name_the_first_counts(spark: SparkSession) -> None:
    again = [("Open", "1", 1, "x"), ("Open", "5", 4, "z"), ("Open", "5", 5, "y"), ("Close", "6", 6, "y")]
    df = doors(spark, [*again, ("Close", "7", 7, "z")]).repartition(5)
    assert ids(on_spark.detect(df, PAIRS, buckets=7)) == [["1", "2"], ["3", "6"], ["5", "7"]]
    assert len(on_spark.detect(df, PAIRS, unique=True, buckets=7).collect()) > 3


@pytest.mark.parametrize("shift", [0, 9000, 5_000_000])
def test_counters_that_are_the_same_that_overlap_and_that_follow_each_other(spark: SparkSession, shift: int) -> None:
    count = 10_000
    numbers = [*range(count), *range(shift, shift + count)]
    columns = {
        "type": ["Open" if number % 3 else "Close" for number in numbers],
        "id": [str(number) for number in numbers],
        "time": list(range(2 * count)),
        "door": [row % 41 for row in range(2 * count)],
    }
    table = pa.table(columns)
    found = told(on_spark.detect(spark.createDataFrame(table), PAIRS, carry="none"))
    local = fitted(ps.detect(table, PAIRS, carry="none").table, found.schema)
    assert content(found.to_pylist()) == content(local.to_pylist())


def test_events_without_ids_are_named_as_in_one_process(spark: SparkSession) -> None:
    df = doors(spark, DOORS).drop("id")
    local = ps.detect(df.toArrow(), PAIRS)
    assert ids(on_spark.detect(df, PAIRS)) == sorted([part["id"] for part in row["parts"]] for row in local.to_pylist())


def test_an_idle_key_hears_of_the_end_of_the_input(spark: SparkSession) -> None:
    left_open = "([Open(door = $d)], [T in {T, Close(door = $d)}]){T = 5 s}"
    assert ids(on_spark.detect(doors(spark), left_open)) == [["3"]]
    early = doors(spark).where("type != 'Bell'")
    assert ids(on_spark.detect(early, left_open)) == []
    assert ids(on_spark.detect(early, left_open, until=8_000_000)) == [["3"]]
    stamped = early.withColumn("time", f.timestamp_micros("time"))
    assert ids(on_spark.detect(stamped, left_open, until=datetime(1970, 1, 1, 0, 0, 8, tzinfo=UTC))) == [["3"]]


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ("time long", {}),
        ("time long", {"clock_error": 3, "time_unit": "ms"}),
        ("time int", {"time_unit": "ns", "clock_error": 1}),
        ("time timestamp", {"clock_error": 2}),
        ("lo long, hi long", {"time_unit": "ns"}),
        ("hi long, time long", {"time_unit": "s"}),
    ],
)
@pytest.mark.parametrize("end", [4_999, 5_000, 5_001])
def test_the_end_of_the_input_is_that_of_its_last_event_whatever_its_type(
    spark: SparkSession, columns: str, options: dict[str, Any], end: int
) -> None:
    names = [column.split()[0] for column in columns.split(", ")]
    rows = [
        (type, id, *(datetime.fromtimestamp(at / 1e6, UTC) if "timestamp" in columns else at for _ in names), k)
        for type, id, at, k in [("A", "1", 1, "x"), ("N", "2", end + 1, None), ("B", "3", 7, "y"), ("N", "4", 12, "z")]
    ]
    df = spark.createDataFrame(rows, f"type string, id string, {columns}, k string").repartition(3)
    unit = {"s": "s", "ms": "ms", "ns": "ns"}.get(options.get("time_unit", ""), "us")
    pattern = (
        f"([A(k = $k)], [T in {{T, B(k = $k)}}]){{T = {5 if unit == 'ns' else 5_000} {'us' if unit == 'ns' else unit}}}"
    )
    local = ps.detect(df.toArrow(), pattern, carry="none", **options).to_pylist()
    for unique in (False, True):
        found = told(on_spark.detect(df, pattern, carry="none", unique=unique, **options)).to_pylist()
        assert content(found) == content(local)


def test_events_that_come_again_in_other_buckets_hear_of_the_end(spark: SparkSession) -> None:
    pattern = "([A(k = $k)], [T in {T, B(k = $k)}]){T = 5 us}"
    rows = [("A", "1", 5, "x"), ("A", "1", 6, "y"), ("A", "2", 7, "y"), ("B", "3", 9, "x"), ("N", "4", 12, "z")]
    df = spark.createDataFrame(rows, "type string, id string, time long, k string").repartition(3)
    local = ps.detect(df.toArrow(), pattern).to_pylist()
    assert [row["k"] for row in local] == ["y"]
    assert content(told(on_spark.detect(df, pattern, buckets=2)).to_pylist()) == content(local)


def test_incomplete_runs_are_rows_with_a_kind(spark: SparkSession) -> None:
    found = on_spark.detect(doors(spark), PAIRS, incomplete=True).select("kind", "reason", "at", "d").collect()
    assert sorted((row["kind"], row["reason"], row["d"]) for row in found) == [
        ("composite", None, "x"),
        ("incomplete", "open", "y"),
    ]


@pytest.mark.parametrize("rows", [[], [("Bell", "1", 5, "x")], [("Open", "1", 5, "x")]])
def test_little_or_nothing_gives_nothing(spark: SparkSession, rows: list[tuple[Any, ...]]) -> None:
    df = spark.createDataFrame(rows, SCHEMA)
    assert on_spark.detect(df, PAIRS).collect() == []


def test_columns_follow_from_the_pattern_and_the_table(spark: SparkSession) -> None:
    pattern = "x: [Open(door = $d)] ; y: [Close(door = $d)] select took = y.hi - x.lo, share = 1 / 2, who = x.id"
    found = on_spark.detect(doors(spark), pattern)
    assert [(field.name, field.dataType.simpleString()) for field in found.schema][:8] == [
        ("type", "string"),
        ("lo", "timestamp"),
        ("hi", "timestamp"),
        ("d", "string"),
        ("took", "bigint"),
        ("share", "double"),
        ("who", "string"),
        ("id", "string"),
    ]
    assert [(row["took"], row["share"], row["who"]) for row in found.collect()] == [(1, 0.5, "1")]


def test_a_result_can_be_joined_and_nothing_runs_before(spark: SparkSession) -> None:
    names = spark.createDataFrame([("x", "front"), ("y", "back")], "d string, name string")
    bad = doors(spark, [("Open", "9", None, "x")])
    lazy = on_spark.detect(bad, PAIRS).join(names, "d")
    assert [row["name"] for row in on_spark.detect(doors(spark), PAIRS).join(names, "d").collect()] == ["front"]
    with pytest.raises(ps.DataError, match=r"row \{'type': 'Open', .*\}: field 'time': is missing"):
        lazy.collect()


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (("Other", "9", None, "x"), r"'type': 'Other', 'id': '9'.*field 'time'"),
        (("an other", "9 -", None, "x"), r"'type': 'an other', 'id': '9 -'.*field 'time'"),
        (("Other", None, None, "x"), r"\{'type': 'Other', 'door': 'x'\}: field 'time'"),
        (("Open", "9", None, "x"), r"'type': 'Open', 'id': '9'.*field 'time'"),
        ((None, "9", 5, "x"), r"'id': '9'.*field 'type': is missing"),
        (("", "9", 5, "x"), r"'type': '', 'id': '9'.*field 'type'"),
    ],
)
def test_a_row_that_is_no_event_is_told_whatever_its_type(
    spark: SparkSession, row: tuple[str | None, str | None, int | None, str], told: str
) -> None:
    with pytest.raises(ps.DataError, match=told):
        on_spark.detect(doors(spark, [row]), PAIRS).collect()


def test_an_event_of_no_interest_may_be_the_last_that_there_can_be(spark: SparkSession) -> None:
    lone = "([Open(door = $d)], [T in {T, Close(door = $d)}]){T = 20 s}"
    last = ("Other", "9 -", LATEST - 1, "x")
    names = [name.split()[0] for name in SCHEMA.split(", ")]
    table = pa.table(dict(zip(names, zip(*DOORS, last, strict=True), strict=True)))
    assert ids(on_spark.detect(doors(spark), lone)) == []
    assert ids(on_spark.detect(doors(spark, [last]), lone)) == [["3"]]
    assert len(ps.detect(table, lone)) == 1


def test_attributes_may_have_any_names(spark: SparkSession) -> None:
    columns = "type string, id string, time long, door string, Code int, code_ int"
    df = spark.createDataFrame([("Open", "1", 5, "x", 7, 8), ("Close", "2", 6, "x", 9, 10)], columns)
    [found] = on_spark.detect(df, PAIRS).collect()
    assert [json.loads(part["data"])["Code"] for part in found["parts"]] == [7, 9]


def test_tables_with_columns_of_their_own(spark: SparkSession) -> None:
    df = spark.createDataFrame([(11, 5, "a"), (1, 7, "a"), (11, 9, "b")], "alarm int, start int, device string")
    pattern = "['11'(device = $d)] ; ['1'(device = $d)]"
    mapping = {"type": "alarm", "lo": "start"}
    found = on_spark.detect(df, pattern, columns=mapping, time_unit="s", clock_error=1000).collect()
    local = ps.detect(df.toArrow(), pattern, columns=mapping, time_unit="s", clock_error=1000).to_pylist()
    assert [(row["id"], row["d"]) for row in found] == [(row["id"], row["d"]) for row in local]


@pytest.mark.parametrize("odd", ["a.b", "a`b", "Time", "a b", "TYPE"])
@pytest.mark.parametrize("carry", ["all", "none"])
def test_columns_may_have_any_names(spark: SparkSession, odd: str, carry: str) -> None:
    table = pa.table({"type": ["A", "B", "N"], "id": list("123"), "time": [1, 2, 9], "k": ["x"] * 3, odd: [5, 6, 7]})
    pattern = "([A(k = $k)], [B(k = $k), T]){T = 5 us}"
    found = on_spark.detect(spark.createDataFrame(table).where(f.col("k") != ""), pattern, carry=carry)
    assert content(told(found).to_pylist()) == content(ps.detect(table, pattern, carry=carry).to_pylist())


def test_columns_that_nobody_needs_are_not_read(spark: SparkSession) -> None:
    df = doors(spark).withColumn("photo", f.lit("…"))
    plan = on_spark.detect(df, PAIRS, carry="none")._jdf.queryExecution().optimizedPlan().toString()
    assert "photo" not in plan
    assert ids(on_spark.detect(df, PAIRS, carry="none")) == [["1", "2"]]
    nameless = df.withColumn("id", f.when(f.col("id") != "3", f.col("id")))
    with pytest.raises(ps.DataError, match="it has no id, and not all of its columns are read"):
        on_spark.detect(nameless, PAIRS, carry="none").collect()


def test_mistakes_are_found_before_anything_runs(spark: SparkSession) -> None:
    with pytest.raises(ps.PatternError, match="no attribute `dor`"):
        on_spark.detect(doors(spark), "[Open(dor = $d)]")
    with pytest.raises(ps.PatternError, match="define `composite`"):
        on_spark.detect(doors(spark), ["[Open]", "[Close]"])
    with pytest.raises(ps.DataError, match="there is no column 'time'"):
        on_spark.detect(spark.range(1), "[Open]")
    with pytest.warns(on_spark.OneBucketWarning, match="`composite` has no parameter"):
        on_spark.detect(doors(spark), "[Open]")


def test_plain_files_are_scanned_by_workers(spark: SparkSession, tmp_path: Any) -> None:
    table = doors(spark).toArrow()
    (tmp_path / "events").mkdir()
    pq.write_table(table.slice(0, 2), tmp_path / "events" / "one.parquet", row_group_size=1)
    pq.write_table(table.slice(1), tmp_path / "events" / "two.parquet")
    found = on_spark.detect_files(spark, tmp_path / "events", PAIRS)
    assert content(told(found).to_pylist()) == content(ps.detect(table, PAIRS).to_pylist())
    pq.write_table(pa.table({"type": ["Open"], "time": pa.array([None], pa.int64())}), tmp_path / "bad.parquet")
    with pytest.raises(ps.DataError, match=r"bad.parquet, row 1: field 'time': is missing"):
        on_spark.detect_files(spark, tmp_path / "bad.parquet", "[Open]").collect()
