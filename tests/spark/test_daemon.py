"""The process that Spark's workers are forked from keeps memory, where the C library lets it."""

import ctypes
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import numpy as np
from penstock.spark.daemon import keep_memory

if sys.argv[1] == "keeps":
    keep_memory()

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    some = [np.ones(2_000_000) for _ in range(5)]
    del some
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(min(faults() for _ in range(5)))
"""


def _faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="this C library does not let us choose")
def test_memory_that_a_worker_frees_is_there_for_its_next_batch() -> None:
    assert 10 * _faults("keeps") < _faults("gives back")
