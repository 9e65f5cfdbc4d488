"""Detection on Spark: DataFrames in, DataFrames out, by the detector that runs everywhere."""
