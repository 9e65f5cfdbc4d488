"""Detection over streams on Spark: micro-batches, progress, what goes beside, and what is refused."""

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock as ps
from penstock import spark as ps_spark
from penstock.algebra.pattern import Pattern
from penstock.detection.detector import Detector
from penstock.errors import PatternError
from penstock.spark.planning import patterns_of
from penstock.spark.session import PARTITIONS, SPARKS_OWN, STORE
from penstock.testing.generate import meaningful_pattern, trace
from tests.engine.conftest import table_of
from tests.spark.streams import SCHEMA, Stream, beat, event

PAIR = "Pair := [A(k = $k)] ; [B(k = $k)]"
SILENT = "Silent := ([A(k = $k)], [T in {T, B(k = $k)}]){T = 10 us}"
BOTH = f"{PAIR}\n{SILENT}"


def test_runs_go_on_over_micro_batches_and_restarts_with_all_that_goes_beside(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path, BOTH, late=True, status=True, incomplete=True, skip_bad=True)
    bad = {"type": None, "source": "s", "id": "bad", "lo": 1, "hi": 1}
    stream.put([event("A", 1), event("A", 2, k="y")], [event("B", 3), bad], [event("N", 40), event("A", 41, k="z")])
    stream.run()
    rows = stream.rows()
    told = Counter((row["kind"], row["type"]) for row in rows if row["kind"] not in ("status", "incomplete"))
    assert told == {("composite", "Pair"): 1, ("composite", "Silent"): 1, ("skipped", "penstock.skipped"): 1}
    assert [row["hi"].microsecond for row in rows if row["type"] == "Silent" and row["kind"] == "composite"] == [12]
    assert [row["reason"] for row in rows if row["kind"] == "incomplete"] == ["failed"]
    assert ["type" in row["reason"] for row in rows if row["kind"] == "skipped"] == [True]

    stream.put([event("B", 20, k="y"), beat(60), event("B", 70, k="z", source="t")])
    stream.run()
    fresh = [row for row in stream.rows() if row not in rows]
    late = [row for row in fresh if row["kind"] == "late"]
    assert [(row["type"], row["reason"], row["at"].microsecond) for row in late] == [
        ("B", "its source had shown a later stamp", 41)
    ]
    assert [part["id"] for part in late[0]["parts"]] == ["B20ys"]
    assert ("composite", "Silent") in {(row["kind"], row["type"]) for row in fresh}
    status = [json.loads(row["reason"]) for row in fresh if row["type"] == "penstock.status"]
    assert {tuple(one["holding"]) for one in status} == {("s",)}
    assert sum(one["held"] for one in status) == 1


def test_what_was_changed_is_told_or_refused(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, BOTH, status=True)
    stream.put([event("A", 1), event("A", 2, k="y"), event("N", 3)])
    stream.run()
    stream.put([event("B", 5), event("N", 6)])
    stream.pattern = BOTH.replace("10 us", "20 us")
    with pytest.raises(ps.StateError, match="`Silent` has changed"):
        stream.run()
    with pytest.raises(ps.StateError, match="written with 3 buckets"):
        Stream(spark, tmp_path, BOTH, status=True, buckets=2).run()
    stream.options["changed"] = "restart"
    stream.run()
    told = [row for row in stream.rows() if row["type"] in ("penstock.changed", "Pair")]
    assert {(row["kind"], row["reason"]) for row in told} == {
        ("status", "`Silent` has changed"),
        ("composite", None),
    }
    shutil.rmtree(tmp_path / "checkpoint" / "state" / "0" / "0")
    stream.put([event("B", 7, k="y"), event("N", 8)])
    with pytest.raises(ps.StateError, match="state of this checkpoint cannot be read"):
        stream.run()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("Other := [C(k = $k)] ; [D(k = $k)]", "has runs of `Pair`, `Silent` that this query would leave"),
        (PAIR, "has runs of `Silent` that this query would leave"),
        (f"Alone := [A]\n{BOTH.replace('k = $k', 'v = $v')}", "`Pair` is shared out by k, and now by v"),
    ],
)
@pytest.mark.filterwarnings("ignore::penstock.spark.OneBucketWarning")
def test_the_checkpoint_of_other_patterns_is_refused_and_nothing_is_lost(
    spark: SparkSession, tmp_path: Path, other: str, message: str
) -> None:
    stream = Stream(spark, tmp_path, BOTH)
    stream.put([event("A", 1), event("N", 2)])
    stream.run()
    stream.put([event("B", 5), event("N", 6)])
    with pytest.raises(ps.StateError, match=message):
        Stream(spark, tmp_path, other).run()
    stream.run()
    assert stream.ids() == [["A1xs", "B5xs"]]


