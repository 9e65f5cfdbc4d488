"""The process that Spark's Python workers are forked from: it loads the engine once, so that they need not.

``spark.python.daemon.module`` names it; `penstock.spark.session` says so to Spark.
"""

from __future__ import annotations

from pyspark.daemon import manager

from penstock.detection import course, plan
from penstock.detection.prepare import prepare
from penstock.spark import packing, unpacking

LOADED = (course, packing, plan, unpacking)
"""What workers need."""

if __name__ == "__main__":
    prepare()
    manager()
