"""The process that Spark's Python workers are forked from: it loads the engine once, so that they need not.

``spark.python.daemon.module`` names it; `penstock.spark.session` says so to Spark.
"""

from __future__ import annotations

import gc

from pyspark import worker
from pyspark.daemon import manager

from penstock.detection import course, plan
from penstock.detection.prepare import prepare
from penstock.spark import packing, unpacking

LOADED = (course, packing, plan, unpacking, worker)
"""What workers need."""

if __name__ == "__main__":
    prepare()
    gc.collect()
    gc.freeze()  # after each task a worker looks for garbage, which here took 30 ms, mostly among what was loaded
    manager()
