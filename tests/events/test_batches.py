from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events import csvpieces
from penstock.events.batches import read_batches
from penstock.events.files import read_events
from penstock.events.mapping import Columns
from penstock.events.order import ordered

rows = st.tuples(
    st.sampled_from("ABN"),
    st.sampled_from(["", "s", "t"]),
    st.integers(0, 9).map(str),
    st.integers(0, 20),
    st.none() | st.integers(0, 2),
    st.none() | st.sampled_from(["x", "y"]),
)
FORMATS = (".parquet", ".csv")


def table_of(many):
    names = ("type", "source", "id", "time", "v", "w")
    kinds = (pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.string())
    columns = list(zip(*many, strict=True)) or [[]] * len(names)
    return pa.table([pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)], names=names)


def write(data, path: Path) -> Path:
    pq.write_table(data, path) if path.suffix == ".parquet" else pa_csv.write_csv(data, path)
    return path


def of_types(types):
    """Takes the events of these types out of a table."""
    return lambda table: table.take(np.flatnonzero([name in types for name in table.field("type").to_pylist()]))


def whole(paths, types=None, attributes=None, columns=None):
    """What reading the files whole gives, and how many events are repeated."""
    table = read_events(paths, columns).table
    table, repeated = ordered(table if types is None else of_types(types)(table))
    events = table.to_events()
    kept = [
        {name: value for name, value in event.attributes.items() if attributes is None or name in attributes}
        for event in events
    ]
    return [(event.weak_key, event.type, data) for event, data in zip(events, kept, strict=True)], repeated


def streamed(batches):
    found = [event for table in batches for event in table.to_events()]
    return [(event.weak_key, event.type, event.attributes) for event in found]


@given(
    st.lists(rows, min_size=1, max_size=30),
    st.sampled_from(FORMATS),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, frozenset("AB"), frozenset("B"), frozenset("Z")]),
    st.sampled_from([None, frozenset("v"), frozenset("vw"), frozenset()]),
    st.integers(1, 9),
)
def test_batches_that_hold_are_what_whole_reading_gives(
    tmp_path_factory, many, ending, in_order, numbered, has_ids, types, attributes, size
):
    if in_order:
        many = sorted(many, key=lambda row: (row[3], row[1], row[2]))
    if numbered:
        many = [(*row[:2], str(number), *row[3:]) for number, row in enumerate(many, 95)]
    data = table_of(many) if has_ids else table_of(many).drop_columns(["id"])
    path = write(data, tmp_path_factory.mktemp("batches") / f"events{ending}")
    with mock.patch.object(csvpieces, "_ROW", 10):
        batches = read_batches([path], relevant=types and of_types(types), wanted_attributes=attributes, rows=size)
        found = streamed(batches)
    expected, repeated = whole([path], types, attributes)
    if batches.holds:
        assert found == expected
        assert repeated == 0
        assert batches.rows == len(many)
        assert batches.last == max(row[3] for row in many)
    assert batches.holds or not (in_order and numbered and has_ids and ending == ".parquet")


@pytest.mark.parametrize("ending", FORMATS)
def test_counters_and_other_ids_hold_if_they_are_different(tmp_path, ending):
    for ids in (range(50), reversed(range(50)), [n * 7 % 50 for n in range(50)]):
        path = write(table_of([("A", "s", str(id), at, 1, "x") for at, id in enumerate(ids)]), tmp_path / f"a{ending}")
        batches = read_batches([path], rows=7)
        assert len(streamed(batches)) == 50
        assert batches.holds


@pytest.mark.parametrize("ending", FORMATS)
def test_what_whole_reading_must_see_ends_the_batches(tmp_path, ending):
    good = [("A", "s", str(number), number, 1, "x") for number in range(20)]
    bad = {
        "out of order": [*good, ("A", "s", "20", 3, 1, "x")],
        "repeated": [*good, ("A", "s", "7", 30, 1, "x")],
        "no type": [*good, (None, "s", "20", 30, 1, "x")],
        "no time": [*good, ("A", "s", "20", None, 1, "x")],
        "no id": [*good, ("A", "s", None, 30, 1, "x")],
    }
    for name, many in bad.items():
        path = write(table_of(many), tmp_path / f"{name}{ending}")
        with mock.patch.object(csvpieces, "_ROW", 10):
            batches = read_batches([path], relevant=of_types("A"), rows=6)
            streamed(batches)
        assert not batches.holds, name


