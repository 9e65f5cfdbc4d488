import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events.files import event_files, read_events
from penstock.events.mapping import Columns
from penstock.events.order import ordered

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def error_of(path, columns=None):
    with pytest.raises(DataError) as error:
        read_events([path], columns)
    return error.value


def attributes(path, columns=None):
    return [event.attributes for event in read_events([path], columns).table.to_events()]


def test_json_lines_are_cloudevents_and_blank_lines_are_skipped(write):
    path = write("a.jsonl", '\ufeff{"type": "A", "time": 1}\n\n  \r\n{"type": "B", "time": 2, "data": {"v": 1}}\r\n')
    table = read_events([path]).table
    assert table.field("type").to_pylist() == ["A", "B"]
    assert not table.fixed


def test_standard_input_is_json_lines():
    for stream in (io.StringIO('{"type": "A", "time": 1}\n'), io.BytesIO(b'{"type": "A", "time": 1}')):
        assert len(read_events([], stdin=stream).table) == 1
    with pytest.raises(DataError) as error:
        read_events([], stdin=io.StringIO("\n{"))
    assert str(error.value).startswith("standard input, line 2, column 2: not valid JSON")


def test_csv_has_a_header_and_types_that_fit_the_whole_column(write):
    text = "\ufefftype,time,i,f,b,t,s,none\r\nA,1,1,1,true,2026-03-01T10:00:00Z,x,\r\nA,2,-2,2.5,FALSE,,7,\r\n"
    loaded = read_events([write("a.csv", text)]).table
    assert loaded.fixed
    kinds = {name: str(loaded.attribute(name).type) for name in loaded.attributes.column_names}
    assert kinds == {
        "i": "int64", "f": "double", "b": "bool", "t": "timestamp[us, tz=UTC]", "s": "string", "none":
        "string",
    }  # fmt: skip
    assert loaded.record(1).attributes == {"i": -2, "f": 2.5, "b": False, "s": "7"}


def test_types_are_inferred_from_the_last_rows_too(write):
    rows = "".join(f"A,{n},{n}\n" for n in range(200_000))
    path = write("a.csv", f"type,time,v\n{rows}A,200000,x\n")
    assert read_events([path]).table.attribute("v").type == pa.string()


def test_cells_may_have_quotes_commas_and_lines(write):
    path = write("a.csv", 'type,time,s\nA,1,"x, ""y""\nz"\nA,2,""\n')
    assert attributes(path) == [{"s": 'x, "y"\nz'}, {"s": ""}]


def test_integers_of_more_than_64_bits_stay_text(write):
    assert attributes(write("a.csv", "type,time,v\nA,1,99999999999999999999\n")) == [{"v": "99999999999999999999"}]


def test_csv_without_a_header_has_the_names_given(write):
    columns = Columns(type="Rating", time_from="at", time_unit="s", names=("who", "at"))
    (event,) = read_events([write("a.csv", "7,1289241911.72836\n")], columns).table.to_events()
    assert (event.hi, event.attributes["who"]) == (1_289_241_911_728_360, 7)


def test_parquet_is_read_by_its_columns(tmp_path):
    pq.write_table(
        pa.table({"type": ["A"], "time": pa.array([5], pa.timestamp("us", "UTC")), "v": [1]}),
        tmp_path / "a.parquet",
    )
    (event,) = read_events([tmp_path / "a.parquet"]).table.to_events()
    assert (event.hi, event.attributes) == (5, {"v": 1})


def test_mapped_columns_stay_attributes_and_nanoseconds_are_rounded_outwards(write):
    path = write("a.csv", "kind,at\nA,1970-01-01T00:00:00.000000500Z\n")
    (event,) = read_events([path], Columns(type_from="kind", time_from="at")).table.to_events()
    assert (event.lo, event.hi, event.type, event.attributes["kind"]) == (0, 1, "A", "A")


def test_folders_are_read_with_all_that_is_in_them(write, tmp_path):
    write("b/x.jsonl", '{"type": "A", "time": 1}')
    write("a.csv", "type,time\nB,2\n")
    write("notes.txt", "no events")
    assert [path.name for path in event_files([tmp_path])] == ["a.csv", "x.jsonl"]
    assert sorted(read_events([tmp_path]).table.field("type").to_pylist()) == ["A", "B"]


def test_empty_files_give_no_events(write):
    paths = [write("a.csv", ""), write("b.jsonl", ""), write("c.csv", "type,time\n"), write("d.csv", "\n\n")]
    assert len(read_events(paths).table) == 0


