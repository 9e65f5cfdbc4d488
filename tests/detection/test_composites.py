"""The results type: its columns, its rows, and events built from them again."""

from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pytest

import penstock as ps
from penstock.detection.composites import Composites
from penstock.detection.parts import PARTS
from penstock.events.event import Event
from penstock.events.table import TIME

EVENTS = [
    {"type": "A", "source": "s", "id": "1", "seq": 7, "time": 1, "data": {"room": "R1", "v": 2}},
    {"type": "B", "source": "s", "id": "2", "lo": 2, "hi": 3, "data": {"room": "R1"}},
    {"type": "C", "source": "t", "id": "3", "time": 5},
]
NESTED = """
Pair := a: [A(room = $room)] ; [B(room = $room)] select v = a.v
Whole := x: (y: [Pair]) ; z: [C]
"""


def row_of(found: Composites, type: str) -> dict[str, object]:
    return next(row for row in found.to_pylist() if row["type"] == type)


def at(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC).replace(microsecond=microseconds)


def test_the_columns_and_their_types() -> None:
    table = ps.detect(EVENTS, NESTED).table
    assert table.schema == pa.schema(
        [
            ("type", pa.string()),
            ("lo", TIME),
            ("hi", TIME),
            ("room", pa.string()),
            ("v", pa.int64()),
            ("id", pa.string()),
            ("parts", PARTS),
        ]
    )


def test_a_row() -> None:
    row = row_of(ps.detect(EVENTS, NESTED), "Pair")
    parts = row.pop("parts")
    assert len(str(row.pop("id"))) == 24
    assert row == {"type": "Pair", "lo": at(1), "hi": at(3), "room": "R1", "v": 2}
    first = {"type": "A", "source": "s", "id": "1", "seq": 7, "lo": at(1), "hi": at(1), "label": "a"}
    second = {"type": "B", "source": "s", "id": "2", "seq": None, "lo": at(2), "hi": at(3), "label": None}
    assert parts == [
        first | {"data": '{"room": "R1", "v": 2}', "path": None},
        second | {"data": '{"room": "R1"}', "path": None},
    ]


def test_a_nested_composite_is_replaced_by_its_leaves_with_their_path() -> None:
    found = ps.detect(EVENTS, NESTED)
    pair = row_of(found, "Pair")
    parts = row_of(found, "Whole")["parts"]
    assert isinstance(parts, list)
    assert [(part["id"], part["label"]) for part in parts] == [("1", "x,y"), ("2", "x,y"), ("3", "z")]
    around = {"type": "Pair", "source": "penstock/Pair", "id": pair["id"], "lo": at(1), "hi": at(3)}
    path = [around | {"data": '{"room": "R1", "v": 2}', "part": 0}]
    assert [part["path"] for part in parts] == [path, path, None]


def test_iteration_gives_events_with_nested_parts() -> None:
    pair, whole = ps.detect(EVENTS, NESTED)
    assert whole == Event("Whole", "penstock/Whole", whole.id, 1, 5, parts=whole.parts)
    assert whole.parts[0] == pair
    assert pair.parts[0] == Event("A", "s", "1", 1, 1, 7, {"room": "R1", "v": 2})
    assert [part.id for part in whole.parts] == [pair.id, "3"]


def test_the_same_composite_on_both_sides_stays_two_parts() -> None:
    twice = "M := [A] || [A]\n[M] || [M]"
    whole = ps.detect(EVENTS[:1], twice).head(2)[1]
    assert [[leaf.id for leaf in part.parts] for part in whole.parts] == [["1", "1"], ["1", "1"]]


def test_a_composite_that_was_read_is_nested_as_one_that_was_made() -> None:
    read = {"type": "Pair", "source": "elsewhere", "id": "9", "lo": 1, "hi": 3, "data": {"v": 2, "parts": EVENTS[:2]}}
    whole = next(iter(ps.detect([read, EVENTS[2]], "[Pair] ; [C]")))
    pair, last = whole.parts
    assert (pair.source, pair.id, pair.attributes, last.id) == ("elsewhere", "9", {"v": 2}, "3")
    assert [part.id for part in pair.parts] == ["1", "2"]


@pytest.mark.parametrize(
    ("first", "second", "kind", "values"),
    [
        (1, 2.5, pa.float64(), [1.0, 2.5]),
        (1, 2, pa.int64(), [1, 2]),
        (True, False, pa.bool_(), [True, False]),
        ("x", "y", pa.string(), ["x", "y"]),
        (1, "x", pa.string(), ["1", '"x"']),
        (at(5), at(6), TIME, [at(5), at(6)]),
        (at(5), True, pa.string(), ['"1970-01-01T00:00:00.000005Z"', "true"]),
    ],
)
def test_a_column_has_the_type_of_what_is_in_it(
    first: object, second: object, kind: pa.DataType, values: list[object]
) -> None:
    events = [
        {"type": "A", "id": "1", "time": 1, "data": {"a": first}},
        {"type": "B", "id": "2", "time": 2, "data": {"b": second}},
    ]
    found = ps.detect(events, "X := [A(a = $v)]\nY := [B(b = $v)]")
    assert found.table.schema.field("v").type == kind
    assert found.table["v"].to_pylist() == values


