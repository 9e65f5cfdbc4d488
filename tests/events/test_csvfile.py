import weakref
from unittest import mock

import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events import csvfile, csvpieces
from penstock.events.csvfile import read_csv
from penstock.events.csvpieces import CsvPieces, UnusualError
from penstock.events.mapping import Columns

numbers = ["0", "1", "-2", "007", "+5", "12345678901234567", "99999999999999999999", "0x1F", "1e3", ".5", "2.", "1_0"]
others = ["", " ", " 7 ", "nan", "inf", "-inf", "1e999", "true", "FALSE", "tRUE", "x", "0", "é", "\u00a0", "a\\b"]
quoted = ['""', '"1"', '" 1"', '"x,y"', '"x\ny"', '"""x"""', 'x"y', '"x"y', 'x"', '"']
times = ["5", "2026-03-01T10:00:00Z", "2026-03-01T10:00Z", "2026-03-01 10:00:00.5+01:00", "2026-02-30T10:00:00Z", "5.5"]
cell = st.sampled_from(numbers + others + quoted + times)
narrow = st.sampled_from([numbers, ["1", "2", ""], ["1", "2.5"], ["true", "False"], ["x", "", '"x,y"'], times])
cells = narrow.flatmap(lambda kinds: st.lists(st.sampled_from(kinds), min_size=6, max_size=6)) | st.lists(
    cell, min_size=6, max_size=6
)
moment = st.sampled_from([*times, "1", "2", "3"])
line_end = st.sampled_from(["\n", "\r\n", "\n\n", "\r"])
mappings = st.sampled_from(
    [
        Columns(),
        Columns(type_from="v"),
        Columns(time_from="w"),
        Columns(id_from="v", source_from="w"),
        Columns(seq_from="v"),
        Columns(type="T", time_unit="s", clock_error=1),
    ]
)


def outcome(read):
    """What is read, or what is complained of, and what is left out."""
    skipped = []
    try:
        table, origin = read(skipped.append)
    except DataError as error:
        return str(error)
    return table.attributes.schema, table.to_events(), [str(error) for error in skipped], origin.where(0)


def with_care(path, columns, on_bad):
    with mock.patch("penstock.events.csvfile._ordinary", return_value=None):
        return read_csv(path, columns, on_bad)


@given(cells, cells, st.lists(moment, min_size=6, max_size=6), line_end, mappings, st.booleans(), st.data())
def test_what_is_read_fast_is_what_is_read_with_care(tmp_path_factory, v, w, at, end, columns, skips, data):
    path = tmp_path_factory.mktemp("csv") / "events.csv"
    rows = [f"A,{when},{one},{two}" for when, one, two in zip(at, v, w, strict=True)]
    text = end.join(["type,time,v,w", *rows]) + data.draw(st.sampled_from(["", end]))
    path.write_bytes((data.draw(st.sampled_from(["", "\ufeff"])) + text).encode())
    sample = data.draw(st.integers(1, 60))
    with mock.patch.object(csvpieces, "_SAMPLE", sample):
        fast = outcome(lambda on_bad: read_csv(path, columns, on_bad if skips else None))
        assert fast == outcome(lambda on_bad: with_care(path, columns, on_bad if skips else None))


@given(st.integers(1, 80))
def test_pieces_are_whole_rows(tmp_path_factory, length):
    path = tmp_path_factory.mktemp("csv") / "events.csv"
    path.write_text('type,time,v\nA,1,"x\ny"\nB,2,"z, ""z"""\nC,3,é\nD,4,\n')
    with mock.patch.object(csvpieces, "_ROW", length):
        events = [event for piece in CsvPieces(path, Columns(), None, 1) for event in piece.to_events()]
    assert [(event.type, event.attributes.get("v")) for event in events] == [
        ("A", "x\ny"),
        ("B", 'z, "z"'),
        ("C", "é"),
        ("D", None),
    ]


@pytest.mark.parametrize(
    "rows",
    ["A,1,0x10", "A,1,1\nA,2,x", "A,1,1\nA,2,1.5", "A,1,1\nA,2", "A,1,1\nA,2,inf", 'A,1,5" wide', "A,1,1\rA,2,1"],
)
def test_what_the_first_rows_do_not_suggest_is_unusual(tmp_path, rows):
    path = tmp_path / "events.csv"
    path.write_bytes(f"type,time,v\n{rows}\n".encode())
    with mock.patch.object(csvpieces, "_SAMPLE", 4), pytest.raises((UnusualError, DataError, ValueError)):
        list(CsvPieces(path, Columns(), None, None))


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_header_alone_has_no_events(tmp_path, end):
    path = tmp_path / "events.csv"
    path.write_text(f"type,time,v{end}")
    table, _ = read_csv(path, Columns())
    assert (len(table), table.attributes.column_names) == (0, ["v"])


def test_no_thread_holds_what_arrow_asks_once_a_file_is_read(tmp_path, monkeypatch):
    """It would end the process with an abort, if that is when it lets go of it."""
    held, options = [], pa_csv.ParseOptions

    def watched(**given):
        held.append(weakref.ref(given["invalid_row_handler"]))
        return options(**given)

    path = tmp_path / "events.csv"
    path.write_text("type,time,v\nA,1,2\nA,3\n")
    monkeypatch.setattr(csvfile.pa_csv, "ParseOptions", watched)
    monkeypatch.setattr(csvfile, "_ordinary", lambda *_: None)
    for _ in range(500):
        bad = []
        read_csv(path, Columns(), bad.append)
        assert len(bad) == 1
        assert held.pop()() is None
