"""The process that Spark's Python workers are forked from: it loads the engine once, so that they need not.

``spark.python.daemon.module`` names it; `penstock.spark.session` says so to Spark.
"""

from __future__ import annotations

import ctypes
import gc

from pyspark import worker
from pyspark.daemon import manager

from penstock.detection import course, plan
from penstock.detection.prepare import prepare
from penstock.spark import packing, unpacking

LOADED = (course, packing, plan, unpacking, worker)
"""What workers need."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""How glibc numbers what `keep_memory` sets."""
_KEPT, _APART = 128 << 20, 32 << 20
"""So many free bytes are kept at most; what takes more than so many has pages of its own, which are given back."""


def keep_memory() -> None:
    """Lets this process and those forked from it keep some of the memory that they free.

    A worker needs the same room for each batch. To give it back and ask for it again takes a fourteenth of a detection,
    most of it spent on clearing pages.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _APART)
        mallopt(_TRIM_THRESHOLD, _KEPT)


if __name__ == "__main__":
    keep_memory()
    prepare()
    gc.collect()
    gc.freeze()  # after each task a worker looks for garbage, which here took 30 ms, mostly among what was loaded
    manager()
