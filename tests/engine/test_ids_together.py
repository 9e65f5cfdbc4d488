"""Composites that are hashed together have the ids that each has alone."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import penstock as ps

PATTERNS = {
    "no parameters": "[A] within 1 s",
    "a number": "[A(k = $k)] within 1 s",
    "a text and a number": "[A(k = $k AND name = $name)] within 1 s",
    "a label and a value": "x: [A(k = $k)] select said = x.name",
}


@pytest.mark.parametrize("count", [1, 31, 32, 33, 100])
@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_ids_do_not_depend_on_how_many_there_are(pattern: str, count: int) -> None:
    rows = range(count)
    times = pa.array([1_000 * row for row in rows], pa.timestamp("us", "UTC"))
    columns = {"type": ["A"] * count, "id": [f"event {row}" for row in rows], "time": times, "k": [*rows]}
    table = pa.table(columns | {"name": ["é" * (row % 7) for row in rows]})
    together = ps.detect(table, pattern).table["id"].to_pylist()
    alone = [ps.detect(table.slice(row, 1), pattern).table["id"].to_pylist() for row in rows]
    assert [[id] for id in together] == alone
    assert len({*together}) == count


@pytest.mark.parametrize("longest", [0, 1, 5, 60])
def test_ids_do_not_depend_on_how_many_parts_others_have(longest: int) -> None:
    types, keys = [], []
    for key in range(70):
        types += ["A", *["B"] * (1 + key * 7 % (longest + 1)), "C"]
        keys += [key] * (len(types) - len(keys))
    times = pa.array([1_000 * row for row in range(len(types))], pa.timestamp("us", "UTC"))
    table = pa.table({"type": types, "id": [f"event {row}" for row in range(len(types))], "time": times, "k": keys})
    pattern = "[A(k = $k)] ; [B(k = $k)]+ ; [C(k = $k)]"
    together = ps.detect(table, pattern).table
    alone = [ps.detect(table.filter(pc.field("k") == key), pattern).table for key in range(70)]
    assert together["id"].to_pylist() == [id for one in alone for id in one["id"].to_pylist()]
    assert len({*together["id"].to_pylist()}) == len(together) >= 70
