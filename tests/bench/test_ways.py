"""All ways to a result find the same matches, whatever the stream."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.bench import ways
from penstock.bench.matches import Matches
from penstock.bench.queries import QUERIES, Query
from penstock.bench.streams import Stream
from penstock.bench.ways import OTHERS, missing, way

SMALL = [QUERIES["Q1"].over(4), QUERIES["Q2"].over(6), QUERIES["Q3"].over(8), QUERIES["Q4"].over(3)]
CHAIN_OF_NINE = QUERIES["Q6"].over(40)


def is_there(name: str) -> bool:
    package = OTHERS[name]
    return package is None or find_spec(package) is not None


@pytest.fixture(params=OTHERS)
def other(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if not is_there(name):
        pytest.skip(f"{name} is not installed")
    return name


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A few events of few keys, in order, at different times."""
    events = draw(st.lists(st.tuples(st.sampled_from("ABCN"), st.integers(0, 2), st.integers(1, 3)), min_size=1))
    types, keys, gaps = zip(*events, strict=True)
    return pa.table(
        {
            "type": pa.array(types).dictionary_encode(),
            "id": [str(number) for number in range(len(events))],
            "time": np.cumsum(gaps),
            "k": list(keys),
        }
    )


def found(name: str, table: pa.Table, query: Query) -> tuple[int, int]:
    one = way(name)
    matches = one.matches(one.find(one.load(table), query))
    return len(matches), matches.checksum()


@settings(max_examples=30, deadline=None)
@given(table=tables())
@pytest.mark.parametrize("query", [*SMALL, CHAIN_OF_NINE], ids=lambda query: query.name)
@pytest.mark.parametrize("name", [name for name in OTHERS if is_there(name)])
def test_every_way_finds_what_penstock_finds(name: str, query: Query, table: pa.Table) -> None:
    assert found(name, table, query) == found("penstock", table, query)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_says_what_memory_says(other: str, ending: str, tmp_path: Path) -> None:
    stream = Stream("dense", 400, 5)
    one = way(other)
    from_file = one.matches(one.find(one.read(stream.file(tmp_path, ending)), QUERIES["Q3"]))
    assert len(from_file) > 0
    assert (len(from_file), from_file.checksum()) == found("penstock", stream.table(), QUERIES["Q3"])


def test_matches_have_ids_and_stamps(other: str) -> None:
    table = pa.table({"type": ["A", "N", "B"], "id": ["7", "8", "9"], "time": [1, 2, 3], "k": [0, 0, 0]})
    table = table.set_column(0, "type", table["type"].combine_chunks().dictionary_encode())
    one = way(other)
    matches: Matches = one.matches(one.find(one.load(table), QUERIES["Q1"]))
    assert (matches.offsets.tolist(), matches.ids.tolist(), matches.stamps.tolist()) == ([0, 2], [7, 9], [1, 3])


def test_a_window_includes_its_end(other: str) -> None:
    table = pa.table({"type": ["A", "B", "A", "B", "N"], "id": list("01234"), "time": [0, 5, 10, 16, 17], "k": [0] * 5})
    table = table.set_column(0, "type", table["type"].combine_chunks().dictionary_encode())
    one = way(other)
    together, alone = (
        one.matches(one.find(one.load(table), QUERIES[name].over(5))).ids.tolist() for name in ("Q1", "Q4")
    )
    assert (together, alone) == ([0, 1], [2])


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> Any:
        return None if name == "polars" else object()

    monkeypatch.setattr(ways, "find_spec", find)
    assert missing(("polars", "pandas", "loop")) == ("polars",)
