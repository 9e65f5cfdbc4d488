"""Files and folders of events, of all formats together, as one `EventTable`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

from penstock.errors import DataError
from penstock.events.csvfile import read_csv
from penstock.events.identity import with_ids
from penstock.events.jsonlines import read_json_lines
from penstock.events.mapping import Columns
from penstock.events.origin import OnBad, Origin
from penstock.events.parquetfile import read_parquet
from penstock.events.table import EventTable, concat

FORMATS = (".jsonl", ".csv", ".parquet")
"""The endings of files that can be read."""
Progress = Callable[[str, int, int], None]
"""Told after each file: its name, how many files are done, how many there are."""


@dataclass(frozen=True)
class Loaded:
    """What was read: the events, each with an id, and the errors about records that were skipped."""

    table: EventTable
    bad: tuple[DataError, ...] = ()
    files: tuple[Path, ...] = ()


def read_events(
    paths: Sequence[str | PathLike[str]],
    columns: Columns | None = None,
    *,
    skip_bad: bool = False,
    stdin: IO[Any] | None = None,
    progress: Progress | None = None,
) -> Loaded:
    """Read events from files and folders (with all inside), or JSON lines from ``stdin`` if none are given.

    With ``skip_bad`` a record that is no event is skipped and kept as an error; otherwise the first one is
    raised.

    >>> import io
    >>> loaded = read_events([], stdin=io.StringIO('{"type": "A", "time": 5, "id": "1"}'))
    >>> loaded.table.record(0).type
    'A'
    """
    columns = columns or Columns()
    bad: list[DataError] = []
    on_bad = bad.append if skip_bad else None
    files = tuple(event_files(paths))
    pieces = [] if paths or stdin is None else [_from_stream(stdin, columns, on_bad)]
    for done, path in enumerate(files, 1):
        piece = _from_file(path, columns, on_bad)
        pieces += [piece] if piece else []
        if progress:
            progress(str(path), done, len(files))
    table = concat([table for table, _ in pieces], [origin.where for _, origin in pieces])
    return Loaded(with_ids(table), tuple(bad), files)


def event_files(paths: Iterable[str | PathLike[str]]) -> list[Path]:
    """The files to read: those named, and in folders all with an ending that can be read, in order.

    >>> event_files([])
    []
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if _format(p) in FORMATS and p.is_file())
            if not inside:
                raise DataError(f"{path}: there is no {_listed()} file in this folder", hint="name another folder")
            files += inside
        elif not path.exists():
            raise DataError(f"{path}: there is no such file or folder", hint="paths are relative to the working folder")
        elif _format(path) not in FORMATS:
            raise DataError(f"{path}: this is no {_listed()} file", hint=f"events are read from {_listed()} files")
        else:
            files.append(path)
    return files


def _format(path: Path) -> str:
    return path.suffix.lower()


def _listed() -> str:
    return f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"


def _from_stream(stream: IO[Any], columns: Columns, on_bad: OnBad | None) -> tuple[EventTable, Origin]:
    content = stream.read()
    return read_json_lines(
        content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content,
        "standard input",
        columns,
        on_bad,
    )


def _from_file(path: Path, columns: Columns, on_bad: OnBad | None) -> tuple[EventTable, Origin] | None:
    try:
        if _format(path) == ".jsonl":
            return read_json_lines(path.read_bytes(), str(path), columns, on_bad)
        return read_csv(path, columns, on_bad) if _format(path) == ".csv" else read_parquet(path, columns, on_bad)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}", hint="check the file") from None
