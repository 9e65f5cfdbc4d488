"""Detection on Spark: DataFrames in, DataFrames out, by the detector that runs everywhere."""

from penstock.spark.batch import OneBucketWarning
from penstock.spark.detecting import detect
from penstock.spark.session import session
from penstock.spark.split import split

__all__ = ["OneBucketWarning", "detect", "session", "split"]