def test_columns_may_have_any_names(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, PAIR, schema=f"{SCHEMA}, `a.b` long")
    stream.put([event("A", 1) | {"a.b": 7}, event("B", 5), event("N", 6)])
    stream.run()
    [row] = stream.rows()
    assert json.loads(row["parts"][0]["data"]) == {"a.b": 7, "k": "x"}


def test_a_session_of_ones_own_is_made_fit_for_state_and_what_makes_it_slow_is_told(
    spark: SparkSession, tmp_path: Path
) -> None:
    own = spark.newSession()
    own.conf.set(STORE, SPARKS_OWN)
    own.conf.set(PARTITIONS, "200")
    stream = Stream(own, tmp_path, PAIR)
    with pytest.warns(ps_spark.PartitionsWarning, match="200 shuffle partitions, and the stream 3 buckets"):
        ps_spark.detect(stream.events(), PAIR, buckets=3)
    own.conf.set(PARTITIONS, "3")
    stream.put([event("A", 1), event("B", 5), event("N", 6)])
    stream.run()
    assert len(stream.rows()) == 1


def test_runs_of_patterns_that_are_gone_are_let_go_if_that_is_wanted(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, BOTH, status=True)
    stream.put([event("A", 1), event("N", 2)])
    stream.run()
    stream.put([event("C", 5), event("D", 6), event("N", 7)])
    other = Stream(spark, tmp_path, "Other := [C(k = $k)] ; [D(k = $k)]", status=True, changed="restart")
    other.run()
    told = [row for row in other.rows() if row["type"] in ("penstock.changed", "Other")]
    assert sorted((row["kind"], row["reason"]) for row in told if row["kind"] == "status") == [
        ("status", "`Pair`, `Silent` is gone")
    ]
    assert [row["type"] for row in told if row["kind"] == "composite"] == ["Other"]


def test_the_checkpoint_of_another_program_is_refused_and_nothing_is_lost(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, PAIR)
    counted = stream.events().groupBy("k").count()
    writer = counted.writeStream.format("noop").outputMode("update").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    stream.put([event("A", 1), event("B", 2), event("N", 3)])
    writer.start().awaitTermination()
    stream.put([event("A", 4), event("N", 5)])
    with pytest.raises(ps.StateError, match="checkpoint is of another query"):
        stream.run()
    writer.start().awaitTermination()
    (tmp_path / "checkpoint").rename(tmp_path / "its own")
    stream.run()
    assert stream.ids() == [["A1xs", "B2xs"]]


def test_a_record_that_is_no_event_stops_the_stream_and_nothing_is_lost_when_it_is_repaired(
    spark: SparkSession, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path, PAIR)
    stream.put([event("A", 1)], [event("B", 2), {"type": "C", "source": "s", "id": "broken"}, event("N", 3)])
    with pytest.raises(ps.DataError, match="field 'lo': is missing"):
        stream.run()
    broken = tmp_path / "input" / "00001.json"
    times = broken.stat().st_mtime
    broken.write_text("".join(line for line in broken.read_text().splitlines(True) if "broken" not in line))
    os.utime(broken, (times, times))
    stream.run()
    assert stream.ids() == [["A1xs", "B2xs"]]


def test_a_stream_goes_on_where_history_ended(spark: SparkSession, tmp_path: Path) -> None:
    sources = ["s", "t"]
    before = [event("A", 1), event("B", 2), event("A", 3, k="y"), event("A", 7, k="z"), event("N", 6, source="t")]
    after = [event("B", 9, k="y"), event("N", 40), event("N", 41, source="t"), event("B", 42, k="z", source="t")]
    history = spark.createDataFrame([{"seq": None, "v": None, **one} for one in before], SCHEMA)
    past = ps_spark.backfill(history, BOTH, sources=sources, buckets=3)
    stream = Stream(spark, tmp_path / "live", BOTH, sources=sources, initial=past.state)
    stream.put(after[:2], after[2:])
    stream.run()
    local = Detector(BOTH, sources=sources)
    records = [{**one, "data": {"k": one["k"]}} for one in [*before, *after]]
    expected = sorted(local.feed(records).table["id"].to_pylist())
    found = [row["id"] for row in past.composites.select("id").collect()] + [row["id"] for row in stream.rows()]
    assert sorted(found) == expected
    assert len(expected) == 3
    assert past.composites.count() == 1


