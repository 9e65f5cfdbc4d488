"""The files that are written, byte by byte."""

import io
import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

import penstock as ps
from penstock.detection.composites import Composites
from penstock.detection.output import WRITERS
from penstock.detection.terminal import rich_table
from penstock.events.files import read_events
from penstock.events.times import zone_of

EVENTS = [
    {"type": "A", "source": "s", "id": "1", "seq": 7, "time": "2026-03-02T09:00:00Z", "data": {"r": "Büro", "v": 2.0}},
    {"type": "B", "source": "s", "id": "2", "lo": "2026-03-02T09:01:00Z", "hi": "2026-03-02T09:01:00.5Z"},
]
PATTERN = "M := a: [A(r = $r)] select v = a.v, none = a.x\n[M] ; [B]"


def written(found: Composites, ending: str) -> bytes:
    file = io.BytesIO()
    WRITERS[ending](found, file)
    return file.getvalue()


def test_json_lines() -> None:
    assert written(ps.detect(EVENTS, PATTERN), ".jsonl").decode() == (
        '{"specversion": "1.0", "type": "M", "source": "penstock/M", "id": "be863384b860b25c1020496b", '
        '"time": "2026-03-02T09:00:00Z", "timelo": "2026-03-02T09:00:00Z", "timehi": "2026-03-02T09:00:00Z", '
        '"data": {"r": "Büro", "v": 2, "parts": [{"type": "A", "source": "s", "id": "1", '
        '"time": "2026-03-02T09:00:00Z", "sequence": "7", "data": {"r": "Büro", "v": 2}}]}}\n'
        '{"specversion": "1.0", "type": "composite", "source": "penstock/composite", '
        '"id": "cb66fc2372ae9881736934db", "time": "2026-03-02T09:01:00.500Z", "timelo": "2026-03-02T09:00:00Z", '
        '"timehi": "2026-03-02T09:01:00.500Z", "data": {"parts": [{"type": "M", "source": "penstock/M", '
        '"id": "be863384b860b25c1020496b", "time": "2026-03-02T09:00:00Z", "data": {"r": "Büro", "v": 2, '
        '"parts": [{"type": "A", "source": "s", "id": "1", "time": "2026-03-02T09:00:00Z", "sequence": "7", '
        '"data": {"r": "Büro", "v": 2}}]}}, {"type": "B", "source": "s", "id": "2", '
        '"time": "2026-03-02T09:01:00.500Z", "timelo": "2026-03-02T09:01:00Z", '
        '"timehi": "2026-03-02T09:01:00.500Z"}]}}\n'
    )


def test_csv() -> None:
    events = [
        {"type": "A", "source": "s", "id": "1", "time": 0, "data": {"r": 'x, "y"', "b": True, "e": "", "f": 2.0}},
        {"type": "B", "source": "s", "id": "2", "time": 1},
    ]
    found = ps.detect(events, "X := a: [A(r = $r)] select b = a.b, e = a.e, f = a.f\nY := [B]", carry="none")
    assert written(found, ".csv").decode() == (
        "type,lo,hi,r,b,e,f,id,parts\n"
        'X,1970-01-01T00:00:00Z,1970-01-01T00:00:00Z,"x, ""y""",true,"",2,abbae997082a25fc0822d6c8,'
        '"[{""type"": ""A"", ""source"": ""s"", ""id"": ""1"", ""time"": ""1970-01-01T00:00:00Z""}]"\n'
        "Y,1970-01-01T00:00:00.000001Z,1970-01-01T00:00:00.000001Z,,,,,2d0212be91bf723cf461f9bb,"
        '"[{""type"": ""B"", ""source"": ""s"", ""id"": ""2"", ""time"": ""1970-01-01T00:00:00.000001Z""}]"\n'
    )


def test_parquet_holds_the_table() -> None:
    found = ps.detect(EVENTS, PATTERN)
    assert pq.read_table(io.BytesIO(written(found, ".parquet"))).equals(found.table)


def test_every_file_can_be_read_again(tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = ps.detect(EVENTS, PATTERN)
    for ending in WRITERS:
        path = tmp_path / f"found{ending}"
        path.write_bytes(written(found, ending))
        events = read_events([path]).table.to_events()
        assert [(e.type, e.id, e.lo, e.hi) for e in events] == [(e.type, e.id, e.lo, e.hi) for e in found]
        assert [dict(e.attributes) for e in events] == [dict(e.attributes) for e in found]


def test_nothing_is_nothing() -> None:
    found = ps.detect([], PATTERN)
    assert written(found, ".jsonl") == b""
    assert written(found, ".csv") == b"type,lo,hi,r,v,none,id,parts\n"


def test_numbers_that_json_does_not_have() -> None:
    table = pa.table({"type": ["A"], "id": ["1"], "time": [5], "v": [float("inf")], "on": [datetime(2026, 1, 1)]})
    found = ps.detect(table, "a: [A(v = $v)] select on = a.on", zone="UTC")
    data = json.loads(written(found, ".jsonl"))["data"]
    assert (data["v"], data["on"]) == ("Infinity", "2026-01-01T00:00:00Z")
    assert data["parts"][0]["data"] == {"on": "2026-01-01T00:00:00Z", "v": "Infinity"}
    assert next(iter(found)).attributes == {"v": float("inf"), "on": datetime(2026, 1, 1, tzinfo=UTC)}


def shown(found: Composites, zone: str = "UTC") -> list[str]:
    console = Console(width=100, file=io.StringIO())
    with console.capture() as capture:
        console.print(rich_table(found, zone_of(zone)))
    return [" ".join(line.split()) for line in capture.get().splitlines() if line.strip()]


def test_the_table_for_terminals() -> None:
    assert shown(ps.detect(EVENTS, PATTERN)) == [
        "2026-03-02 (UTC) type parameters parts",
        "─" * len(shown(ps.detect(EVENTS, PATTERN))[1]),
        "09:00:00 M r=Büro v=2 A@09:00:00",
        "09:00:00 – 09:01:00.500 composite M@09:00:00 B@09:01:00.500",
        "2 composites",
    ]
    assert shown(ps.detect(EVENTS, PATTERN), "Asia/Tokyo")[0] == "2026-03-02 (Asia/Tokyo) type parameters parts"


def test_the_table_names_the_days_where_there_are_several() -> None:
    later = EVENTS[0] | {"id": "9", "time": "2026-03-03T00:00:00Z"}
    lines = shown(ps.detect([EVENTS[0], later], "[A]"))
    assert lines[0] == "time (UTC) type parameters parts"
    assert lines[2:4] == ["2026-03-02 09:00:00 composite A@09:00:00", "2026-03-03 00:00:00 composite A@00:00:00"]
    assert "– 2026-03-03 00:00:00" in shown(ps.detect([EVENTS[0], later], "[A] ; [A]"))[2]


def test_the_table_shows_no_more_parts_than_can_be_read() -> None:
    events = [{"type": "A", "id": str(n), "time": n * 1_000_000} for n in range(12)]
    assert "… +4" in "\n".join(shown(ps.detect(events, "[A]{12}")))
