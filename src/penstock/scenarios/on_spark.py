"""Detection on an embedded Spark while a scenario runs: what comes in becomes files, which a stream reads.

Each arrival is a file of a folder, with heartbeats among the events. Every micro-batch tells the driver what it found,
and how its buckets stand.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.algebra.pattern import Pattern
from penstock.detection.composites import Composites
from penstock.errors import PenstockError
from penstock.events.table import EventTable, concat, make_table
from penstock.scenarios.live import Progress, joined
from penstock.spark.detecting import detect
from penstock.spark.session import session
from penstock.testing.simulator import Arrival, Heartbeat, Ints

HEARTBEAT = "penstock.heartbeat"
BUCKETS = 2
"""A scenario is small: more would only cost time."""
LONG_AGO = 0
_FIELDS = ("type", "source", "id", "seq", "lo", "hi")
_BESIDE = ("kind", "reason", "at")
_SQL = {pa.string(): "string", pa.int64(): "bigint", pa.float64(): "double", pa.bool_(): "boolean"}


class OnSpark:
    """Detection by a stream on Spark, under the ``guaranteed`` policy.

    Args:
        pattern: What is detected.
        sources: Those that are waited for from the beginning.
        like: Events whose attributes are those that will come.
        given: A Spark session that is there; else an embedded one is started, and stopped in the end.
    """

    def __init__(self, pattern: Pattern, sources: Sequence[str], like: EventTable, given: Any = None) -> None:
        self._folder = TemporaryDirectory(prefix="penstock-demo-", ignore_cleanup_errors=True)
        here = Path(self._folder.name)
        self._input = here / "input"
        self._input.mkdir()
        self._attributes = pa.schema([like.attributes.schema.field(name) for name in like.attributes.column_names])
        self._files = 0
        self._ends: list[Ints] = []
        self._told = _Told()
        self._own = session(is_silent=True) if given is None else None
        events = (self._own or given).readStream.schema(self._columns()).parquet(str(self._input))
        found = detect(events, pattern, policy="guaranteed", sources=sources, late=True, status=True, buckets=BUCKETS)
        writer = found.writeStream.foreachBatch(self._told.hear)
        self._query: Any = writer.option("checkpointLocation", str(here / "checkpoint")).start()
        self._warm_up(sources)

    def _warm_up(self, sources: Sequence[str]) -> None:
        """Lets a micro-batch pass that says nothing new, so that workers are there when the first event comes."""
        silent = tuple(Heartbeat(source, LONG_AGO) for source in sources)
        self.take(Arrival(LONG_AGO, concat([]), silent))
        self._query.processAllAvailable()

    def _columns(self) -> str:
        own = "type string, source string, id string, seq bigint, lo bigint, hi bigint"
        return ", ".join([own, *(f"`{one.name}` {_SQL[one.type]}" for one in self._attributes)])

    def take(self, arrival: Arrival) -> None:
        """What came in is a file, there at once as a whole."""
        self._check()
        self._ends.append(arrival.table.numbers("hi"))
        hidden = self._input / f".{self._files:06}.parquet"
        pq.write_table(rows_of(arrival, self._attributes), hidden)
        hidden.rename(self._input / f"{self._files:06}.parquet")
        self._files += 1

    def progress(self) -> Progress:
        """What the last micro-batch told; an event is consumed once all buckets are past it."""
        return self._told.progress(np.concatenate([np.zeros(0, np.int64), *self._ends]))

    def finish(self) -> Composites:
        """Waits until everything that came in was read."""
        self._query.processAllAvailable()
        self._check()
        return self._told.composites()

    def _check(self) -> None:
        error = self._query.exception()
        if error is not None:
            raise error if isinstance(error, PenstockError) else PenstockError(f"the stream on Spark failed: {error}")

    def stop(self) -> None:
        """Ends the stream, and Spark if it was started for it."""
        self._query.stop()
        if self._own is not None:
            self._own.stop()
        self._folder.cleanup()


class _Told:
    """What micro-batches have told the driver; they are told in a thread of Spark's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[int, pa.Table] = {}
        self._late = 0
        self._status: dict[tuple[str, int], tuple[int | None, dict[str, Any]]] = {}

    def hear(self, df: Any, batch: int) -> None:
        """The rows of one micro-batch: composites, late events, and how buckets stand."""
        table = df.toArrow()
        status = table.filter(pc.equal(table["type"], "penstock.status"))
        ends = status["hi"].cast(pa.int64()).to_pylist()
        with self._lock:
            if batch not in self._found:
                self._late += pc.sum(pc.equal(table["kind"], "late")).as_py() or 0
            self._found[batch] = table.filter(pc.equal(table["kind"], "composite")).drop_columns(list(_BESIDE))
            for key, end, reason in zip(status["id"].to_pylist(), ends, status["reason"].to_pylist(), strict=True):
                said = json.loads(reason)
                self._status[key, said["pattern"]] = (end, said)

    def progress(self, ends: Ints) -> Progress:
        """How far all buckets are, and what they have counted."""
        with self._lock:
            reached = [-1 if end is None else end for end, _ in self._status.values()]
            counted = [said for _, said in self._status.values()]
            composites = sum(len(table) for table in self._found.values())
        consumed = sum(one["consumed"] for one in counted)
        waited = sum(one["delay"] * one["consumed"] for one in counted)
        return Progress(
            consumed=int(np.count_nonzero(ends < min(reached, default=-1))),
            live=sum(one["live"] for one in counted),
            late=self._late,
            composites=composites,
            delay=waited / consumed if consumed else 0.0,
        )

    def composites(self) -> Composites:
        """All composites."""
        with self._lock:
            return Composites(joined(list(self._found.values())))


def rows_of(arrival: Arrival, attributes: pa.Schema) -> pa.Table:
    """Events and heartbeats as the rows of one table.

    >>> from penstock.events.table import concat
    >>> arrival = Arrival(5, concat([]), (Heartbeat("door-1", 4),))
    >>> rows_of(arrival, pa.schema([("room", pa.string())])).to_pylist()
    [{'type': 'penstock.heartbeat', 'source': 'door-1', 'id': None, 'seq': None, 'lo': 4, 'hi': 4, 'room': None}]
    """
    return pa.concat_tables([_rows(table, attributes) for table in (arrival.table, _beats(arrival.heartbeats))])


def _beats(heartbeats: Iterable[Heartbeat]) -> EventTable:
    named = list(heartbeats)
    instants = [beat.at for beat in named]
    fields = {"type": [HEARTBEAT] * len(named), "source": [beat.source for beat in named]}
    return make_table({**fields, "lo": instants, "hi": instants}, {})


def _rows(table: EventTable, attributes: pa.Schema) -> pa.Table:
    columns = {name: table.field(name) for name in _FIELDS}
    for name in ("type", "source"):
        columns[name] = columns[name].cast(pa.string())
    for one in attributes:
        is_there = one.name in table.attributes.column_names
        columns[one.name] = table.attribute(one.name) if is_there else pa.nulls(len(table), one.type)
    return pa.table(columns)
