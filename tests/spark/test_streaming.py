"""Detection over streams on Spark: micro-batches, progress, policies, what goes beside, and what is refused."""

from pathlib import Path

from pyspark.sql import SparkSession
from tests.spark.streams import Stream, beat, event

PAIR = "[A(k = $k)] ; [B(k = $k)]"


def test_runs_go_on_from_one_micro_batch_to_the_next_and_over_restarts(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, PAIR)
    stream.put([event("A", 1), event("A", 2, k="y")], [event("B", 3), event("B", 4, k="z")])
    stream.run()
    assert stream.ids() == [["A1xs", "B3xs"]]
    stream.put([event("B", 5, k="y"), beat(9)])
    stream.run()
    assert stream.ids() == [["A1xs", "B3xs"], ["A2ys", "B5ys"]]
