"""Streams whose driver or workers are killed at random moments, restarted, and compared with what should be found.

``python -m tests.spark.faults --drivers 100 --workers 300 --seed 7`` kills as often as one likes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TypeVar

from pyspark.sql.streaming import StreamingQuery

import penstock as ps
from penstock import spark as ps_spark
from penstock.spark.session import session
from tests.spark.streams import Record, Stream, beat, event, write_batch

T = TypeVar("T")
PATTERN = """Pair := [A(k = $k)] ; [B(k = $k)]
Long := [Pair(k = $k)] ; [C(k = $k)]
Silent := ([A(k = $k)], [T in {T, B(k = $k)}]){T = 40 us}"""
SOURCES = ("s", "t", "u")
KEYS = 12
PATIENCE = 500
"""So many seconds a child may take for anything."""


class Input:
    """Micro-batches, written one at a time; each source is in order."""

    def __init__(self, folder: Path, random: Random) -> None:
        self.folder = folder
        self.random = random
        self.batches: list[list[Record]] = []
        self.now = 1
        (folder / "input").mkdir(parents=True, exist_ok=True)

    def put(self) -> None:
        """One more micro-batch."""
        batch = []
        for _ in range(self.random.randint(1, 12)):
            self.now += self.random.randint(1, 3)
            source = self.random.choice(SOURCES)
            batch.append(
                event(self.random.choice("ABCN"), self.now, k=f"k{self.random.randrange(KEYS)}", source=source)
            )
        self._write(batch)

    def close(self) -> None:
        """The last one: all sources go on beyond all timers."""
        self._write([beat(self.now + 100, source) for source in SOURCES])
        (self.folder / "done").touch()

    def _write(self, batch: list[Record]) -> None:
        write_batch(self.folder / "input", len(self.batches), batch)
        self.batches.append(batch)

    def expected(self) -> Counter[str]:
        """The ids of what one process finds, without interruption."""
        detector = ps.Detector(PATTERN, sources=SOURCES)
        events = [one for batch in self.batches[:-1] for one in batch]
        records = [{**one, "data": {"k": one["k"]}} for one in events]
        found = detector.feed(records, heartbeats=dict.fromkeys(SOURCES, self.now + 100))
        return Counter(found.table["id"].to_pylist())


def child(folder: Path) -> None:
    """Runs the stream until all input is consumed, and starts it again when a worker was killed."""
    spark = session("local[2]", {"spark.sql.shuffle.partitions": "2"})
    stream = Stream(spark, folder, PATTERN, sources=SOURCES)
    while not _follow(stream):
        pass
    (folder / "found.json").write_text(json.dumps([row["id"] for row in stream.rows()]))
    spark.stop()


def _follow(stream: Stream) -> bool:
    """Whether the stream came to its end."""
    found = ps_spark.detect(stream.events(), stream.pattern, **stream.options)
    writer = found.writeStream.format("parquet").option("checkpointLocation", str(stream.folder / "checkpoint"))
    query = writer.trigger(processingTime="0 seconds").start(str(stream.folder / "output"))
    (stream.folder / "ready").touch()
    try:
        _wait_for_the_end(query, stream.folder)
    except Exception as error:
        with (stream.folder / "restarts").open("a") as file:
            file.write(f"{str(error)[:300]!r}\n")
        return False
    finally:
        query.stop()
    return True


def _wait_for_the_end(query: StreamingQuery, folder: Path) -> None:
    while not (folder / "done").exists():
        if query.awaitTermination(0.1):
            raise RuntimeError("the query ended")
    query.processAllAvailable()


class Child:
    """A process that runs the stream, with everything that it starts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "ready").unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.spark.faults", "--child", str(folder)]
        with (folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, start_new_session=True, stdout=log, stderr=log)

    def processes(self) -> Iterator[tuple[int, int, str]]:
        """The number, the parent and the command of each process of the child that is alive."""
        for path in Path("/proc").glob("[0-9]*"):
            try:
                state, parent, _, own = (path / "stat").read_text().rsplit(")", 1)[1].split()[:4]
                command = (path / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            if int(own) == self.process.pid and state != "Z":
                yield int(path.name), int(parent), command

    def workers(self) -> list[int]:
        """Spark's Python workers: what their daemon has forked."""
        there = list(self.processes())
        daemons = {number for number, _, command in there if "penstock.spark.daemon" in command}
        return [number for number, parent, _ in there if parent in daemons]

    def kill(self) -> None:
        """Kills all of it, at once."""
        for _ in range(50):
            alive = [number for number, _, _ in self.processes()]
            if not alive and self.process.poll() is not None:
                return
            for number in alive:
                _kill(number)
            self.process.poll()
            time.sleep(0.05)

    def until(self, ask: Callable[[], T], what: str) -> T:
        """Waits until something is so, or is there; returns it."""
        end = time.monotonic() + PATIENCE
        while not (answer := ask()):
            if self.process.poll() is not None and not ask():
                raise RuntimeError(f"the child ended before {what}:\n{self.log()}")
            if time.monotonic() > end:
                raise TimeoutError(f"{what} took too long:\n{self.log()}")
            time.sleep(0.05)
        return answer

    def log(self) -> str:
        """The end of what it said."""
        return (self.folder / "log").read_text()[-4000:]


def _kill(number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)


def run(folder: Path, drivers: int, workers: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Kills as often as is said; returns what was found and what should have been, by their ids."""
    random = Random(seed)  # noqa: S311
    given = Input(folder, random)
    for _ in range(4):
        given.put()
    for _ in range(drivers):
        _killed_driver(folder, given, random)
    last = Child(folder)
    try:
        last.until((folder / "ready").exists, "it was ready")
        for _ in range(workers):
            given.put()
            time.sleep(random.uniform(0, 1))
            _kill(random.choice(last.until(last.workers, "a worker was there")))
        given.close()
        last.until((folder / "found.json").exists, "all was found")
        last.until(lambda: last.process.poll() is not None, "it ended")
    finally:
        last.kill()
    return Counter(json.loads((folder / "found.json").read_text())), given.expected()


def _killed_driver(folder: Path, given: Input, random: Random) -> None:
    one = Child(folder)
    try:
        one.until((folder / "ready").exists, "it was ready")
        end = time.monotonic() + random.uniform(0, 8)
        while time.monotonic() < end:
            given.put()
            time.sleep(0.5)
    finally:
        one.kill()


def main() -> None:
    """As a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drivers", type=int, default=3)
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        child(given.child)
        return
    with tempfile.TemporaryDirectory() as folder:
        found, expected = run(Path(folder), given.drivers, given.workers, given.seed)
        restarts = Path(folder) / "restarts"
        count = len(restarts.read_text().splitlines()) if restarts.exists() else 0
    sys.stdout.write(
        f"{sum(found.values())} composites, {sum(expected.values())} expected, {count} restarts in place\n"
    )
    if found != expected:
        lost, doubled = expected - found, found - expected
        sys.exit(f"lost: {lost.total()}, doubled or wrong: {doubled.total()}")


if __name__ == "__main__":
    main()
