"""A stream whose disk is full stops with a clear error, and loses nothing: on a small file system of its own."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock as ps
from tests.spark.streams import Stream, event

PAIR = "Pair := [A(k = $k)] ; [B(k = $k)]"
SIZE = 4 << 20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system with little room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_stops_the_stream_and_nothing_is_lost(spark: SparkSession, disk: Path) -> None:
    stream = Stream(spark, disk, PAIR)
    stream.put([event("A", 1), event("A", 2, k="y"), event("N", 3)])
    stream.run()
    stream.put([event("B", 4), event("B", 5, k="y"), event("N", 6)])
    free = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(b"x" * (free.f_bavail * free.f_frsize))
    with pytest.raises(ps.PenstockError, match="the disk is full") as told:
        stream.run()
    assert "make room" in (told.value.hint or "")
    filler.unlink()
    stream.run()
    assert stream.ids() == [["A1xs", "B4xs"], ["A2ys", "B5ys"]]
