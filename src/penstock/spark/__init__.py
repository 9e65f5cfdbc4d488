"""Detection on Spark: DataFrames in, DataFrames out, by the detector that runs everywhere."""

from penstock.spark.batch import OneBucketWarning, detect
from penstock.spark.files import detect_files
from penstock.spark.session import session
from penstock.spark.split import split

__all__ = ["OneBucketWarning", "detect", "detect_files", "session", "split"]