def test_what_cannot_be_read_is_named(write, tmp_path):
    assert error_of(tmp_path / "none.csv").message == f"{tmp_path / 'none.csv'}: there is no such file or folder"
    error = error_of(write("a.txt", ""))
    assert "a.txt" in error.message
    assert ".jsonl, .csv or .parquet" in error.hint
    (tmp_path / "empty").mkdir()
    assert "there is no .jsonl, .csv or .parquet file in this folder" in error_of(tmp_path / "empty").message
    assert "a.parquet: this is no Parquet file" in error_of(write("a.parquet", "x")).message


def test_bad_json_is_shown_with_a_caret(write):
    error = error_of(write("events.jsonl", '{"type": "A", "time": 1}\n\n{"type": "A", }\n'))
    assert "events.jsonl, line 3, column 15: not valid JSON: expecting property name" in str(error)
    assert error.excerpt == '{"type": "A", }\n              ^'
    assert (error.line, error.column, error.hint) == (3, 15, "expected one CloudEvent a line")


def test_long_lines_are_cut_around_the_error(write):
    error = error_of(write("events.jsonl", '{"type": "' + "A" * 500 + '", "time": soon, "data": "' + "B" * 500 + '"}'))
    line, carets = error.excerpt.split("\n")
    assert len(line) <= 100
    assert line[carets.index("^")] == "s"
    assert error.column == 522


@pytest.mark.parametrize("text", ["[" * 100_000, '{"type": "A", "time": 1, "data": {"v": Infinity}}', "\ufffe"])
def test_other_bad_json_is_refused_too(write, text):
    assert "not valid JSON" in error_of(write("a.jsonl", text)).message


def test_nan_in_json_is_absent(write):
    assert attributes(write("a.jsonl", '{"type": "A", "time": 1, "data": {"v": NaN}}')) == [{}]


def test_a_field_of_a_json_line_has_a_caret_below_its_value(write):
    error = error_of(write("events.jsonl", '{"type": "A", "time": 1}\n{"type": "A", "time": "soon"}'))
    assert "events.jsonl, line 2, column 23: field 'time': 'soon' is not a time" in str(error)
    assert error.excerpt.endswith("^^^^^^")


@pytest.mark.parametrize(
    ("rows", "where", "message"),
    [
        ("A,1,\nA,soon,\n", "line 3, column 3", "field 'time': 'soon' is not a time"),
        ("A,2026-03-01T10:00:00,\n", "line 2, column 3", "field 'time': '2026-03-01T10:00:00' has no zone"),
        ('A,1,"x\ny"\n\nA,,\n', "line 5, column 3", "field 'time': is missing"),
        (",1,x\n", "line 2, column 1", "field 'type': is missing"),
        ("A,1,x\nA,1\n", "line 3, column 1", "expected 3 cells, found 2"),
        ("A,1,x,y\n", "line 2, column 1", "expected 3 cells, found 4"),
    ],
)
def test_a_bad_cell_of_a_csv_file_is_named_by_file_line_and_field(write, rows, where, message):
    error = error_of(write("readings.csv", "type,time,v\n" + rows))
    assert f"readings.csv, {where}: {message}" in str(error)
    assert error.hint


def test_a_time_without_a_zone_is_read_in_the_zone_given(write):
    path = write("a.csv", "type,time\nA,2026-03-01 10:00:00\n")
    assert "--zone" in error_of(path).hint
    assert read_events([path], Columns(zone="Europe/Berlin")).table.record(0).hi == 1_772_355_600_000_000


def test_an_interval_that_ends_before_it_begins_is_shown_with_both_values(write):
    error = error_of(write("a.csv", "type,lo,hi\nA,5,3\n"))
    assert "a.csv, line 2, column 3: field 'lo': '5' is after 'hi', which is '3'" in str(error)


def test_a_bad_row_of_a_parquet_file_is_named(tmp_path):
    pq.write_table(pa.table({"type": ["A", "A"], "time": [1, None]}), tmp_path / "a.parquet")
    assert "a.parquet, row 2: field 'time': is missing" in error_of(tmp_path / "a.parquet").message


def test_columns_that_are_missing_are_named_with_the_file(write, tmp_path):
    assert "a.csv: there is no column 'type'" in error_of(write("a.csv", "kind,time\nA,1\n")).message
    error = error_of(tmp_path / "a.csv", Columns(type_from="knd"))
    assert "did you mean 'kind'? the columns are kind, time" in error.hint
    pq.write_table(pa.table({"time": [1]}), tmp_path / "a.parquet")
    assert "a.parquet: there is no column 'type'" in error_of(tmp_path / "a.parquet").message
    assert "a.csv: there are two columns 'v'" in error_of(write("a.csv", "type,v,v\n")).message


