"""Detection on Spark: DataFrames in, DataFrames out, by the detector that runs everywhere."""

from penstock.spark.backfilling import Backfill, backfill
from penstock.spark.detecting import detect
from penstock.spark.files import detect_files
from penstock.spark.planning import OneBucketWarning
from penstock.spark.session import PartitionsWarning, session
from penstock.spark.split import split

__all__ = [
    "Backfill",
    "OneBucketWarning",
    "PartitionsWarning",
    "backfill",
    "detect",
    "detect_files",
    "session",
    "split",
]
