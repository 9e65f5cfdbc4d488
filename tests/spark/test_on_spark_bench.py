"""What benchmarks on Spark compare finds the same, so that their times can be compared."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

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
