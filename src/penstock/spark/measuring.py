"""What benchmarks ask of Spark: all rows of a DataFrame computed and thrown away, and how much was moved for them."""

from __future__ import annotations

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as f


def drained(df: DataFrame) -> int:
    """Compute all of a DataFrame, keep nothing, and say how many rows there were."""
    seen = Observation()
    df.observe(seen, f.count(f.lit(1)).alias("rows")).write.format("noop").mode("overwrite").save()
    return int(seen.get["rows"])


def moved_bytes(session: SparkSession) -> int:
    """The bytes that all stages of a session wrote to be moved, so far."""
    context = session.sparkContext
    gateway = context._gateway
    assert gateway is not None  # noqa: S101
    assert context._jvm is not None  # noqa: S101
    none = context._jvm.java.util.ArrayList()
    quantiles = gateway.new_array(context._jvm.double, 0)
    stages = context._jsc.sc().statusStore().stageList(none, False, False, quantiles, none)
    return sum(int(stages.apply(number).shuffleWriteBytes()) for number in range(stages.size()))


def sorted_by_key(df: DataFrame, key: str, time: str, partitions: int) -> DataFrame:
    """Spark's own way to what detection needs: rows of one key together, in the order of their times."""
    return df.repartition(partitions, key).sortWithinPartitions(key, time)
