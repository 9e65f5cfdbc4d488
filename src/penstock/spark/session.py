"""An embedded Spark session with settings that are sound for detection, and nothing to install or to start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from penstock.errors import PenstockError

MASTER = "local[*]"
"""This machine, with all its processors."""
CONF = Path(__file__).with_name("conf")
"""How Spark's own messages are logged."""
STORE = "spark.sql.streaming.stateStore.providerClass"
SPARKS_OWN, ROCKSDB = (
    f"org.apache.spark.sql.execution.streaming.state.{name}StateStoreProvider" for name in ("HDFSBacked", "RocksDB")
)
"""Where a stream's state is kept: what Spark takes unless it is told, and what streams with such state need."""
PARTITIONS = "spark.sql.shuffle.partitions"
SETTINGS = {
    "spark.app.name": "penstock",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    PARTITIONS: "4",  # 200, the default, cost 22 s for each batch of a stream
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # A limit of bytes, which is asked for with each row, costs a third of what it takes to cross to Python.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 11),
    # What moves is packed already; to compress it takes longer than to write and read the fifth that this would save.
    "spark.shuffle.compress": "false",
    "spark.python.daemon.module": "penstock.spark.daemon",
    # Over TCP each task and each look at a state waits up to 40 ms for an acknowledgement that is delayed.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    STORE: ROCKSDB,
    # Blobs and rows live no longer than it takes to hand them on: half of the memory for what is young spares a tenth.
    "spark.driver.extraJavaOptions": (
        "-XX:+UseParallelGC -XX:NewRatio=1 -XX:-UsePerfData --add-opens=java.base/java.nio=ALL-UNNAMED"
        " -Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
    ),
}
"""What differs from Spark's defaults."""


def session(
    master: str = MASTER, settings: Mapping[str, str] | None = None, *, is_silent: bool = False
) -> SparkSession:
    """The Spark session of this process: the one that is there, or a new one with sound settings.

    Args:
        master: Where it runs: this machine, unless the address of a cluster is given.
        settings: What is to be set otherwise or beside `SETTINGS`.
        is_silent: Whether nothing that Spark prints is to be seen.

    >>> session().version  # doctest: +SKIP
    '4.3.0'
    """
    there = SparkSession.getActiveSession()
    if there is not None:
        return there
    _set_environment()
    conf = SparkConf(loadDefaults=False).setMaster(master)
    for name, value in {**SETTINGS, **(settings or {})}.items():
        conf.set(name, value)
    try:
        if is_silent and SparkContext._gateway is None:
            launch_silently(conf)
        return SparkSession.builder.config(conf=conf).getOrCreate()
    except (PySparkRuntimeError, FileNotFoundError) as error:
        raise _no_java(error) from None


class PartitionsWarning(UserWarning):
    """A stream has many more partitions than buckets: each is a task of every micro-batch, and most do nothing."""


def prepare_for_streams(session: SparkSession, buckets: int) -> None:
    """Lets streams of a session that somebody else made have state, and says what will make them slow.

    A query takes its store from its checkpoint, so that none of those that there are is concerned.
    """
    if session.conf.get(STORE) == SPARKS_OWN:
        session.conf.set(STORE, ROCKSDB)
    partitions = int(session.conf.get(PARTITIONS) or 0)
    if partitions > 2 * buckets:
        warnings.warn(
            f"this session has {partitions} shuffle partitions, and the stream {buckets} buckets: each micro-batch "
            f"will start {partitions} tasks; `session.conf.set({PARTITIONS!r}, {buckets})` before the query starts",
            PartitionsWarning,
            stacklevel=4,
        )


def _set_environment() -> None:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_CONF_DIR", str(CONF))


def launch_silently(conf: SparkConf) -> None:
    """Start the Java side so that nothing which it prints is seen, not even before it can log."""
    gateway = launch_gateway(conf, {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL})  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)


def _no_java(error: Exception) -> PenstockError:
    if "JAVA_HOME" in os.environ or shutil.which("java"):
        return PenstockError(f"Spark does not start: {error}", hint="is JAVA_HOME that of Java 17 or 21?")
    return PenstockError("Spark needs Java, and there is none", hint="install Java 17, or set JAVA_HOME")
