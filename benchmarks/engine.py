"""The engine beside duckdb and a plain Python loop: ``python -m benchmarks.engine [EVENTS] [KEYS]``.

A stream of A, B and C events over many keys, most of it noise (*main*) or most of it relevant (*dense*). Each way
starts from the same columns in memory and ends with the matched events' rows; counts must be equal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import duckdb
import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from penstock import parse
from penstock.engine.definition import DefinitionEngine
from penstock.engine.engine import Engine, batches
from penstock.engine.prepare import prepare
from penstock.engine.symbols import Keys, Piece
from penstock.events.table import EventTable, make_table

SHARES = {"main": (0.05, 0.05, 0.05, 0.85), "dense": (0.3, 0.3, 0.3, 0.1)}
WINDOW = 300_000_000
PATTERNS = {
    "Q1": "[A(k = $k)] ; [B(k = $k)] within 5 min",
    "Q2": "[A(k = $k)] ; [B(k = $k)] ; [C(k = $k)] within 10 min",
    "Q4": "([A(k = $k)], [T in {T, B(k = $k)}]){T = 5 min}",
}
QUERIES = {
    "Q1": f"""SELECT count(*) FROM (SELECT a.row, b.row FROM (FROM e WHERE type = 0) a
              ASOF JOIN (FROM e WHERE type = 1) b ON a.k = b.k AND a.t < b.t WHERE b.t - a.t <= {WINDOW})""",
    "Q2": f"""SELECT count(*) FROM (SELECT a.row, b.row, c.row FROM (FROM e WHERE type = 0) a
              ASOF JOIN (FROM e WHERE type = 1) b ON a.k = b.k AND a.t < b.t
              ASOF JOIN (FROM e WHERE type = 2) c ON b.k = c.k AND b.t < c.t WHERE c.t - a.t <= {2 * WINDOW})""",
    "Q4": f"""SELECT count(*) FROM (SELECT a.row, b.row FROM (FROM e WHERE type = 0) a
              ASOF LEFT JOIN (FROM e WHERE type = 1) b ON a.k = b.k AND a.t <= b.t
              WHERE (b.t IS NULL OR b.t - a.t > {WINDOW}) AND a.t + {WINDOW} <= (SELECT max(t) FROM e))""",
}


def stream(kind: str, events: int, keys: int) -> tuple[EventTable, pa.Table]:
    """The same events as the engine and as duckdb take them."""
    random = np.random.default_rng(7)
    types = random.choice(4, events, p=SHARES[kind]).astype(np.int32)
    times = np.sort(random.choice(events * 10_000, events, replace=False))
    owners = random.integers(0, keys, events)
    names = pa.DictionaryArray.from_arrays(pa.array(types), pa.array(["A", "B", "C", "N"]))
    source = pa.DictionaryArray.from_arrays(pa.array(np.zeros(events, np.int32)), pa.array(["s"]))
    ids = pa.array(np.arange(events)).cast(pa.string())
    fields = {"type": names, "source": source, "id": ids, "lo": pa.array(times), "hi": pa.array(times)}
    plain = pa.table({"type": types, "k": owners, "t": times, "row": np.arange(events)})
    return make_table(fields, {"k": pa.array(owners)}), plain


def by_engine(table: EventTable, pattern: str) -> int:
    """The engine's way, up to the rows of the matched events."""
    whole = Engine(parse(pattern))
    engine: DefinitionEngine = whole.engines[0]
    found = 0
    for batch, until in batches(table, int(np.asarray(table.field("hi"))[-1]) + 1):
        times = np.asarray(batch.field("hi"))
        keys = Keys(times, np.zeros(len(batch), np.int64), np.arange(len(batch)))
        completed, _ = engine.advance([Piece(batch, keys)], whole.pool, until, 0)
        found += len(completed.made)
    return found


def by_duckdb(plain: pa.Table, query: str) -> int:
    """A hand-written as-of join, on one thread like the engine."""
    with duckdb.connect() as database:
        database.execute("SET threads = 1")
        database.register("e", plain)
        return int(database.execute(query).fetchone()[0])


def by_loop(plain: pa.Table) -> int:
    """What one would write in plain Python for Q1."""
    waiting: dict[int, list[int]] = {}
    found = 0
    for kind, key, at in zip(*(plain[name].to_pylist() for name in ("type", "k", "t")), strict=True):
        if kind == 0:
            waiting.setdefault(key, []).append(at)
        elif kind == 1 and key in waiting:
            found += sum(at - start <= WINDOW for start in waiting.pop(key))
    return found


def timed(work: Callable[[], int]) -> tuple[int, float]:
    """The result, and the best of three times in seconds."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return result, best


def main(events: int = 2_000_000, keys: int = 10_000) -> None:
    """Measures all, and prints a table of millions of events a second."""
    prepare()
    shown = Table("stream", "query", "composites", "engine M/s", "duckdb M/s", "loop M/s", "engine : duckdb")
    for kind in SHARES:
        table, plain = stream(kind, events, keys)
        for name, pattern in PATTERNS.items():
            count, engine = timed(lambda pattern=pattern, table=table: by_engine(table, pattern))
            other, asof = timed(lambda name=name, plain=plain: by_duckdb(plain, QUERIES[name]))
            if count != other:
                raise SystemExit(f"{kind} {name}: the engine finds {count}, duckdb {other}")
            loop = timed(lambda plain=plain: by_loop(plain))[1] if name == "Q1" else None
            rates = [f"{events / seconds / 1e6:.1f}" if seconds else "" for seconds in (engine, asof, loop)]
            shown.add_row(kind, name, f"{count:,}", *rates, f"{asof / engine:.2f}")
    Console().print(shown)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
