"""The documentation harness of the root conftest: true pages pass, and every kind of untruth is caught."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TRUE_PAGE = r"""
```python
x = 20 + 1
```

```python
>>> x * 2
42
```

- Inside a list:

  ```console
  $ cat door/events.txt; echo trouble >&2
  Open
  trouble
  $ (exit 3)
  $ echo $?
  3
  $ seq 9
  1
  ...
  9
  $ echo one \
      two
  one two
  ```

```bash
echo kept > kept.txt
```

```console
$ cat kept.txt
kept
```

<!-- not run: it never ends -->
```bash
sleep infinity
```
"""

UNTRUE = {
    "another output": "```console\n$ echo a\nb\n```",
    "more output": "```console\n$ seq 2\n1\n```",
    "output where none is shown": "```console\n$ echo a\n```",
    "a second command that fails": "```console\n$ true\n$ echo a\nb\n```",
    "a shell that ends early": "```console\n$ exit 0\n$ echo a\na\n```",
    "no command": "```console\na\n```",
    "a failing script": "```bash\nfalse\ntrue\n```",
    "a failing program": "```python\nunknown\n```",
    "another value": "```python\n>>> 1 + 1\n3\n```",
}


def outcome_of(page: str, folder: Path, *options: str) -> str:
    """The last line of pytest's report on the page."""
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / "examples" / "door").mkdir(parents=True)
    (folder / "examples" / "door" / "events.txt").write_text("Open\n")
    (folder / "page.md").write_text(page)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "--rootdir", ".", *options, "page.md"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return result.stdout.splitlines()[-1]


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["one process", "two workers"])
def test_a_true_page_passes(options: list[str], tmp_path: Path) -> None:
    assert outcome_of(TRUE_PAGE, tmp_path, *options).startswith("5 passed, 1 skipped in")


@pytest.mark.parametrize("page", UNTRUE.values(), ids=UNTRUE)
def test_an_untrue_page_fails(page: str, tmp_path: Path) -> None:
    assert outcome_of(page, tmp_path).startswith("1 failed in")
