"""Runs the documentation: what a page shows is what happens, or a test fails.

- ``python`` blocks of one page share one namespace; blocks that begin with ``>>>`` are doctests.
- ``console`` blocks are shell sessions: each ``$ command`` must print exactly the lines below it (``...``
  stands for anything); a command that ends in a backslash goes on in the next line.
- ``bash`` blocks are scripts that must succeed.
- A block below the line ``<!-- not run: reason -->`` is skipped.

Every page works in its own copy of ``examples/``. Docstrings are run by pytest's ``--doctest-modules``.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shutil
import subprocess
import sysconfig
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.evaluators.doctest import DocTestEvaluator, OutputChecker
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer
from sybil.typing import Evaluator
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parent
NOT_RUN = re.compile(r"<!-- not run: (?P<reason>.+?) -->[ \t]*\n\Z")
SECONDS_FOR_A_BLOCK = 120
NEEDS_SPARK = re.compile(r"(^|/)(spark/test_(on_spark\w*|streaming\w*|live)\.py|spark(-streams)?\.md)$")
"""Tests and pages that start a Spark session."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of ``examples/`` in which one page's commands run."""
    copy = tmp_path_factory.mktemp("page") / "examples"
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", copy)
    else:
        copy.mkdir()
    return copy


@dataclass(frozen=True)
class Command:
    """One ``$ command`` of a console block, and what the page says it prints."""

    text: str
    expected: str


def read_session(source: str) -> Iterator[Command]:
    """The commands of a console block, in order."""
    command: list[str] = []
    expected: list[str] = []
    for line in source.splitlines():
        if command and command[-1].endswith("\\") and not expected:
            command.append(line.removeprefix("> "))
        elif line.startswith("$ "):
            if command:
                yield Command("\n".join(command), "\n".join(expected))
            command, expected = [line.removeprefix("$ ")], []
        elif command:
            expected.append(line)
        else:
            raise ValueError(f"a console block begins with '$ command', not with {line!r}")
    if command:
        yield Command("\n".join(command), "\n".join(expected))


def run_bash(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as a reader with the project installed would: no colours, UTC, 80 columns."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    looks = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "LC_ALL": "C", "PYTHONUTF8": "1"}
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, **looks, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=SECONDS_FOR_A_BLOCK,
        check=False,
    )


def run_session(commands: list[Command], folder: Path) -> list[str]:
    """What each command prints; all run in one shell, so that ``cd`` and ``$?`` mean what they say."""
    mark = f"<{uuid.uuid4()}>"
    # The subshell hands the command's own exit status on, past the mark.
    script = "".join(f"{one.text}\n(status=$?; printf '%s' '{mark}'; exit $status)\n" for one in commands)
    outputs = run_bash(script, folder).stdout.split(mark)
    # A syntax error or `exit` leaves fewer marks than commands; the missing outputs are empty.
    return [*outputs, *[""] * len(commands)][: len(commands)]


def evaluate_console(example: Example) -> str | None:
    """Compare each command's output with the page."""
    commands = list(read_session(example.parsed))
    checker = OutputChecker()
    for command, got in zip(commands, run_session(commands, example.namespace["workspace"]), strict=True):
        want, got = (text.rstrip("\n") + "\n" for text in (command.expected, got))
        if not checker.check_output(want, got, doctest.ELLIPSIS):
            return f"$ {command.text}\nExpected:\n{want}Got:\n{got}"
    return None


def evaluate_bash(example: Example) -> str | None:
    """Run a script; its exit status must be 0."""
    result = run_bash("set -euo pipefail\n" + example.parsed, example.namespace["workspace"])
    return f"exit status {result.returncode}:\n{result.stdout}" if result.returncode else None


def inside_workspace(evaluate: Evaluator) -> Evaluator:
    """The same evaluator, with the page's copy of the examples as its working directory."""

    def evaluate_inside(example: Example) -> str | None:
        with contextlib.chdir(example.namespace["workspace"]):
            return evaluate(example)

    return evaluate_inside


def skip_because(reason: str) -> Evaluator:
    """An evaluator for a block that the page says is not run."""

    def skip(example: Example) -> None:
        pytest.skip(reason)

    return skip


EVALUATORS: dict[str, Evaluator] = {
    "python": inside_workspace(PythonEvaluator()),
    "console": evaluate_console,
    "bash": evaluate_bash,
}
DOCTEST = inside_workspace(DocTestEvaluator(doctest.ELLIPSIS))
BLOCKS = FencedCodeBlockLexer("|".join(EVALUATORS))


def read_blocks(document: Document) -> Iterable[Region]:
    """The blocks of a page that are run, and how."""
    for region in BLOCKS(document):
        region.parsed = region.lexemes["source"]
        language = region.lexemes["language"]
        not_run = NOT_RUN.search(document.text, 0, region.start)
        if not_run:
            region.evaluator = skip_because(not_run["reason"])
            yield region
        elif language == "python" and region.parsed.startswith(">>>"):
            yield from read_doctests(region, document)
        else:
            region.evaluator = EVALUATORS[language]
            yield region


def read_doctests(block: Region, document: Document) -> Iterable[Region]:
    """Each ``>>>`` of a block as a test of its own."""
    for region in DocTestStringParser()(block.parsed, document.path):
        region.adjust(block, block.parsed)
        region.evaluator = DOCTEST
        yield region


pytest_collect_file = Sybil(parsers=[read_blocks], pattern="*.md", fixtures=["workspace"]).pytest()


class KeepPagesTogether(LoadScopeScheduling):  # type: ignore[misc]
    """Sends the blocks of one page to one worker, in order: later ones use names of earlier ones.

    What needs Spark is sent to one worker too, so that one session serves all of it.
    """

    def _split_scope(self, nodeid: str) -> str:
        page = nodeid.partition("::")[0]
        if NEEDS_SPARK.search(page):
            return "spark"
        return page if page.endswith(".md") else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> KeepPagesTogether | None:
    """How ``pytest -n`` shares out the tests."""
    return KeepPagesTogether(config, log) if config.getvalue("dist") == "load" else None
