"""What compiled code reads out of the pages of Parquet files is what Arrow reads."""

import random
from itertools import product
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import parse
from penstock.detection.files import detect_files
from penstock.detection.plan import plan_of
from penstock.engine.pagereading import PageReading
from penstock.errors import DataError
from penstock.events import parquetpages, parquetpieces
from penstock.events.mapping import Columns
from penstock.events.parquetpages import UnreadableError, pages_of
from penstock.events.parquetpieces import ParquetPieces

READER = PageReading()
WAYS = st.fixed_dictionaries(
    {
        "compression": st.sampled_from(["snappy", "zstd", "gzip", "none"]),
        "data_page_version": st.sampled_from(["1.0", "2.0"]),
        "use_dictionary": st.booleans(),
        "data_page_size": st.sampled_from([1, 64, 1 << 20]),
        "dictionary_pagesize_limit": st.sampled_from([16, 1 << 20]),
        "row_group_size": st.sampled_from([7, 1000]),
        "write_batch_size": st.sampled_from([3, 1024]),
    }
)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5)
TEXTS = st.text(st.sampled_from("ab1é "), min_size=1, max_size=20)


def written(folder, table, **options):
    path = folder.mktemp("pages") / "events.parquet"
    pq.write_table(table, path, **options)
    return path


def pieces_of_groups(path, name, kind):
    """The pages of each row group, and what Arrow reads there."""
    with pq.ParquetFile(path) as file:
        found = pages_of(file, path, name, kind)
        return found, [file.read_row_group(group)[name].combine_chunks() for group in range(file.num_row_groups)]


def texts_of(pages, first, count):
    def otherwise(rows):
        raise UnreadableError("Arrow is asked")

    return READER.texts(pages.between(first, first + count), first, count, otherwise)


@given(st.lists(TEXTS, min_size=1, max_size=60), WAYS, st.booleans(), st.integers(1, 30), st.randoms())
def test_texts_are_those_that_arrow_reads(tmp_path_factory, texts, options, may_be_null, size, chance):
    schema = pa.schema([pa.field("id", pa.string(), nullable=may_be_null)])
    path = written(tmp_path_factory, pa.table({"id": texts}, schema=schema), **options)
    found, expected = pieces_of_groups(path, "id", "BYTE_ARRAY")
    for pages, column in zip(found, expected, strict=True):
        for first in range(0, len(column), size):
            count = min(size, len(column) - first)
            late = texts_of(pages, first, count)
            rows = sorted(chance.choices(range(count), k=chance.randint(1, count)))
            assert late.take(pa.array(rows)).to_pylist() == column.slice(first, count).take(pa.array(rows)).to_pylist()
            assert late.whole() == column.slice(first, count)
            assert late.slice(count // 2).whole() == column.slice(first + count // 2, count - count // 2)
            assert len(late.slice(1, 3)) == min(3, count - 1)


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5), min_size=1, max_size=60), WAYS, st.integers(1, 30)
)
def test_numbers_are_those_that_arrow_reads(tmp_path_factory, numbers, options, size):
    path = written(tmp_path_factory, pa.table({"time": pa.array(numbers, pa.int64())}), **options)
    found, expected = pieces_of_groups(path, "time", "INT64")
    for pages, column in zip(found, expected, strict=True):
        for first in range(0, len(column), size):
            count = min(size, len(column) - first)
            read = READER.numbers(pages.between(first, first + count), first, count)
            assert read.tolist() == column.slice(first, count).to_pylist()


@given(st.lists(st.sampled_from(["A", "Bé", "a.longer.name"]), min_size=1, max_size=60), WAYS, st.integers(1, 30))
def test_names_are_those_that_arrow_reads(tmp_path_factory, names, options, size):
    path = written(tmp_path_factory, pa.table({"type": names}), **options)
    found, expected = pieces_of_groups(path, "type", "BYTE_ARRAY")
    for pages, column in zip(found, expected, strict=True):
        for first in range(0, len(column), size):
            count = min(size, len(column) - first)
            given = pages.between(first, first + count)
            if given.dictionary is None or not all(page.is_coded for page in given.pages):
                with pytest.raises(UnreadableError):
                    READER.names(given, first, count)
            else:
                assert READER.names(given, first, count).to_pylist() == column.slice(first, count).to_pylist()