def test_values_of_a_mixed_column_are_what_they_were() -> None:
    events = [
        {"type": "A", "id": "1", "time": 1, "data": {"a": 1}},
        {"type": "B", "id": "2", "time": 2, "data": {"b": "x"}},
    ]
    found = ps.detect(events, "X := [A(a = $v)]\nY := [B(b = $v)]")
    assert [dict(one.attributes) for one in found] == [{"v": 1}, {"v": "x"}]


def test_a_type_that_lacks_an_attribute_has_null() -> None:
    found = ps.detect(EVENTS, NESTED)
    assert row_of(found, "Whole")["room"] is None
    assert found.head(2)[1].attributes == {}


def test_a_parameter_called_id_has_a_column_of_its_own() -> None:
    found = ps.detect(EVENTS, "[A(room = $id)]")
    assert found.table.column_names == ["type", "lo", "hi", "id_", "id", "parts"]
    assert next(iter(found)).attributes == {"id": "R1"}


def test_parameters_come_before_selected_values() -> None:
    events = [{"type": "A", "id": "1", "time": 1, "data": {"r": 1, "p": 2}}]
    found = ps.detect(events, "X := a: [A(r = $r)] select s = a.p\nY := [A(p = $p)]")
    assert found.table.column_names == ["type", "lo", "hi", "r", "p", "s", "id", "parts"]


def test_a_parameter_that_is_selected_is_of_the_kind_that_it_has_itself() -> None:
    events = [{"type": "A", "id": "1", "time": 1, "data": {"x": 3.0}}]
    table = ps.detect(events, "X := a: [A(x = $x)] select u = $x, v = a.x").table
    assert [str(table.schema.field(name).type) for name in ("x", "u", "v")] == ["double"] * 3
    assert table.select(["x", "u", "v"]).to_pylist() == [{"x": 3.0, "u": 3.0, "v": 3.0}]


def test_nothing_found_is_an_empty_table() -> None:
    found = ps.detect([], NESTED)
    assert len(found) == 0
    assert list(found) == []
    assert found.table.column_names == ["type", "lo", "hi", "room", "v", "id", "parts"]
    assert repr(found) == "<0 composites>"


def test_what_takes_arrow_takes_composites() -> None:
    found = ps.detect(EVENTS, NESTED)
    assert pa.table(found).equals(found.table)
    connection = duckdb.connect()
    connection.register("found", found.table)
    rows = connection.sql("SELECT type, v, len(parts) FROM found ORDER BY hi").fetchall()
    assert rows == [("Pair", 2, 2), ("Whole", None, 3)]


def test_composites_can_be_detected_in_again() -> None:
    found = ps.detect(EVENTS, NESTED)
    assert [one.type for one in ps.detect(found, "[Pair(room = $r)] [Whole]")] == ["composite"]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_data_frames_need_their_package(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_there(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("penstock.detection.composites.import_module", not_there)
    with pytest.raises(ps.PenstockError, match=f"{package} is not installed") as caught:
        getattr(ps.detect(EVENTS, NESTED), f"to_{package}")()
    assert caught.value.hint == f"pip install {package}"


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_data_frames(package: str) -> None:
    pytest.importorskip(package)
    found = ps.detect(EVENTS, NESTED)
    assert list(getattr(found, f"to_{package}")().columns) == found.table.column_names


def test_the_text_for_people() -> None:
    assert repr(ps.detect(EVENTS, NESTED)).splitlines() == [
        "<2 composites: Pair 1, Whole 1>",
        "  1970-01-01 00:00:00.000001 – 00:00:00.000003  Pair  room=R1 v=2  A@00:00:00.000001 B@00:00:00.000003",
        "  1970-01-01 00:00:00.000001 – 00:00:00.000005  Whole  Pair@00:00:00.000003 C@00:00:00.000005",
    ]


def test_the_display_for_notebooks_is_short_and_safe() -> None:
    events = [{"type": "A", "id": str(n), "time": n, "data": {"x": "<b>"}} for n in range(30)]
    html = ps.detect(events, "[A(x = $x)]")._repr_html_()
    assert "x=&lt;b&gt;" in html
    assert html.count("<tr>") == 21
    assert "10 more" in html
