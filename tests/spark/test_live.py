"""A scenario that is detected live on Spark gives what detection of its events gives."""

from pyspark.sql import SparkSession

from penstock import detect
from penstock.events.times import SECOND
from penstock.scenarios.office.patterns import OFFICE, load
from penstock.scenarios.office.simulator import simulate
from penstock.scenarios.on_spark import OnSpark


def test_live_on_spark_is_the_same_as_afterwards(spark: SparkSession) -> None:
    day = simulate(seed=1, hours=1.2)
    live = OnSpark(load(OFFICE), day.sources, day.sent.table, spark)
    try:
        for arrival in day.arrivals(tick=900 * SECOND):
            live.take(arrival)
        found = live.finish().table
        progress = live.progress()
    finally:
        live.stop()
    afterwards = detect(day.events, load(OFFICE)).table
    key = [("hi", "ascending"), ("id", "ascending")]
    assert found.sort_by(key).to_pylist() == afterwards.sort_by(key).to_pylist()
    assert len(afterwards) > 10
    assert (progress.consumed, progress.late, progress.composites) == (len(day.events), 0, len(afterwards))
    assert 0 <= progress.delay < 3600 * SECOND  # nothing waits if Spark reads all in one micro-batch
