"""Where results go: standard output, or a file that is there only once it is complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rich.console import Console, RenderableType
from rich.text import Text

from penstock.command.complaints import OutputError, abandon_output


@contextmanager
def output(path: Path | None) -> Iterator[IO[bytes]]:
    """A file to write to: that of the path, or standard output."""
    try:
        with _standard_output() if path is None else _file(path.resolve()) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        name = "standard output" if path is None else str(path)
        raise OutputError(f"{name}: cannot be written: {error.strerror or error}") from None


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None:
        raise OSError("it is closed")
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError:
        abandon_output()
        raise


@contextmanager
def _file(path: Path) -> Iterator[IO[bytes]]:
    if path.exists() and not path.is_file():  # a pipe, say: it cannot be replaced
        with path.open("wb") as file:
            yield file
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def say(text: str) -> None:
    """Write a text to standard output."""
    with output(None) as file:
        file.write(text.encode())


def styled(*renderables: RenderableType) -> str:
    """What rich makes of them for standard output, in colour where that is a terminal.

    >>> styled("well-formed")
    'well-formed\\n'
    """
    console = Console(highlight=False)
    with console.capture() as capture:
        for one in renderables:
            console.print(one, soft_wrap=isinstance(one, str | Text))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())