def test_names_that_are_many_are_left_to_arrow(tmp_path_factory):
    for many, is_read in ((127, True), (128, False)):
        path = written(tmp_path_factory, pa.table({"type": [f"type {n}" for n in range(many)] * 2}))
        (pages,), (column,) = pieces_of_groups(path, "type", "BYTE_ARRAY")
        given = pages.between(0, 2 * many)
        if is_read:
            assert READER.names(given, 0, 2 * many).to_pylist() == column.to_pylist()
        else:
            with pytest.raises(UnreadableError):
                READER.names(given, 0, 2 * many)


def test_texts_may_be_taken_in_any_order_and_again(tmp_path_factory):
    path = written(tmp_path_factory, pa.table({"id": ["b", "a", "c"]}))
    (pages,), (column,) = pieces_of_groups(path, "id", "BYTE_ARRAY")
    late = READER.texts(pages.between(0, 3), 0, 3, lambda rows: column.take(pa.array(rows)))
    for rows in ([2, 0], [0, 0, 2], []):
        assert late.take(pa.array(rows, pa.int64())).to_pylist() == column.take(pa.array(rows, pa.int64())).to_pylist()


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (pa.array(["a", None]), {}),
        (pa.array([["a"], ["b"]]), {}),
        (pa.array([{"id": "a"}, {"id": "b"}]), {}),
        (pa.array([1, 2]), {}),
        (pa.array(["a", "b"]), {"write_statistics": False}),
        (pa.array(["a", "b"]), {"use_dictionary": False, "column_encoding": {"id": "DELTA_BYTE_ARRAY"}}),
        (pa.array(["a", "b"]), {"compression": "brotli"}),
    ],
)
def test_what_is_unusual_is_left_to_arrow(tmp_path_factory, column, options):
    path = written(tmp_path_factory, pa.table({"id": column}), **options)
    with pq.ParquetFile(path) as file:
        assert pages_of(file, path, "id", "BYTE_ARRAY") is None


def test_damaged_pages_are_never_read_beyond_their_end(tmp_path_factory):
    chance = random.Random(5)  # noqa: S311
    columns = {"id": [f"event {n % 40}" for n in range(400)], "time": [n % 50 for n in range(400)]}
    table = pa.table(columns | {"type": ["A", "B"] * 200})
    refused = 0
    for codes, codec in product((True, False), ("none", "snappy")):
        options = {"use_dictionary": codes, "compression": codec}
        path = written(tmp_path_factory, table, data_page_size=512, **options)
        whole = path.read_bytes()
        with pq.ParquetFile(path) as file:
            end = sum(file.metadata.row_group(0).column(number).total_compressed_size for number in range(3))
        for _ in range(300):
            damaged = bytearray(whole)
            for place in chance.choices(range(4, end), k=3):
                damaged[place] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
            path.write_bytes(damaged)
            refused += is_refused(path)
        path.write_bytes(whole)
    assert refused


KINDS = {"id": "BYTE_ARRAY", "time": "INT64", "type": "BYTE_ARRAY"}


def is_refused(path):
    """Reads what there is; it may be wrong, but nothing else than a refusal may come of it."""
    with pq.ParquetFile(path) as file:
        found = {name: pages_of(file, path, name, kind) for name, kind in KINDS.items()}
    try:
        assert len(texts_of(found["id"][0], 0, 400).whole()) == 400
        assert len(READER.numbers(found["time"][0].between(0, 400), 0, 400)) == 400
        assert len(READER.names(found["type"][0].between(0, 400), 0, 400)) == 400
    except UnreadableError:
        return True
    return False


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_nulls_that_a_file_does_not_tell_of_are_noticed(tmp_path_factory, version):
    texts = pa.table({"id": [None if n % 7 == 3 else str(n) for n in range(50)]})
    path = written(tmp_path_factory, texts, data_page_version=version)
    with pq.ParquetFile(path) as file, mock.patch.object(parquetpages, "_is_usual", return_value=True):
        (pages,) = pages_of(file, path, "id", "BYTE_ARRAY")
    with pytest.raises(UnreadableError):
        pages.between(0, 50)


