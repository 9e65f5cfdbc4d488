"""Penstock itself, by its public interface: from events to a table of composites with their parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.bench.matches import Matches, whole_numbers
from penstock.bench.queries import Query
from penstock.checks.check import parse
from penstock.detection.composites import Composites
from penstock.detection.files import detect_files
from penstock.detection.local import detect
from penstock.detection.plan import plan_of
from penstock.engine.engine import Engine
from penstock.events.arrow import from_arrow
from penstock.events.identity import with_ids
from penstock.events.order import ordered
from penstock.events.table import EventTable


class Penstock:
    """All of ``penstock.detect``: fields, ids, order, detection, and the table of results."""

    def load(self, table: pa.Table) -> pa.Table:
        """The table, as it is."""
        return table

    def read(self, path: Path) -> Path:
        """The file, which is read while its events are detected, as the command does."""
        return path

    def find(self, events: Any, query: Query) -> Composites:
        """The composites; their parts have identity and stamps."""
        if isinstance(events, Path):
            return detect_files([events], plan_of(parse(query.pattern), carry="none")).composites
        return detect(events, query.pattern, carry="none")

    def matches(self, found: Composites) -> Matches:
        """The parts as arrays."""
        parts = found.table["parts"].combine_chunks()
        leaves = parts.flatten()
        offsets = np.concatenate([[0], np.cumsum(np.asarray(parts.value_lengths()))]).astype(np.int64)
        return Matches(offsets, whole_numbers(leaves.field("id")), whole_numbers(leaves.field("lo")))


def engine_input(table: pa.Table) -> EventTable:
    """What the engine is fed: the same events in order, with ids.

    >>> len(engine_input(pa.table({"type": ["A"], "time": [5]})))
    1
    """
    return ordered(with_ids(from_arrow(table)))[0]


def engine_alone(events: EventTable, query: Query) -> int:
    """Detection without what is before and after it; how many composites there are.

    >>> from penstock.bench.queries import QUERIES
    >>> engine_alone(engine_input(pa.table({"type": ["A", "B"], "time": [5, 6], "k": [1, 1]})), QUERIES["Q1"])
    1
    """
    last = int(events.numbers("hi")[-1])
    return len(Engine(parse(query.pattern)).feed(events, last + 1))


WAY: Any = Penstock()
