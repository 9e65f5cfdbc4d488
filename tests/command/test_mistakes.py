"""Mistakes of a new user: what is wrong, where, what was expected, a hint; a status, and no output."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Run = Callable[..., CompletedProcess[str]]

ROOMS = """\
type,time,room,temp
Door,2026-03-02T09:00:00Z,R1,
Temp,2026-03-02T09:01:00Z,R1,14
"""

BAD_PATTERNS = {
    "[A": ["line 1, column 3: the pattern ends too early", "  [A\n    ^", "expected `]`", "hint: the `[`"],
    "[A] ;": ["line 1, column 6: the pattern ends too early", "  [A] ;\n       ^", "expected an event"],
    "[A(temp < )]": ["column 11", "`)` is not expected here: expected a value", "  [A(temp < )]\n            ^"],
    "(A, B){T = 5 parsecs}": ["`parsecs` is not a unit of time", "^^^^^^^", "expected us, ms, s", "hint: did you"],
    "[A] -> [B]": ["`->` is not an operator here", "      ^^", "hint: write A ; B"],
    "[Door(room = $r)];[Temp(rom = $r)]": [
        "the events have no attribute `rom`, only room, temp",
        "                          ^^^",
        "hint: did you mean `room`?",
    ],
    "[Door] ; [Temp(room = $r)]": ["the parameter $r is not bound here", "   ^^^^", "hint: add `attribute = $r`"],
    "M := [M] ; [A]": ["`M` is defined through itself: M uses M", "        ^", "hint: "],
    "missing.pen": ["missing.pen: there is no such file", "hint: a pattern is a text"],
    "rules.gem": ["rules.gem: patterns in .gem files are not there yet", "hint: "],
    "rules.pretty": ["rules.pretty: patterns in .pretty files are not there yet"],
    "rules.ival": ["rules.ival: patterns in .ival files are not there yet"],
}


@pytest.mark.parametrize("pattern", BAD_PATTERNS, ids=BAD_PATTERNS)
def test_bad_patterns(pattern: str, penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_text(ROOMS)
    result = penstock("detect", pattern, "rooms.csv")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    for said in BAD_PATTERNS[pattern]:
        assert said in result.stderr


BAD_DATA = {
    "text.csv": (
        "type,time,room\nDoor,2026-03-02T09:00:00Z,R1\nDoor,soon,R1\n",
        ["text.csv, line 3, column 6: ", "'soon' is not a time", "  Door,soon,R1\n       ^^^^", "hint: a time looks"],
    ),
    "swapped.csv": (
        "type,lo,hi\nDoor,9,5\n",
        ["swapped.csv, line 2, column 6: ", "'9' is after 'hi', which is '5'", "  Door,9,5\n       ^", "hint: "],
    ),
    "swapped.jsonl": (
        '{"type": "Door", "lo": 9, "hi": 5}\n',
        ["swapped.jsonl, line 1, column 24: ", "9 is after 'hi', which is 5", "^", "hint: "],
    ),
    "zone.csv": (
        "type,time\nDoor,2026-03-02T09:00:00\n",
        ["zone.csv, line 2, column 6: ", "has no zone", "^^^^^^^^^^^^^^^^^^^", "hint: add the zone"],
    ),
    "broken.jsonl": (
        '{"type": "Door", "time": 5}\n{"type": "Door", "time": 5\n',
        ["broken.jsonl, line 2, column 27: not valid JSON", "^", "hint: expected one CloudEvent a line"],
    ),
    "columns.csv": ("kind,time\nDoor,5\n", ["there is no column 'type'", "--type-from", "the columns are kind, time"]),
    "events.txt": ("", ["events.txt: this is no .jsonl, .csv or .parquet file"]),
    "events.parquet": ("no parquet", ["events.parquet: this is no Parquet file"]),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data(name: str, penstock: Run, tmp_path: Path) -> None:
    content, expected = BAD_DATA[name]
    (tmp_path / name).write_text(content)
    result = penstock("detect", "[Door]", name)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith("error: ")
    for said in expected:
        assert said in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.jsonl"], "missing.jsonl: there is no such file or folder"),
        (["."], "there is no .jsonl, .csv or .parquet file in this folder"),
    ],
)
def test_data_that_is_not_there(arguments: list[str], said: str, penstock: Run) -> None:
    result = penstock("detect", "[A]", *arguments)
    assert (result.returncode, result.stdout) == (3, "")
    assert said in result.stderr


def test_bad_standard_input(penstock: Run) -> None:
    result = penstock("detect", "[A]", stdin='{"type": "A", "time": 1}\nnonsense\n')
    assert (result.returncode, result.stdout) == (3, "")
    assert "standard input, line 2, column 1: not valid JSON" in result.stderr


BAD_OPTIONS = {
    "--engine flink": "--engine",
    "--follow": "--follow reads standard input, not files",
    "--context resent": "there is no context 'resent'",
    "--zone Mars": "--zone: 'Mars' is not a time zone",
    "--clock-error 5": "--clock-error: '5' is not a duration",
    "--until soon": "--until: 'soon' is not a time",
    "--until 2026-03-02T09:00:00": "--until: '2026-03-02T09:00:00' has no zone",
    "--time-unit years": "'years' is not one of",
    "--format csv": "'csv' is not one of",
    "--output found.txt": "--output: found.txt has no ending that we can write",
    "--incomplete open.txt": "--incomplete: open.txt has no ending that we can write",
    "--incomplete found.csv --output found.csv": "--output and --incomplete name the same file",
    "--limit-runs 0": "--limit-runs",
    "--output found.csv --format table": "--format is for standard output",
    "--only Dor": "there is no definition `Dor`",
    "--carry rom": "the events have no attribute `rom` to carry",
    "--type A --type-from type": "--type and --type-from cannot both say the type",
}


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_bad_options(options: str, penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_text(ROOMS)
    result = penstock("detect", "[Door]", "rooms.csv", *options.split())
    assert (result.returncode, result.stdout) == (2, "")
    assert BAD_OPTIONS[options] in " ".join(result.stderr.replace("│", " ").split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rooms.csv"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "rules.json, line 1, column 2: not valid JSON"),
        ("{}", 'rules.json: this is not a pattern\'s JSON form: `"penstock": 1` is missing'),
        (
            '{"penstock": 1, "items": [{"is": "defnition"}]}',
            "items[0]: {'is': 'defnition'} is not let or definition",
        ),
    ],
)
def test_bad_json_patterns(content: str, said: str, penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text(content)
    result = penstock("check", "rules.json")
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr


def test_a_json_pattern_that_means_nothing_is_shown_as_core_text(penstock: Run, tmp_path: Path) -> None:
    good = json.loads(penstock("show", "M := [A]", "--as", "json").stdout)
    good["items"][0]["body"]["label"][0]["type"] = "M"
    (tmp_path / "rules.json").write_text(json.dumps(good))
    result = penstock("check", "rules.json")
    assert (result.returncode, result.stdout) == (2, "")
    assert "rules.json as core text, line 1, column 7: `M` is defined through itself" in result.stderr


def test_a_pattern_file_that_is_not_text(penstock: Run, tmp_path: Path) -> None:
    (tmp_path / "rules.pen").write_bytes(b"[A\xff]")
    result = penstock("check", "rules.pen")
    assert (result.returncode, result.stderr) == (2, "error: rules.pen: not UTF-8\nhint: save the file as UTF-8\n")
    (tmp_path / "folder.pen").mkdir()
    assert "folder.pen: cannot be read: Is a directory" in penstock("check", "folder.pen").stderr


@pytest.mark.parametrize("arguments", [["detect"], ["check"], ["nothing"], ["detect", "[A]", "--nothing"]])
def test_commands_that_are_none(arguments: list[str], penstock: Run) -> None:
    result = penstock(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Usage: penstock" in result.stderr


def test_a_file_of_events_is_not_written_over(tmp_path: Path, penstock: Run) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text('{"type": "A", "time": 1}\n')
    result = penstock("detect", "[A]", str(events), "--output", str(tmp_path / "." / "events.jsonl"))
    assert (result.returncode, events.read_text()) == (2, '{"type": "A", "time": 1}\n')
    assert "--output names a file of events" in result.stderr


def test_two_columns_of_a_csv_file_have_different_names(tmp_path: Path, penstock: Run) -> None:
    events = tmp_path / "events.csv"
    events.write_text("type,time,k,k\nA,2026-03-02T09:00:00Z,1,2\n")
    result = penstock("detect", "[A]", str(events))
    assert (result.returncode, result.stdout) == (3, "")
    assert "there are two columns 'k'" in result.stderr


def test_what_would_steer_a_terminal_is_shown_as_signs(tmp_path: Path, penstock: Run) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text('{"type": "A", "time": 1, "data": {"k": "\\u001b[2J"}}\n{"type": "\\u001b[31m"}\n')
    shown = penstock("detect", "[A(k = $k)]", str(events), "--format", "table", "--skip-bad")
    assert "k=␛[2J" in shown.stdout
    assert "\x1b" not in shown.stdout + shown.stderr
    assert "\x1b" not in penstock("detect", "[\x1b", str(events)).stderr
