"""Generated streams: always the same, in order, at different times, with the shares they promise."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from penstock.bench.streams import SHARES, TYPES, Stream


def test_a_stream_is_always_the_same() -> None:
    assert Stream("main", 100, 7).table().equals(Stream("main", 100, 7).table())


@pytest.mark.parametrize("kind", SHARES)
def test_times_rise_and_types_have_their_shares(kind: str) -> None:
    table = Stream(kind, 20_000, 50).table()
    counts = Counter(table["type"].to_pylist())
    assert (np.diff(np.asarray(table["time"])) > 0).all()
    assert [counts[name] / 20_000 for name in TYPES] == pytest.approx(SHARES[kind], abs=0.01)
    assert set(table["k"].to_pylist()) == set(range(50))


def test_files_have_the_same_events(tmp_path: Path) -> None:
    stream = Stream("dense", 50, 3)
    rows = stream.table().to_pylist()
    assert pq.read_table(stream.file(tmp_path, "parquet")).to_pylist() == rows
    written = pyarrow.csv.read_csv(stream.file(tmp_path, "csv")).to_pylist()
    assert written == [{**row, "id": int(row["id"])} for row in rows]


def test_a_file_is_written_once(tmp_path: Path) -> None:
    stream = Stream("dense", 5, 3)
    first = stream.file(tmp_path, "csv").stat().st_mtime_ns
    assert stream.file(tmp_path, "csv").stat().st_mtime_ns == first


def test_arrays_are_bare_columns(tmp_path: Path) -> None:
    stream = Stream("dense", 50, 3)
    folder, table = stream.arrays(tmp_path), stream.table()
    assert [TYPES[code] for code in np.fromfile(folder / "type.bin", np.int8)] == table["type"].to_pylist()
    assert np.fromfile(folder / "k.bin", "<i8").tolist() == table["k"].to_pylist()
    assert np.fromfile(folder / "time.bin", "<i8").tolist() == table["time"].to_pylist()
