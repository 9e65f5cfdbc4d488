"""What benchmarks on Spark compare finds the same, so that their times can be compared."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.bench import spark_delays, spark_streams
from penstock.bench.on_spark import COMPUTED, FRAME, PATH, PROCESS, QUERIES, UNIQUE, WINDOWS, Place
from penstock.bench.queries import QUERIES as ALL
from penstock.bench.streams import Stream
from penstock.spark.measuring import moved_bytes


@pytest.mark.parametrize("name", QUERIES)
def test_window_functions_find_what_patterns_find(spark: SparkSession, tmp_path: Path, name: str) -> None:
    stream = Stream("dense", 3000, 40)
    before = moved_bytes(spark)
    ways = Place(spark, 2, stream, stream.file(tmp_path, "parquet")).ways(ALL[name].over(1_000_000))
    found = {way: ways[way]() for way in (FRAME, COMPUTED, UNIQUE, PATH, WINDOWS, PROCESS)}
    assert len(set(found.values())) == 1
    assert found[PROCESS]
    assert moved_bytes(spark) > before


def test_streams_are_measured_by_micro_batches_of_any_size(spark: SparkSession, tmp_path: Path) -> None:
    one = spark_streams.Following(keys=20, events=50, batches=3)
    found = list(spark_streams.measure(spark, one, tmp_path, (spark_streams.OURS, spark_streams.NATIVE)))
    assert [(each.way, each.stream.events) for each in found] == [
        (spark_streams.OURS, 150),
        (spark_streams.NATIVE, 150),
    ]
    assert all(each.more["written"] > 0 and each.more["memory"][1] >= each.more["memory"][0] for each in found)


def test_the_delay_of_each_small_file_is_measured(spark: SparkSession) -> None:
    found = list(spark_delays.measure(spark, spark_delays.Trickle(files=2, pairs=3)))
    assert [len(each.more["delays"]) for each in found] == [2, 2]
    assert all(delay > 0 for each in found for delay in each.more["delays"])
