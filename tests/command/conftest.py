"""Runs the command as a user does: in a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).parents[2]
LOOKS = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "TZ": "America/New_York", "LC_ALL": "C"}


@pytest.fixture
def environment() -> dict[str, str]:
    """A plain terminal, in a zone and a language that results must not depend on."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, **LOOKS, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


@pytest.fixture
def penstock(tmp_path: Path, environment: dict[str, str]) -> Run:
    """Runs ``penstock`` with these arguments in an empty folder."""

    def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "penstock", *arguments]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    return run
