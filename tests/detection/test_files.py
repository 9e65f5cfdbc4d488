"""Files that are read in batches give the same as when they are read as a whole: bytes, notes and errors."""

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import penstock as ps
from penstock.detection import files
from penstock.detection.files import FoundInFiles, detect_files
from penstock.detection.output import WRITERS
from penstock.detection.plan import Plan, plan_of
from penstock.events.mapping import Columns

PATTERN = (
    "M := a: [A(room = $r)] ; [B(room = $r)] within 20 us select v = a.v\n([M] || [C]) | ([A], [T in {T, C}]){T = 3 us}"
)
rows = st.lists(
    st.tuples(st.sampled_from("ABCN"), st.sampled_from(["R1", "R2"]), st.integers(0, 3), st.integers(0, 2)),
    min_size=1,
    max_size=30,
)


def plan(pattern: str = PATTERN, **options: Any) -> Plan:
    return plan_of(ps.parse(pattern), **options)


def table_of(events: list[tuple[str, str, int, int]]) -> pa.Table:
    """Events in the order of time; between two of them there is time or not."""
    times, at = [], 0
    for *_, pause in events:
        at += pause
        times.append(at)
    types, rooms, values, _ = (list(column) for column in zip(*events, strict=True))
    ids = [str(number) for number in range(len(events))]
    return pa.table({"type": types, "source": rooms, "id": ids, "time": times, "room": rooms, "v": values})


def as_bytes(found: FoundInFiles) -> list[object]:
    told: list[object] = [found.composites.repeated, found.composites.dropped]
    for composites in (found.composites, found.composites.incomplete):
        for write in WRITERS.values() if composites is not None else ():
            file = io.BytesIO()
            write(composites, file)
            told.append(file.getvalue())
    return told


def both_ways(paths: list[Path], plan: Plan, **options: Any) -> tuple[FoundInFiles, FoundInFiles]:
    in_batches = files._in_batches(paths, plan, Columns(), options.get("until"), 3)
    assert in_batches is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "IN_BATCHES", ())
        return in_batches, detect_files(paths, plan, **options)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows,
    st.sampled_from([".csv", ".parquet"]),
    st.fixed_dictionaries(
        {
            "carry": st.sampled_from(["all", "none", "v"]),
            "context": st.sampled_from(["continuous", "chronicle", "recent", "cumulative"]),
            "incomplete": st.booleans(),
            "limits": st.sampled_from([ps.Limits(), ps.Limits(runs_per_instance=2), ps.Limits(age=4)]),
        }
    ),
    st.sampled_from([None, 100]),
)
def test_both_ways_give_the_same_bytes(
    tmp_path: Path, events: list[tuple[str, str, int, int]], ending: str, options: dict[str, Any], until: int | None
) -> None:
    table = table_of(events)
    half = len(table) // 2
    paths = [tmp_path / f"{number}{ending}" for number in (1, 2)]
    for path, piece in zip(paths, (table.slice(0, half), table.slice(half)), strict=True):
        pa_csv.write_csv(piece, path) if ending == ".csv" else pq.write_table(piece, path)
    if ending == ".csv" and not half:
        paths = paths[1:]
    one, two = both_ways(paths, plan(**options), until=until)
    assert as_bytes(one) == as_bytes(two)


def test_a_type_that_is_missing_is_looked_for_among_all(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    pa_csv.write_csv(table_of([("A", "R1", 1, 1), ("Opened", "R1", 1, 1)]), path)
    one, two = both_ways([path], plan("[A] ; [Opend]"))
    assert one.types == two.types == {"A", "Opened"}


def test_files_out_of_order_are_read_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    table = table_of([("A" if n % 2 else "B", "R1", 1, 1) for n in range(20)])
    pq.write_table(table.take(list(reversed(range(20)))), path)
    said: list[str] = []
    found = detect_files([path], plan("[A] ; [B]"), rows=3, begins=said.append)
    assert said == ["reading and detecting", "reading", "detecting"]
    assert found.composites.table.equals(ps.detect(table, "[A] ; [B]").table)


def test_repeated_events_are_counted_however_files_are_read(tmp_path: Path) -> None:
    table = table_of([("A", "R1", 1, 1), ("B", "R1", 1, 1)])
    pq.write_table(pa.concat_tables([table, table.slice(1)]), tmp_path / "events.parquet")
    assert detect_files([tmp_path], plan("[A] ; [B]")).composites.repeated == 1
    assert detect_files([tmp_path], plan("[A]")).composites.repeated == 0


@pytest.mark.parametrize(
    ("pattern", "options", "text", "said"),
    [
        ("[A(rom = 1)]", {}, "type,time,room\nA,5,1\n", "no attribute `rom`, only room"),
        ("[A(rom = 1)]", {}, "type,time,room\nA,soon,1\n", "'soon' is not a time"),
        ("[A]", {"carry": "rom"}, "type,time,room\nA,5,1\n", "no attribute `rom` to carry"),
        ("X := [A]", {"only": ["Y"]}, "type,time\nA,5\n", "no definition `Y`"),
        ("[A] ; [B]", {"limits": ps.Limits(runs=1)}, "type,time\nA,5\nA,6\nA,7\n", "more than 1 runs"),
    ],
)
def test_errors_are_those_of_whole_reading(
    pattern: str, options: dict[str, Any], text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "events.csv").write_text(text)
    with pytest.raises(ps.PenstockError, match=said):
        detect_files([tmp_path], plan(pattern, **options))