def test_what_is_not_utf_8_is_named(write):
    assert "a.csv, line 2: not UTF-8" in error_of(write("a.csv", b"type,time\nA\xff,1\n")).message
    assert "a.jsonl, line 2, column 10: not UTF-8" in str(error_of(write("a.jsonl", b'\n{"type":"\xff"}')))


def test_a_mixture_names_both_records(write, tmp_path):
    write("a.jsonl", '{"type": "A", "time": 1}\n{"type": "A", "time": 1, "data": {"v": 1}}\n')
    write("b.csv", "type,time,v\nA,1,\nA,1,x\n")
    message = error_of(tmp_path).message
    assert "attribute 'v' is a whole number in" in message
    assert "a.jsonl, line 2 and text in" in message
    assert message.endswith("b.csv, line 3")


def test_integers_and_floats_of_different_files_are_floats(write, tmp_path):
    write("a.jsonl", '{"type": "A", "time": 1, "data": {"v": 1}}')
    write("b.csv", "type,time,v\nA,2,0.5\n")
    assert attributes(tmp_path) == [{"v": 1.0}, {"v": 0.5}]


def test_bad_records_are_skipped_and_counted(write, tmp_path):
    write("a.jsonl", '{"type": "A", "time": 1}\n{\n{"type": "A"}\n')
    write("b.csv", "type,time,v\nA,2,7\nA,soon,x\nA\n")
    pq.write_table(pa.table({"type": ["A", "A"], "time": [3, None]}), tmp_path / "c.parquet")
    loaded = read_events([tmp_path], skip_bad=True)
    assert loaded.table.field("hi").to_pylist() == [1, 2, 3]
    assert len(loaded.bad) == 5
    assert loaded.table.attribute("v").to_pylist() == [None, 7, None]


def test_progress_is_told_of_each_file(write, tmp_path):
    write("a.jsonl", "")
    write("b.jsonl", "")
    told = []
    read_events([tmp_path], progress=lambda name, done, of: told.append((Path(name).name, done, of)))
    assert told == [("a.jsonl", 1, 2), ("b.jsonl", 2, 2)]


def test_ids_are_made_over_all_files(write, tmp_path):
    write("a.jsonl", '{"type": "A", "time": 1, "data": {"v": 1}}')
    write("b.csv", "type,time,v,w\nA,1,1,\nA,1,1,\n")
    ids = read_events([tmp_path]).table.field("id").to_pylist()
    assert [id.removeprefix(ids[0]) for id in ids] == ["", "-2", "-3"]


@given(
    st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 3), st.integers(0, 2)), max_size=8),
    st.integers(0, 8),
)
def test_results_do_not_depend_on_files_or_their_order(tmp_path_factory, rows, cut):
    folder = tmp_path_factory.mktemp("files")
    records = [json.dumps({"type": kind, "time": at, "data": {"v": v}}) for kind, at, v in rows]
    (folder / "one.jsonl").write_text("\n".join(records))
    (folder / "first.jsonl").write_text("\n".join(records[:cut]))
    lines = "".join(f"{kind},{at},{v}\n" for kind, at, v in rows[cut:])
    (folder / "second.csv").write_text("type,time,v\n" + lines)
    together = ordered(read_events([folder / "one.jsonl"]).table)
    apart = ordered(read_events([folder / "second.csv", folder / "first.jsonl"]).table)
    assert together[0].to_events() == apart[0].to_events()


@pytest.mark.skipif(not DATA.exists(), reason="the data of the acceptance tests is not here")
def test_real_alarms_are_read_as_they_are():
    columns = Columns(type_from="alarm_id", time_from="start_timestamp", time_unit="s")
    table, repeated = ordered(read_events([DATA / "telecom-alarms" / "Alarm.csv"], columns).table)
    assert (len(table), repeated) == (34_838, 0)
    first = table.record(0)
    assert first.hi == 30_685_000_000
    assert set(first.attributes) == {"alarm_id", "device_id", "start_timestamp", "end_timestamp"}
    assert len(table.field("type").unique()) == 18


def test_a_csv_quote_that_is_not_closed_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text('type,time,v\nA,1,2\nA,2,"3\nA,3,4\n')
    with pytest.raises(DataError, match="line 3: a quote is not closed"):
        read_events([path])


def test_csv_numbers_may_have_a_plus_sign_and_nan_is_absent(write):
    assert attributes(write("a.csv", "type,time,v\nA,1,+1.5\nA,2,NaN\nA,3,2\n")) == [{"v": 1.5}, {}, {"v": 2.0}]
