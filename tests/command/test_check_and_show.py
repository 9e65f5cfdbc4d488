"""``penstock check``, ``penstock show``, ``--version`` and ``--help``."""

import json
import subprocess
import sys
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from penstock.checks.check import parse
from penstock.languages.core.printer import print_pattern

Run = Callable[..., CompletedProcess[str]]

PAIR = "[Open(door = $d)] ; [Close(door = $d)] within 8 h"


def test_a_pattern_that_is_well_formed(penstock: Run) -> None:
    result = penstock("check", PAIR)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "well-formed",
        "",
        "composite",
        "  parameters: $d",
        "  $d splits: Open by door, Close by door",
        "  time bound: 8 h",
    ]


def test_what_is_copied_and_what_will_cost(penstock: Run) -> None:
    result = penstock("check", "X := [Open(door = $d)] ; [Alarm]")
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[2:7] == [
        "X",
        "  parameters: $d",
        "  $d splits: Open by door",
        "  all instances of $d need: Alarm",
        "  time bound: none",
    ]
    assert lines[7].startswith("  warning: no time bound")


def test_a_verdict_for_machines(penstock: Run) -> None:
    verdict = json.loads(penstock("check", PAIR, "--json").stdout)
    assert verdict["well_formed"] is True
    assert [one["name"] for one in verdict["definitions"]] == ["composite"]
    assert verdict["definitions"][0]["splits"] == {"d": {"Open": "door", "Close": "door"}}
    assert verdict["definitions"][0]["bound"] == 8 * 3600 * 1_000_000


def test_a_bad_verdict_for_machines(penstock: Run) -> None:
    result = penstock("check", "[A", "--json")
    assert result.returncode == 2
    assert "the pattern ends too early" in result.stderr
    error = json.loads(result.stdout)["error"]
    assert (error["line"], error["column"], error["excerpt"]) == (1, 3, "[A\n  ^")


def test_a_bad_pattern_says_nothing_on_standard_output(penstock: Run) -> None:
    result = penstock("check", "[A")
    assert (result.returncode, result.stdout) == (2, "")


def test_core_text(penstock: Run) -> None:
    result = penstock("show", "([B], P in T1){T1=1h}", "--as", "core")
    assert (result.returncode, result.stdout) == (0, "([B], ([P] in {T1})){T1 = 1 h}\n")


def test_json_can_be_read_again(penstock: Run, tmp_path: object) -> None:
    text = penstock("show", PAIR, "--as", "json").stdout
    (tmp_path / "pair.json").write_text(text)  # type: ignore[operator]
    assert penstock("show", "pair.json", "--as", "core").stdout == print_pattern(parse(PAIR)) + "\n"


@pytest.mark.parametrize(
    ("form", "sign"), [("text", "Open"), ("dot", "digraph"), ("svg", "</svg>")], ids=["text", "dot", "svg"]
)
def test_drawings(form: str, sign: str, penstock: Run) -> None:
    result = penstock("show", PAIR, "--as", form)
    assert (result.returncode, result.stderr) == (0, "")
    assert sign in result.stdout
    assert result.stdout.endswith("\n")


def test_text_is_drawn_unless_something_else_is_wanted(penstock: Run) -> None:
    assert penstock("show", PAIR).stdout == penstock("show", PAIR, "--as", "text").stdout


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("gem", "error: --as gem is not there yet\n"),
        ("pretty", "error: --as pretty is not there yet\n"),
        ("python", "error: --as python is not there yet\n"),
        ("ival", "error: --as ival is not there yet\n"),
        ("jsn", "error: --as: there is no form 'jsn'\nhint: did you mean json?"),
    ],
)
def test_forms_that_are_not_there(form: str, said: str, penstock: Run) -> None:
    result = penstock("show", "[A]", "--as", form)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(said)


def test_version(penstock: Run) -> None:
    result = penstock("--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("penstock ")


@pytest.mark.parametrize("command", [[], ["detect"], ["check"], ["show"]], ids=["penstock", "detect", "check", "show"])
def test_help_teaches_by_example(command: list[str], penstock: Run) -> None:
    result = penstock(*command, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert f"penstock {' '.join([*command, ''])}" in result.stdout
    assert "'[Open(door = $d)] ; [Close(door = $d)]" in result.stdout or "'([B], [P in {P, T1}])" in result.stdout


def test_help_and_checks_wait_for_no_engine() -> None:
    program = """
import sys
from penstock.command.checking import run
from penstock.command.main import app
run("[A] ; [B]", False)
print("pyarrow" in sys.modules, "numpy" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "False False"