def test_a_stream_of_detect_is_not_detected_again(spark: SparkSession, tmp_path: Path) -> None:
    events = Stream(spark, tmp_path, PAIR).events()
    found = ps_spark.detect(events, PAIR)
    with pytest.raises(ps.PenstockError, match="what another `detect` found"):
        ps_spark.detect(found, "[Pair]")


def test_a_watermark_bounds_the_wait_and_what_is_behind_it_is_told(spark: SparkSession, tmp_path: Path) -> None:
    schema = "type string, source string, id string, time timestamp, k string"
    stream = Stream(spark, tmp_path, PAIR, schema, policy="watermark", late=True, sources=["s", "silent"])
    with pytest.raises(ps.PenstockError, match="no watermark"):
        ps_spark.detect(stream.events(), PAIR, policy="watermark")

    def at(type: str, second: int) -> dict[str, Any]:
        return {"type": type, "source": "s", "id": f"{type}{second}", "time": f"2026-01-01 00:00:{second:02}", "k": "x"}

    events = stream.events().withWatermark("time", "10 seconds")
    stream.events = lambda: events  # type: ignore[method-assign]
    stream.put([at("A", 1), at("B", 5)], [at("N", 40)], [at("B", 3)])
    stream.run()
    assert sorted((row["kind"], [part["id"] for part in row["parts"]]) for row in stream.rows()) == [
        ("composite", ["A1", "B5"]),
        ("late", ["B3"]),
    ]


@pytest.mark.parametrize("options", [{"until": 5}, {"changed": "ignore"}])
def test_options_that_mean_nothing_for_a_stream_are_refused(
    spark: SparkSession, tmp_path: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(ps.PenstockError, match=next(iter(options))):
        ps_spark.detect(Stream(spark, tmp_path, PAIR).events(), PAIR, **options)


@pytest.mark.parametrize("options", [{"policy": "best_effort"}, {"late": True}, {"sources": ["s"]}])
def test_options_of_streams_are_refused_for_tables(spark: SparkSession, options: dict[str, Any]) -> None:
    table = spark.createDataFrame([("A", 1)], "type string, time long")
    with pytest.raises(ps.PenstockError, match="of use for streams only"):
        ps_spark.detect(table, "[A]", **options)


@pytest.mark.filterwarnings("ignore::penstock.spark.OneBucketWarning")
def test_random_patterns_find_what_they_find_in_one_process(spark: SparkSession, tmp_path: Path) -> None:
    random = Random("patterns on a stream")  # noqa: S311
    patterns = dict(random_patterns(random, count=12))
    table = table_of(trace(random.choice))
    records = [record(one) for one in table.to_events()]
    sources = sorted({one["source"] for one in records})
    end = max(one["hi"] for one in records) + 9_000_000
    stream = Stream(spark, tmp_path, patterns, sources=sources)
    cuts = sorted(random.randint(0, len(records)) for _ in range(2))
    parts = [records[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
    stream.put(*[part for part in parts if part], [beat(end, source) for source in sources])
    stream.run()
    expected = Counter[str]()
    for pattern in patterns_of(patterns):
        local = Detector(pattern, sources=sources)
        found = local.feed(records_as_events(records), heartbeats=dict.fromkeys(sources, end))
        expected += Counter(found.table["id"].to_pylist())
    assert Counter(row["id"] for row in stream.rows()) == expected
    assert expected


def random_patterns(random: Random, count: int) -> list[tuple[str, Pattern]]:
    """Bare patterns that the engine takes, by name."""
    found: list[tuple[str, Pattern]] = []
    while len(found) < count:
        pattern = meaningful_pattern(random.choice)
        try:
            Detector(pattern)
        except PatternError:
            continue
        if len(pattern.items) == 1 and pattern.definitions[0].name == "composite":
            found.append((f"P{len(found)}", pattern))
    return found


def record(one: Any) -> dict[str, Any]:
    fields = {"type": one.type, "source": one.source, "id": one.id, "seq": one.seq, "lo": one.lo, "hi": one.hi}
    attributes = {name: one.attributes.get(name) for name in ("k", "v")}
    return fields | {"k": None if attributes["k"] is None else str(attributes["k"]), "v": None}


def records_as_events(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("type", "source", "id", "seq", "lo", "hi")
    return [{name: one[name] for name in names} | {"data": {"k": one["k"], "v": None}} for one in records]