@pytest.mark.parametrize("ending", FORMATS)
def test_what_is_not_relevant_may_repeat_what_is(tmp_path, ending):
    many = [*(("A", "s", str(number), number, 1, "x") for number in range(20)), ("N", "s", "7", 30, 1, "x")]
    batches = read_batches([write(table_of(many), tmp_path / f"events{ending}")], relevant=of_types("A"), rows=6)
    assert len(streamed(batches)) == 20
    assert batches.holds


def test_files_follow_each_other_if_they_are_alike(tmp_path):
    first = write(table_of([("A", "s", "1", 1, 1, "x")]), tmp_path / "1.parquet")
    second = write(table_of([("A", "s", "2", 2, 1, "x")]), tmp_path / "2.csv")
    for paths in ([first, second], [tmp_path]):
        batches = read_batches(paths)
        assert streamed(batches) == whole(paths)[0]
        assert batches.holds
    batches = read_batches([second, first])
    streamed(batches)
    assert not batches.holds
    other = write(pa.table({"type": ["A"], "id": ["3"], "time": [3], "v": [1.5], "w": ["x"]}), tmp_path / "3.parquet")
    assert not read_batches([first, other]).holds


def test_only_columns_that_are_needed_are_read_but_all_are_named(tmp_path):
    path = write(table_of([("A", "s", "1", 1, 1, "x")]), tmp_path / "a.parquet")
    with mock.patch("pyarrow.parquet.ParquetFile.iter_batches", return_value=[]) as read:
        batches = read_batches([path], wanted_attributes=frozenset("v"))
        streamed(batches)
    assert read.call_args.kwargs["columns"] == ["type", "source", "id", "time", "v"]
    assert batches.blank.attributes.column_names == ["v", "w"]


@pytest.mark.parametrize(
    "column", [pa.array([2**64 - 1], pa.uint64()), pa.array([0], pa.timestamp("us")), pa.array([[1]])]
)
def test_a_column_that_is_not_needed_is_an_error_all_the_same(tmp_path, column):
    data = table_of([("A", "s", "1", 1, 1, "x")]).append_column("other", column)
    path = write(data, tmp_path / "a.parquet")
    batches = read_batches([path], wanted_attributes=frozenset())
    streamed(batches)
    assert not batches.holds
    with pytest.raises(DataError):
        read_events([path])


@pytest.mark.parametrize("ending", FORMATS)
def test_events_of_one_instant_may_stand_anyhow_and_others_near_their_place(tmp_path, ending):
    many = [("A", "s", str(id), at, 1, "x") for id, at in enumerate([2, 1, 2, 2, 2, 2, 2, 2, 3, 5, 5, 5], 95)]
    path = write(table_of(many), tmp_path / f"a{ending}")
    with mock.patch.object(csvpieces, "_ROW", 25):
        batches = read_batches([path], rows=3)
        tables = list(batches)
    assert batches.holds
    assert len(tables) > 1
    assert streamed(tables) == whole([path])[0]
    ends = [table.field("hi").to_pylist() for table in tables]
    assert all(one[-1] < two[0] for one, two in pairwise(ends))


def test_json_lines_and_what_cannot_be_read_are_left_to_whole_reading(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"type": "A", "time": 1}')
    (tmp_path / "b.parquet").write_text("x")
    (tmp_path / "c.csv").write_text("kind,time\nA,1\n")
    for name in ("a.jsonl", "b.parquet", "c.csv"):
        batches = read_batches([tmp_path / name])
        assert (streamed(batches), batches.holds) == ([], False)
    with pytest.raises(DataError):
        read_batches([tmp_path / "none.csv"])


def test_columns_are_mapped(tmp_path):
    path = tmp_path / "alarms.csv"
    path.write_text("alarm,start,device\n007,1,d1\n11,2,d2\n")
    columns = Columns(type_from="alarm", time_from="start", time_unit="s")
    batches = read_batches([path], columns)
    assert streamed(batches) == whole([path], columns=columns)[0]
    assert batches.holds
