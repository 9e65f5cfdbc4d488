"""A DataFrame of plain Parquet files is read by workers, and what is found is what Spark's own reading leads to."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock import spark as on_spark
from penstock.spark.plain import plain_files

EVENTS = pa.table(
    {
        "type": pa.array(["Open", "Close", "Open", "Open"]).dictionary_encode(),
        "id": ["1", "2", "3", "3"],
        "time": pa.array(
            [datetime(2026, 1, 1, 12, minute, tzinfo=UTC) for minute in range(4)], pa.timestamp("us", "UTC")
        ),
        "door": ["x", "x", "x", "y"],
    }
)
PAIRS = "[Open(door = $d)] ; [Close(door = $d)]"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "two words"
    path.mkdir()
    pq.write_table(EVENTS, path / "1.parquet")
    later = [datetime(2026, 1, 1, 13, minute, tzinfo=UTC) for minute in range(4)]
    pq.write_table(EVENTS.set_column(2, "time", pa.array(later, pa.timestamp("us", "UTC"))), path / "2.parquet")
    return path


def found(df: DataFrame) -> list[dict[str, object]]:
    rows = [row.asDict(recursive=True) for row in on_spark.detect(df, PAIRS, buckets=3).collect()]
    return sorted(rows, key=repr)


def test_what_is_found_is_the_same_however_it_is_read(spark: SparkSession, folder: Path) -> None:
    df = spark.read.parquet(str(folder))
    assert sorted(path.name for path in plain_files(df)) == ["1.parquet", "2.parquet"]
    computed = df.where("length(door) > 0")
    assert not plain_files(computed)
    assert found(df) == found(computed)
    assert len(found(df)) == 1


def test_anything_but_plain_files_is_left_to_spark(spark: SparkSession, folder: Path) -> None:
    df = spark.read.parquet(str(folder))
    others = {
        "in part": df.select("type", "id", "time"),
        "no file": spark.createDataFrame(EVENTS),
        "JSON": _written(df, folder.with_name("json")),
        "partitions": _partitioned(df, folder.with_name("partitions")),
    }
    assert not [name for name, one in others.items() if plain_files(one)]


def test_files_with_other_columns_are_left_to_spark(spark: SparkSession, folder: Path) -> None:
    pq.write_table(EVENTS.append_column("more", pa.array([1, 2, 3, 4])), folder / "3.parquet")
    assert not plain_files(spark.read.parquet(str(folder)))
    assert not plain_files(spark.read.option("mergeSchema", "true").parquet(str(folder)))


def test_a_table_that_spark_keeps_is_left_to_spark(spark: SparkSession, folder: Path) -> None:
    df = spark.read.parquet(str(folder)).cache()
    assert not plain_files(df)
    df.unpersist()


def _written(df: DataFrame, path: Path) -> DataFrame:
    df.write.json(str(path))
    return df.sparkSession.read.json(str(path))


def _partitioned(df: DataFrame, path: Path) -> DataFrame:
    df.write.partitionBy("door").parquet(str(path))
    return df.sparkSession.read.parquet(str(path))
