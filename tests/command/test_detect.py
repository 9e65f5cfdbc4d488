"""``penstock detect``: what goes in and what comes out."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.detection.local import detect
from penstock.detection.output import json_lines
from penstock.events.files import read_events

Run = Callable[..., CompletedProcess[str]]

OPEN = '{"type": "Open", "source": "d", "id": "1", "time": "2026-03-02T09:00:00Z", "data": {"door": "Tür 1", "n": 2}}\n'
CLOSE = '{"type": "Close", "source": "d", "id": "2", "time": "2026-03-02T09:05:00Z", "data": {"door": "Tür 1"}}\n'
PAIR = "[Open(door = $d)] ; [Close(door = $d)]"
ID = "f31d08ffe42efc12852d77e8"
LINE = (
    '{"specversion": "1.0", "type": "composite", "source": "penstock/composite", "id": "' + ID + '", '
    '"time": "2026-03-02T09:05:00Z", "timelo": "2026-03-02T09:00:00Z", "timehi": "2026-03-02T09:05:00Z", '
    '"data": {"d": "Tür 1", "parts": [{"type": "Open", "source": "d", "id": "1", "time": "2026-03-02T09:00:00Z", '
    '"data": {"door": "Tür 1", "n": 2}}, {"type": "Close", "source": "d", "id": "2", '
    '"time": "2026-03-02T09:05:00Z", "data": {"door": "Tür 1"}}]}}\n'
)


def types_of(result: CompletedProcess[str]) -> list[str]:
    assert (result.returncode, result.stderr) == (0, "")
    return [json.loads(line)["type"] for line in result.stdout.splitlines()]


def data_of(result: CompletedProcess[str]) -> dict[str, object]:
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)["data"]


def test_standard_input_to_standard_output(penstock: Run) -> None:
    result = penstock("detect", PAIR, stdin=CLOSE + OPEN)
    assert (result.returncode, result.stdout, result.stderr) == (0, LINE, "")


def test_files_and_folders_in_any_order(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "day" / "noon").mkdir(parents=True)
    (tmp_path / "day" / "noon" / "b.jsonl").write_text(OPEN, encoding="utf-8")
    (tmp_path / "a.jsonl").write_text(CLOSE, encoding="utf-8")
    assert penstock("detect", PAIR, "day", "a.jsonl").stdout == LINE
    assert penstock("detect", PAIR, "a.jsonl", "day").stdout == LINE


def test_a_pattern_file(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "doors.pen").write_text(f"# doors\n{PAIR}\n")
    assert penstock("detect", "doors.pen", stdin=OPEN + CLOSE).stdout == LINE
    (tmp_path / "doors.json").write_text(penstock("show", "doors.pen", "--as", "json").stdout)
    assert penstock("detect", "doors.json", stdin=OPEN + CLOSE).stdout == LINE
    (tmp_path / "doors.json").rename(tmp_path / "doors")
    (tmp_path / "doors").write_text(PAIR)
    assert penstock("detect", "doors", stdin=OPEN + CLOSE).stdout == LINE


def test_nothing_found_is_no_output(penstock: Run) -> None:
    result = penstock("detect", PAIR)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_all_formats_out_and_in_again(penstock: Run, tmp_path: Path) -> None:
    for ending in ("jsonl", "csv", "parquet"):
        result = penstock("detect", PAIR, "--output", f"found.{ending}", stdin=OPEN + CLOSE)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        again = penstock("detect", "X := [composite(d = 'Tür 1')]", f"found.{ending}")
        assert types_of(again) == ["X"]
        inner = json.loads(again.stdout)["data"]["parts"][0]
        assert (inner["id"], [part["id"] for part in inner["data"]["parts"]]) == (ID, ["1", "2"])
    assert (tmp_path / "found.jsonl").read_text(encoding="utf-8") == LINE
    assert (tmp_path / "found.csv").read_text(encoding="utf-8").splitlines()[0] == "type,lo,hi,d,id,parts"
    assert pq.read_table(tmp_path / "found.parquet")["id"].to_pylist() == [ID]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_table_to_read(penstock: Run) -> None:
    result = penstock("detect", PAIR, "--format", "table", stdin=OPEN + CLOSE)
    lines = [" ".join(line.split()) for line in result.stdout.splitlines() if line]
    assert lines[0] == "2026-03-02 (UTC) type parameters parts"
    assert lines[2:] == ["09:00:00 – 09:05:00 composite d=Tür 1 Open@09:00:00 Close@09:05:00", "1 composite"]
    in_berlin = penstock("detect", PAIR, "--format", "table", "--zone", "Europe/Berlin", stdin=OPEN + CLOSE)
    assert "10:00:00 – 10:05:00" in in_berlin.stdout


def test_csv_in_a_format_of_its_own(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "alarms.csv").write_text("alarm,from,to,device,key\n11,30,40,D1,a\n1,50,60,D1,b\n")
    fields = "--type-from alarm --time-from from --time-to to --source-from device --id-from key --time-unit s"
    result = penstock("detect", "['11'] ; ['1']", "alarms.csv", *fields.split())
    assert types_of(result) == ["composite"]
    first = json.loads(result.stdout)["data"]["parts"][0]
    assert (first["type"], first["source"], first["id"]) == ("11", "D1", "a")
    assert (first["timelo"], first["timehi"]) == ("1970-01-01T00:00:30Z", "1970-01-01T00:00:40Z")


def test_one_type_for_all(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "readings.csv").write_text("time,v\n1,5\n2,6\n")
    assert types_of(penstock("detect", "[Reading(v > 5)]", "readings.csv", "--type", "Reading")) == ["composite"]


def test_clock_error(penstock: Run) -> None:
    events = '{"type": "A", "time": 1000000, "id": "1"}\n{"type": "B", "time": 1000300, "id": "2"}\n'
    assert types_of(penstock("detect", "[A] ; [B]", stdin=events)) == ["composite"]
    assert types_of(penstock("detect", "[A] ; [B]", "--clock-error", "200 us", stdin=events)) == []


def test_zone_for_times_and_clocks(penstock: Run) -> None:
    event = '{"type": "A", "time": "2026-03-02T18:30:00", "id": "1"}\n'
    options = ["--zone", "Europe/Berlin", "--until", "2026-03-02T19:00:00"]
    result = penstock("detect", "([A], [T]){T = at 19:00}", *options, stdin=event)
    assert types_of(result) == ["composite"]
    assert json.loads(result.stdout)["timehi"] == "2026-03-02T18:00:00Z"


def test_until_in_the_unit_of_the_times(penstock: Run) -> None:
    event = '{"type": "A", "time": 100, "id": "1"}\n'
    pattern = "([A], [T]){T = 10 s}"
    assert types_of(penstock("detect", pattern, "--time-unit", "s", "--until", "110", stdin=event)) == ["composite"]
    assert types_of(penstock("detect", pattern, "--time-unit", "s", "--until", "109", stdin=event)) == []


def test_restart(penstock: Run) -> None:
    events = '{"type": "B", "time": 1, "id": "1"}\n{"type": "A", "time": 2, "id": "2"}\n'
    assert types_of(penstock("detect", "[A in {A, B}]", stdin=events)) == []
    assert types_of(penstock("detect", "[A in {A, B}]", "--restart", stdin=events)) == ["composite"]


def test_only_and_carry(penstock: Run) -> None:
    pattern = "X := [Open]\nY := [Close]\nZ := [X] ; [Y]"
    result = penstock("detect", pattern, "--only", "Z", "--only", "X", stdin=OPEN + CLOSE)
    assert types_of(result) == ["X", "Z"]
    carried = data_of(penstock("detect", "[Open]", "--carry", "n", stdin=OPEN))["parts"]
    assert carried[0]["data"] == {"n": 2}  # type: ignore[index]
    assert "data" not in data_of(penstock("detect", "[Open]", "--carry", "none", stdin=OPEN))["parts"][0]  # type: ignore[index]


def test_bad_records_are_skipped_and_counted(penstock: Run) -> None:
    bad = "nonsense\n" * 5
    result = penstock("detect", PAIR, "--skip-bad", stdin=OPEN + bad + CLOSE)
    assert (result.returncode, result.stdout) == (0, LINE)
    assert result.stderr.startswith("note: skipped 5 bad records:\n  standard input, line 2, column 1: not valid JSON")
    assert result.stderr.endswith("  and 2 more\n")


def test_repeated_events_are_counted(penstock: Run) -> None:
    result = penstock("detect", PAIR, stdin=OPEN + CLOSE + OPEN)
    assert (result.returncode, result.stdout) == (0, LINE)
    assert result.stderr == "note: left out 1 repeated event (same source and id)\n"


def test_incomplete_runs_are_written_to_a_file_of_their_own(penstock: Run, tmp_path: Path) -> None:
    for ending in ("jsonl", "csv", "parquet"):
        result = penstock("detect", f"{PAIR} within 1 min", "--incomplete", f"open.{ending}", stdin=OPEN + CLOSE)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    [line] = (tmp_path / "open.jsonl").read_text(encoding="utf-8").splitlines()
    data = json.loads(line)["data"]
    assert (data["reason"], data["at"]) == ("expired", "2026-03-02T09:01:00Z")
    assert [part["id"] for part in data["parts"]] == ["1"]
    assert (tmp_path / "open.csv").read_text(encoding="utf-8").startswith("type,lo,hi,reason,at,d,id,parts\n")
    assert pq.read_table(tmp_path / "open.parquet")["reason"].to_pylist() == ["expired"]


def test_runs_that_are_dropped_are_counted(penstock: Run) -> None:
    again = OPEN.replace('"1"', '"3"')
    result = penstock("detect", PAIR, "--limit-runs", "1", stdin=OPEN + again + CLOSE)
    assert (result.returncode, len(result.stdout.splitlines())) == (0, 1)
    assert result.stderr.startswith("note: dropped 1 run at the limit; --limit-runs raises it")


def test_a_context(penstock: Run) -> None:
    again = OPEN.replace('"1"', '"3"')
    assert len(types_of(penstock("detect", PAIR, stdin=OPEN + again + CLOSE))) == 2
    assert len(types_of(penstock("detect", PAIR, "--context", "chronicle", stdin=OPEN + again + CLOSE))) == 1


def test_files_that_are_sorted_and_files_that_are_not_give_the_same(penstock: Run, tmp_path: Path) -> None:
    lines = [f"{'AB'[n % 2]},{n},R{n % 3},s,{n}\n" for n in range(50)]
    for name, chosen in (("sorted.csv", lines), ("mixed.csv", lines[::-1])):
        (tmp_path / name).write_text("type,time,room,source,id\n" + "".join(chosen))
    one, two = (penstock("detect", "[A(room = $r)] [B(room = $r)]", name) for name in ("sorted.csv", "mixed.csv"))
    assert len(one.stdout.splitlines()) > 5
    assert (one.returncode, one.stdout, one.stderr) == (two.returncode, two.stdout, two.stderr)
    one, two = (penstock("detect", "[A] [BB]", name) for name in ("sorted.csv", "mixed.csv"))
    assert one.stderr == two.stderr == "note: no event is of type `BB`; did you mean `B`?\n"


def test_a_file_that_cannot_be_written(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name, said in (("nowhere/x.csv", "there is no such folder"), ("folder.csv", "Is a directory")):
        result = penstock("detect", PAIR, "--output", name, stdin=OPEN + CLOSE)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == f"error: {name}: cannot be written: {said}\n"
    assert [path.name for path in tmp_path.rglob("*")] == ["folder.csv"]


def test_a_file_is_replaced_only_by_a_complete_one(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "found.jsonl").write_text("before")
    (tmp_path / "link.jsonl").symlink_to("found.jsonl")
    assert penstock("detect", "[A", "--output", "link.jsonl").returncode == 2
    assert (tmp_path / "found.jsonl").read_text() == "before"
    assert penstock("detect", PAIR, "--output", "link.jsonl", stdin=OPEN + CLOSE).returncode == 0
    assert (tmp_path / "found.jsonl").read_text(encoding="utf-8") == LINE
    assert (tmp_path / "link.jsonl").is_symlink()


def started(environment: dict[str, str], folder: Path, *arguments: str, **streams: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "penstock", *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, **streams)  # type: ignore[call-overload]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "open.jsonl").write_text(OPEN, encoding="utf-8")
    with open("/dev/full", "wb") as full:
        process = started(environment, tmp_path, "detect", "[Open]", "open.jsonl", stdout=full)
        _, stderr = process.communicate(timeout=300)
    assert process.returncode == 1
    assert stderr == b"error: standard output: cannot be written: No space left on device\n"


def test_a_broken_pipe_is_quiet(environment: dict[str, str], tmp_path: Path) -> None:
    lines = (f'{{"type": "A", "id": "{n}", "time": {n}}}\n' for n in range(2000))
    (tmp_path / "many.jsonl").write_text("".join(lines))
    process = started(environment, tmp_path, "detect", "[A]", "many.jsonl", stdout=subprocess.PIPE)
    assert process.stdout
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == b""
    assert process.wait(timeout=300) == 141
    process.stderr.close()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ("detect '[A]' <&-", 3, "error: standard input is closed\nhint: name files or folders to read\n"),
        ("show '[A]' --as core >&-", 1, "error: standard output: cannot be written: it is closed\n"),
    ],
)
def test_closed_streams(arguments: str, status: int, said: str, environment: dict[str, str]) -> None:
    command = ["sh", "-c", f"{sys.executable} -m penstock {arguments}"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert (result.returncode, result.stdout, result.stderr) == (status, "", said)


def seen(screen: int) -> bytes:
    """All that is written to a terminal until nobody has it open any more."""
    content = b""
    with contextlib.suppress(OSError):
        while piece := os.read(screen, 4096):
            content += piece
    os.close(screen)
    return content


@pytest.mark.parametrize(("pattern", "said"), [("[Open]", b"detecting"), ("[Open", b"\x1b[1;31merror: ")])
def test_a_terminal(pattern: str, said: bytes, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "open.jsonl").write_text(OPEN, encoding="utf-8")
    environment = {**environment, "TERM": "xterm"}
    del environment["NO_COLOR"]
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "penstock", "detect", pattern, "open.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=terminal) as process:
        os.close(terminal)
        assert said in seen(screen)
        assert process.stdout
        assert b"\x1b" not in process.stdout.read()


def test_an_interruption_is_quiet(environment: dict[str, str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "events.jsonl")
    process = started(environment, tmp_path, "detect", "[A]", "events.jsonl", stdout=subprocess.PIPE)
    with open(tmp_path / "events.jsonl", "wb"):  # opens once the command reads
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=300)
    assert (process.returncode, stdout, stderr) == (130, b"", b"")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from("AB"), st.integers(0, 5), st.sampled_from(["x", "y"]), st.integers(0, 2)), max_size=8
    )
)
def test_the_order_of_files_and_records_does_not_matter(
    tmp_path: Path, events: list[tuple[str, int, str, int]]
) -> None:
    files: dict[int, str] = {0: "", 1: "", 2: ""}
    for type, at, room, file in events:
        files[file] += f'{{"type": "{type}", "time": {at}, "data": {{"room": "{room}"}}}}\n'
    backwards = {
        2 - number: "".join(f"{line}\n" for line in reversed(text.splitlines())) for number, text in files.items()
    }
    found = []
    for contents in (files, backwards):
        for number, text in contents.items():
            (tmp_path / f"{number}.jsonl").write_text(text)
        table = read_events([tmp_path]).table
        found.append(list(json_lines(detect(table, "[A(room = $r)] ; [B(room = $r)]"))))
    assert found[0] == found[1]
