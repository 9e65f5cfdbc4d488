import json
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DataError
from penstock.events import jsoncolumns
from penstock.events.jsoncolumns import ordinary_table
from penstock.events.jsonlines import read_json_lines
from penstock.events.mapping import Columns

ordinary = {
    "specversion": ['"1.0"'],
    "type": ['"A"', '"B"', "7"],
    "source": ['"s"', '""', "null"],
    "id": ['"1"', '"é"', '"\\u00e9"', "null", '""'],
    "time": ["5", '"1970-01-01T00:00:01Z"', "5.5", '"2026-03-01T10:00:00.1234567+01:00"'],
    "lo": ["0", "1"],
    "hi": ["1", "2"],
    "seq": ["1", "null"],
    "sequence": ['"007"', '"-3"', "4"],
    "subject": ['"x"', "null"],
    "data": ["{}", "null", '{"v": 1}', '{"v": 2, "w": "x"}', '{"v": -0}', '{"u": 0.5}', '{"u": 3}', '{"b": true}'],
}
unusual = [
    *("true", "NaN", "Infinity", "-Infinity", "1e3", "1e400", "1.0", "9223372036854775808", "-9223372036854775808"),
    *('"\\ud800"', '"\\ud83d\\ude00"', '"2026-03-01"', '"2026-03-01T10:00:00"', '"0x10"', '"+1"', '"soon"', "[]", "01"),
    *('{"v": "x"}', '{"v": NaN}', '{"v": 1.5}', '{"v": 99999999999999999999}', '{"v": [1]}', '{"v": {}}', '{"v": 1e3}'),
    *('{"v": 1, "v": 2}', '{"parts": []}', '{"parts": 3}', '{"d": "2026-03-01"}', '{"\\ud800": 1}', '{"v": 1e18}'),
    *('{"v": 9007199254740993}', "{", "}", '"a\tb"', '"a', "", "nul", '"\\u0000"', '{"n": null}'),
]
breaks = ["\n", "\r\n", "\n\n", "\n \n", "\r", " ", "", ",", "\n,", " \n", "\n ", "\ufeff", "\n//\n", "\n{}\n", "\x00"]
record = st.sampled_from([["type", "time"], ["type", "lo", "hi"]]).flatmap(
    lambda keys: st.sets(st.sampled_from(["specversion", "source", "id", "seq", "sequence", "subject", "data"])).map(
        lambda more: [*keys, *sorted(more)]
    )
)
lines = record.flatmap(
    lambda keys: st.lists(
        st.fixed_dictionaries({key: st.sampled_from(ordinary[key]) for key in keys}), min_size=1, max_size=5
    )
)
keys = st.sampled_from([*ordinary, "other", "arrival"])
changes = st.lists(st.tuples(st.integers(0, 4), keys, st.none() | st.sampled_from(unusual)), max_size=2)
between = st.lists(st.sampled_from(["\n"] * 20 + breaks), min_size=6, max_size=6) | st.just(["\n"] * 6)
options = st.sampled_from([Columns(), Columns(clock_error=2), Columns(time_unit="s"), Columns(zone="Europe/Berlin")])


def outcome(content, columns, skip):
    skipped = []
    try:
        table, origin = read_json_lines(content, "events.jsonl", columns, skipped.append if skip else None)
    except DataError as error:
        return str(error)
    places = [(origin.where(row), str(origin.located(row, DataError("no")))) for row in range(len(table))]
    found = table.fields.to_pylist(), str(table.attributes.to_pylist()), table.attributes.schema
    return found, table.fixed, [*map(str, skipped)], places if not skipped else None


def agree(content, columns=None, skip=False, sample=1000):
    with mock.patch.object(jsoncolumns, "_SAMPLE", sample):
        fast = outcome(content, columns or Columns(), skip)
    with mock.patch("penstock.events.jsonlines.ordinary_table", return_value=None):
        assert fast == outcome(content, columns or Columns(), skip)


@given(lines, changes, between, options, st.booleans(), st.integers(1, 5))
def test_what_is_read_by_columns_is_what_is_read_line_by_line(records, several, ends, columns, skip, sample):
    for row, key, value in several:
        chosen = records[row % len(records)]
        if value is None:
            chosen.pop(key, None)
        else:
            chosen[key] = value
    texts = ["{" + ", ".join(f'"{key}": {value}' for key, value in one.items()) + "}" for one in records]
    content = "".join(text + end for text, end in zip(texts, ends, strict=False)).encode("utf-8", "surrogatepass")
    agree(content, columns, skip, sample)


@given(st.binary(max_size=40))
def test_any_bytes_are_taken_alike(content):
    agree(content)


@pytest.mark.parametrize(
    "rest",
    [
        b'{"type": "\xff", "time": 1}',
        b'{"type": "A", "time": 2} {"type": "A", "time": 3}',
        b'{"type": "A",\n"time": 2}',
        b'{"type": "A", "time": 2} {"type": "A", "time": 3}\n{"type": "A", "data": {"v": 1}\n, "time": 2}',
        b'{"type": "A", "time": 2, "data": {"v": 99999999999999999999}}',
        b'{"type": "A", "time": 2, "data": {"v": 0.5}}\n{"type": "A", "time": 2, "data": {"v": 9007199254740993}}',
        b'{"type": "A", "time": 2, "data": {"v": Infinity}}',
        b'{"type": "A", "time": 2, "data": {"v": NaN}}',
        b'{"type": "A", "time": 2, "subject": Infinity}',
        b'{"type": "A", "time": 2, "data": {"d": "2026-03-01"}}',
        b'{"type": "A", "time": 2, "source": "2026-03-01"}',
        b'{"type": "A", "time": "2026-03-01"}',
        b'{"type": "A", "time": 2, "other": 1}',
        b'{"type": "A", "time": 2, "sequence": "0x10"}',
    ],
)
def test_what_follows_ordinary_lines_is_taken_alike(rest):
    agree(b'{"type": "A", "time": 1, "data": {"v": 1}}\n' + rest, sample=1)
    agree(b'{"type": "A", "time": 1, "data": {"v": 1}}\n' + rest, sample=1, skip=True)


@pytest.mark.parametrize("form", ['"2026-03-01T10:00:00Z"', '"2026-03-01T10:00Z"', '"2026-03-01"', '"soon"'])
def test_times_that_are_text_are_read_as_text(form):
    agree(f'{{"type": "A", "time": {form}, "data": {{"d": {form}}}}}'.encode())


def test_ordinary_lines_are_read_by_columns():
    records = [
        {"specversion": "1.0", "type": "A", "source": "s", "id": str(n), "time": n, "data": {"k": n, "d": "2026-03-01"}}
        for n in range(5)
    ]
    table = ordinary_table("\n".join(map(json.dumps, records)).encode(), Columns())
    assert [event.attributes for event in table.to_events()] == [record["data"] for record in records]
