"""What holds for the project as a whole: its commands, its imports, its files."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "penstock"

ADAPTERS_ONLY = {"pyspark", "numba", "pyarrow", "nats", "paho", "aiomqtt", "stomp", "confluent_kafka"}

# The character classes keep the patterns from matching their own text.
OF_ONE_MACHINE = re.compile(
    r"(?<![\w.*~-])/(?:home|root|work|Users)/"
    r"|--(?:extra-)?index[-]url"
    r"|\bpypi[.]org|pythonhosted[.]org|artifactor[y]|registry[.]npmjs",
)

RUN_IN_PAGES = {"python", "console", "bash"}
LOOKS_RUNNABLE = re.compile(r"^[ \t]*`{3,}[ \t]*((?:py|pycon|python|console|bash|shell|sh|zsh)\b.*)$", re.M)


def commands_in(script: str) -> list[str]:
    lines = (line.strip() for line in script.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def files() -> Iterator[Path]:
    """Every file that is, or is about to be, under version control."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (ROOT / name for name in names.split("\0") if name)
    return (path for path in paths if path.is_file())


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    preamble = ["set -euo pipefail", 'cd "$(dirname "$0")/.."']
    assert commands_in((ROOT / ".ci" / "run").read_text()) == [*preamble, "make test"]
    shown = re.findall(r"^(?:\$ )?(make \w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert "make test" in shown
    assert "make demo" in shown


def test_import_is_light() -> None:
    program = "import sys, penstock; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not ADAPTERS_ONLY & set(result.stdout.split())


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    found = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if OF_ONE_MACHINE.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("module", modules(), ids=name_of)
def test_module_is_introduced_and_small(module: Path) -> None:
    text = module.read_text()
    assert ast.get_docstring(ast.parse(text)), "a module begins by saying what it is for"
    assert len(text.splitlines()) < 600, "two ideas live together here: split them"


def test_every_folder_of_modules_is_a_package() -> None:
    assert {path.parent for path in modules()} == {path.parent for path in PACKAGE.rglob("__init__.py")}


def test_code_in_pages_is_in_a_language_that_is_run() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    found = [
        f"{name_of(page)}: {language}"
        for page in pages
        for language in LOOKS_RUNNABLE.findall(page.read_text())
        if language not in RUN_IN_PAGES
    ]
    assert found == []