def test_a_file_that_is_cut_off_is_refused(tmp_path_factory):
    path = written(tmp_path_factory, pa.table({"id": [str(n) for n in range(1000)]}))
    (pages,), _ = pieces_of_groups(path, "id", "BYTE_ARRAY")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UnreadableError):
        pages.between(0, 1000)


@given(st.integers(1, 400), WAYS, st.integers(1, 90), st.sampled_from(["all", "none"]), st.booleans())
def test_detection_does_not_depend_on_how_pages_are_read(tmp_path_factory, count, options, rows, carry, has_times):
    chance = np.random.default_rng(count)
    stamps = np.cumsum(chance.integers(0, 3, count))
    times = pa.array(stamps).cast(pa.timestamp("us", "UTC")) if has_times else pa.array(stamps)
    types, keys = chance.choice(["A", "B", "N"], count), chance.integers(0, 3, count)
    table = pa.table({"type": types, "id": [str(n) for n in range(count)], "time": times, "k": keys})
    path = written(tmp_path_factory, table, **options)
    plan = plan_of(parse("[A(k = $k)] ; [B(k = $k)]"), carry=carry)
    expected = detect_files([path], plan, rows=rows)
    with mock.patch.object(parquetpieces, "LARGE", 0):
        assert ParquetPieces(path, Columns(), None, rows, READER)._paged.keys() == {"type", "id", "time", "k"}
        found = detect_files([path], plan, rows=rows)
    assert found.composites.table.equals(expected.composites.table)


def test_all_columns_may_be_whole_numbers(tmp_path_factory):
    path = written(tmp_path_factory, pa.table({"kind": [7, 8, 7], "start": [1, 2, 3]}), row_group_size=2)
    columns, plan = Columns(type_from="kind", time_from="start"), plan_of(parse("['7'] ; ['7']"))
    expected = detect_files([path], plan, columns).composites.table
    with mock.patch.object(parquetpieces, "LARGE", 0):
        assert detect_files([path], plan, columns, rows=1).composites.table.equals(expected)
    assert len(expected) == 1


def test_an_id_that_may_be_empty_or_gives_a_time_is_left_to_arrow(tmp_path_factory):
    with mock.patch.object(parquetpieces, "LARGE", 0):
        path = written(tmp_path_factory, pa.table({"type": ["A", "A"], "id": ["", "7"], "time": [1, 2]}))
        assert "id" not in ParquetPieces(path, Columns(), None, 9, READER)._paged
        assert len(detect_files([path], plan_of(parse("[A]"))).composites) == 2
        path = written(tmp_path_factory, pa.table({"type": ["A"], "id": ["2026-03-02T09:00:00Z"]}))
        columns = Columns(time_from="id")
        assert "id" not in ParquetPieces(path, columns, None, 9, READER)._paged
        assert len(detect_files([path], plan_of(parse("[A]")), columns).composites) == 1


@pytest.mark.parametrize("columns", [Columns(), Columns(type_from="id"), Columns(type="A"), Columns(source_from="id")])
@pytest.mark.parametrize("ids", [[7, 8, 9], ["7", "8", "9"], [b"7", b"8", b"9"]])
def test_ids_may_be_of_any_kind_and_give_other_fields_too(tmp_path_factory, columns, ids):
    path = written(tmp_path_factory, pa.table({"type": ["A", "A", "A"], "id": ids, "time": [1, 2, 3]}))
    plan = plan_of(parse("[*] ; [*]"))

    def found():
        try:
            return detect_files([path], plan, columns).composites.table
        except DataError as error:
            return error.message

    expected = found()
    with mock.patch.object(parquetpieces, "LARGE", 0):
        assert found() == expected


def test_where_pages_turn_out_to_be_unreadable_arrow_reads_them(tmp_path_factory):
    table = pa.table({"type": ["A"] * 50, "id": [str(n) for n in range(50)], "time": range(50)})
    path = written(tmp_path_factory, table)
    plan = plan_of(parse("[A]"))
    expected = detect_files([path], plan).composites.table
    with (
        mock.patch.object(parquetpieces, "LARGE", 0),
        mock.patch.object(parquetpieces.ColumnPages, "_header", side_effect=UnreadableError("no")) as asked,
    ):
        assert detect_files([path], plan).composites.table.equals(expected)
    assert asked.called
