"""Duckdb: as-of joins in SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from penstock.bench.matches import Matches, of_columns
from penstock.bench.queries import Query, Shape


class Duckdb:
    """As-of joins over the table ``e`` of a database in memory."""

    def load(self, table: pa.Table) -> Any:
        """A database with a table of its own; types are an enumeration."""
        database = _connect()
        database.register("given", table)
        names = ", ".join(f"'{name}'" for name in table["type"].unique().to_pylist())
        database.execute(f"CREATE TYPE kind AS ENUM ({names})")
        database.execute("CREATE TABLE e AS SELECT type::VARCHAR::kind AS type, id, time, k FROM given")
        database.unregister("given")
        return database

    def read(self, path: Path) -> Any:
        """A database with the file: a view of a Parquet file, but a CSV file is read once, not for each type."""
        database = _connect()
        kind = "VIEW" if path.suffix == ".parquet" else "TABLE"
        database.execute(f"CREATE {kind} e AS FROM '{path}'")
        return database

    def find(self, events: Any, query: Query) -> pa.Table:
        """A row for each match."""
        return events.sql(_sql(query)).to_arrow_table()

    def matches(self, found: pa.Table) -> Matches:
        """The same as arrays."""
        return of_columns(found)


def _connect() -> Any:
    return duckdb.connect(config={"threads": 1})


def _sql(query: Query) -> str:
    if query.shape == Shape.CHAIN:
        return _chain(query.types, query.window)
    if query.shape == Shape.REPETITION:
        return _repetition(query.types, query.window)
    return _absence(query.types, query.window)


def _of_type(type: str, place: int) -> str:
    return f"(SELECT k, id AS id_{place}, time AS time_{place} FROM e WHERE type = '{type}') p{place}"


def _next(type: str, place: int) -> str:
    before = place - 1
    return (
        f"ASOF JOIN {_of_type(type, place)} ON p{before}.k = p{place}.k "
        f"AND p{before}.time_{before} < p{place}.time_{place}"
    )


def _chain(types: str, window: int) -> str:
    last = len(types) - 1
    columns = ", ".join(f"id_{place}, time_{place}" for place in range(len(types)))
    joins = " ".join(_next(type, place) for place, type in enumerate(types[1:], 1))
    return f"SELECT {columns} FROM {_of_type(types[0], 0)} {joins} WHERE time_{last} - time_0 <= {window}"


def _repetition(types: str, window: int) -> str:
    """The chain, joined with all of the middle between its first and its last."""
    return f"""
        WITH whole AS (
            SELECT p0.k, id_0, time_0, id_2, time_2
            FROM {_of_type(types[0], 0)} {_next(types[1], 1)} {_next(types[2], 2)} WHERE time_2 - time_0 <= {window}
        )
        SELECT id_0, time_0, list(m.id_1 ORDER BY m.time_1) AS id_1, list(m.time_1 ORDER BY m.time_1) AS time_1,
               id_2, time_2
        FROM whole JOIN (SELECT k, id AS id_1, time AS time_1 FROM e WHERE type = '{types[1]}') m
        ON whole.k = m.k AND m.time_1 > time_0 AND m.time_1 < time_2
        GROUP BY id_0, time_0, id_2, time_2"""


def _absence(types: str, window: int) -> str:
    return f"""
        SELECT id_0, time_0 FROM {_of_type(types[0], 0)} ASOF LEFT JOIN {_of_type(types[1], 1)}
        ON p0.k = p1.k AND time_0 < time_1
        WHERE (time_1 IS NULL OR time_1 - time_0 > {window}) AND time_0 + {window} <= (SELECT max(time) FROM e)"""


WAY: Any = Duckdb()
