"""Reading beside polars and duckdb: ``python -m benchmarks.reading [EVENTS] [KEYS]``.

The same files are read by all: 85 % of their events are noise, and what is wanted are the ids, times and keys of the
rest. Time is what the processor spent on it, on all its cores, and then what went by; the best of three.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from penstock.checks.check import parse
from penstock.detection.plan import plan_of
from penstock.engine.pagereading import PageReading
from penstock.events.arrow import from_arrow
from penstock.events.batches import read_batches
from penstock.events.files import read_events
from penstock.events.identity import with_ids
from penstock.events.order import ordered
from penstock.events.records import from_dicts

WANTED = frozenset("AB")
DICTS = 100_000
LINES = 300_000


def events(count: int, keys: int) -> pa.Table:
    """A stream of A, B and C among noise, sorted by time, with a counter for ids."""
    random = np.random.default_rng(7)
    types = pa.array(random.choice(4, count, p=(0.05, 0.05, 0.05, 0.85)).astype(np.int32))
    return pa.table(
        {
            "type": pa.DictionaryArray.from_arrays(types, pa.array(["A", "B", "C", "N"])).cast(pa.string()),
            "source": pa.repeat("s", count),
            "id": pa.array(np.arange(count)).cast(pa.string()),
            "time": np.sort(random.choice(count * 10_000, count, replace=False)),
            "k": random.integers(0, keys, count),
        }
    )


def write(table: pa.Table, folder: Path) -> list[dict[str, Any]]:
    """The table as files of all formats, and its first events as dicts."""
    pq.write_table(table, folder / "events.parquet")
    pa_csv.write_csv(table, folder / "events.csv")
    first = table.slice(0, LINES)
    inner = pa.StructArray.from_arrays([first["k"].combine_chunks()], ["k"])
    records = first.drop_columns(["k"]).append_column("data", inner)
    polars.from_arrow(records).write_ndjson(folder / "events.jsonl")
    dicts: list[dict[str, Any]] = records.slice(0, DICTS).to_pylist()
    return dicts


def in_batches(path: Path) -> int:
    """The wanted events of a file in order, a piece at a time."""
    plan = plan_of(parse("[A(k = $k)] ; [B(k = $k)]"), carry="none")
    batches = read_batches([path], relevant=plan.relevant, wanted_attributes=plan.attributes, reader=PageReading())
    found = sum(len(table) for table in batches)
    if not batches.holds:
        raise SystemExit(f"{path} cannot be read in batches")
    return found


def by_polars(data: polars.LazyFrame) -> int:
    """The wanted events as polars reads them."""
    return len(data.filter(polars.col("type").is_in(sorted(WANTED))).collect())


def by_duckdb(path: Path) -> int:
    """The wanted events as duckdb reads them."""
    with duckdb.connect() as database:
        return int(database.sql(f"FROM '{path}' WHERE type IN ('A', 'B')").to_arrow_table().num_rows)


def in_thousands(dicts: list[dict[str, Any]], read: Callable[[list[dict[str, Any]]], object]) -> None:
    """Dicts as a program gives them, a thousand at a time."""
    for start in range(0, len(dicts), 1000):
        read(dicts[start : start + 1000])


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """The best of three times of the processor and of the clock, in seconds."""
    used, passed = [], []
    for _ in range(3):
        start, clock = time.process_time(), time.perf_counter()
        work()
        used.append(time.process_time() - start)
        passed.append(time.perf_counter() - clock)
    return min(used), min(passed)


def ways(table: pa.Table, dicts: list[dict[str, Any]], folder: Path) -> Iterable[tuple[str, int, Callable[[], object]]]:
    """What is measured: its name, how many events it reads, and how."""
    count = table.num_rows
    parquet, csv, lines = (folder / f"events.{ending}" for ending in ("parquet", "csv", "jsonl"))
    coded = table.set_column(0, "type", table["type"].dictionary_encode())
    coded = coded.set_column(1, "source", coded["source"].dictionary_encode()).combine_chunks()
    read = from_arrow(coded)
    shuffled = read.take(np.random.default_rng(1).permutation(count))
    unnamed = from_arrow(coded.drop_columns(["id"]))
    yield "from_arrow, types and sources coded", count, lambda: from_arrow(coded)
    yield "from_arrow, text", count, lambda: from_arrow(table)
    yield "ordered, in order", count, lambda: ordered(read)
    yield "ordered, shuffled", count, lambda: ordered(shuffled)
    yield "with_ids", count, lambda: with_ids(unnamed)
    yield "from_dicts, 1,000 at a time", len(dicts), lambda: in_thousands(dicts, from_dicts)
    yield "  and with_ids, ordered", len(dicts), lambda: in_thousands(dicts, lambda d: ordered(with_ids(from_dicts(d))))
    yield "JSON lines", min(count, LINES), lambda: read_events([lines])
    yield "  polars", min(count, LINES), lambda: polars.read_ndjson(lines)
    yield "CSV, whole", count, lambda: read_events([csv])
    yield "CSV, wanted events in batches", count, lambda: in_batches(csv)
    yield "  polars", count, lambda: by_polars(polars.scan_csv(csv))
    yield "  duckdb", count, lambda: by_duckdb(csv)
    yield "Parquet, whole", count, lambda: read_events([parquet])
    yield "Parquet, wanted events in batches", count, lambda: in_batches(parquet)
    yield "  polars", count, lambda: by_polars(polars.scan_parquet(parquet))
    yield "  duckdb", count, lambda: by_duckdb(parquet)


def main(count: int = 2_000_000, keys: int = 10_000) -> None:
    """Measures all, and prints a table."""
    shown = Table("reading", "processor ms", "clock ms", "M events/s of processor")
    with TemporaryDirectory() as name:
        table = events(count, keys)
        dicts = write(table, Path(name))
        for label, rows, work in ways(table, dicts, Path(name)):
            used, passed = timed(work)
            shown.add_row(label, f"{used * 1e3:,.0f}", f"{passed * 1e3:,.0f}", f"{rows / used / 1e6:.2f}")
    Console(width=110).print(shown)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
