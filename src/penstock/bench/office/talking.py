"""How the processes of the experiment talk to the one that started them: lines of text, and the end of the input."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from penstock.errors import PenstockError


def say(line: str) -> None:
    """A line to whoever started this process."""
    sys.stdout.buffer.write(f"{line}\n".encode())
    sys.stdout.buffer.flush()


def end_with_input(before: Callable[[], None] = lambda: None) -> None:
    """This process ends when its standard input does, which is when the one that started it ends; at any moment."""

    def wait() -> None:
        sys.stdin.buffer.read()
        before()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def hear(process: subprocess.Popen[bytes], name: str, seconds: float) -> str:
    """The next line that a process says; an error if none comes."""
    lines: list[bytes] = []
    assert process.stdout is not None  # noqa: S101
    thread = threading.Thread(target=lambda: lines.append(process.stdout.readline()), daemon=True)  # type: ignore[union-attr]
    thread.start()
    thread.join(seconds)
    if not lines or not lines[0]:
        status = process.poll()
        why = f"ended with status {status}" if status is not None else f"said nothing for {seconds:g} s"
        raise PenstockError(f"the experiment's {name} {why}")
    return lines[0].decode().rstrip("\n")


def tell(process: subprocess.Popen[bytes], line: str) -> None:
    """A line to a process."""
    assert process.stdin is not None  # noqa: S101
    process.stdin.write(f"{line}\n".encode())
    process.stdin.flush()


def end(process: subprocess.Popen[bytes], seconds: float = 5.0) -> None:
    """Let a process end, by the end of its input; if it does not, by force."""
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def now() -> float:
    """Seconds by a clock that all processes of a machine share."""
    return time.monotonic()
