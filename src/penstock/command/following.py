"""What ``penstock detect --follow`` does: detect while standard input comes in, and write what is found at once."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console

from penstock.command.complaints import OptionError, OutputError, note, option
from penstock.command.detecting import (
    Left,
    Request,
    check_output,
    columns_of,
    counted,
    limits_of,
    say_dropped,
    say_left_out,
    say_unknown_types,
    standard_input,
    until_of,
)
from penstock.command.patterns import load_pattern
from penstock.command.writing import output
from penstock.detection.columns import column_values
from penstock.detection.composites import Composites
from penstock.detection.detector import Detector
from penstock.detection.late import LATE_FIELDS
from penstock.detection.output import WRITERS, json_lines
from penstock.detection.sources import sources_table
from penstock.detection.values import json_text, json_value, present
from penstock.engine.compiled import ANNOUNCEMENT, is_compiled
from penstock.errors import DataError
from penstock.events.cloudevents import to_cloudevent
from penstock.events.event import Event
from penstock.events.jsonlines import read_json_lines
from penstock.events.mapping import Columns
from penstock.events.origin import FileLine
from penstock.events.table import EventTable
from penstock.ordering.policies import Policy, guaranteed, parse_policy
from penstock.ordering.status import Status

HEARTBEAT = "penstock.heartbeat"
"""The type of records that are no events: a source promises that its later ones are after this time."""
STDIN = "standard input"
_SILENCE = 0.2
"""After so many seconds without input, policies are told that time went on."""
_STALL = 5.0
"""After so many seconds in which nothing was consumed, people are told who is waited for."""
_CHUNK = 1 << 16
_BATCH = 1 << 22


def run(request: Request) -> None:
    """Detect until the input ends or is interrupted, and write each composite once it is complete."""
    _check(request)
    policy = _policy(request)
    pattern = load_pattern(request.pattern)
    columns = columns_of(request)
    detector = Detector(
        pattern,
        policy=policy,
        sources=request.sources,
        context=request.context,
        restart=request.restart,
        until=until_of(request),
        zone=request.zone,
        carry=request.carry,
        only=request.only,
        limits=limits_of(request),
        incomplete=request.incomplete is not None,
    )
    stdin = standard_input()
    if not is_compiled():
        note(ANNOUNCEMENT)
    reading = Reading(columns, request.skip_bad)
    with ExitStack() as files, interruption() as interrupted:
        results = Results(request, files)
        stall = Stall(Console(stderr=True))
        for content in batches(stdin.fileno(), interrupted.is_set):
            for found in _found(detector, reading, content):
                results.write(found)
            stall.look(detector)
        results.write(detector.finish())
    say_left_out(Left(reading.bad, reading.first_bad, detector.counters.duplicate))
    _say_late(request, detector.status())
    say_dropped(detector.counters.dropped)
    say_unknown_types(pattern, frozenset(reading.types))


def _check(request: Request) -> None:
    if request.inputs:
        raise OptionError("--follow reads standard input, not files", hint="leave out --follow, or the files")
    if request.engine != "local":
        raise OptionError("--follow detects in this process", hint="leave out --engine")
    if request.format == "table":
        raise OptionError("--follow writes JSON lines, not a table", hint="leave out --format table")
    check_output(request)
    for name, path in (("--output", request.output), ("--incomplete", request.incomplete), ("--late", request.late)):
        if path and path.suffix.lower() in WRITERS.keys() - {".jsonl"}:
            raise OptionError(f"{name}: {path} cannot grow with --follow", hint="name a .jsonl file")


def _policy(request: Request) -> Policy:
    with option("--policy"):
        return guaranteed() if request.policy is None else parse_policy(request.policy)


@contextmanager
def interruption() -> Iterator[threading.Event]:
    """Set once Ctrl-C was pressed, so that nothing stops half done; pressed again, it interrupts as ever."""
    stop = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def interrupt(*_: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def batches(descriptor: int, stopped: Callable[[], bool]) -> Iterator[bytes]:
    """The whole lines that are there, as often as there are some, and nothing after each silence.

    What is left of a line when the input ends is a line; when it is stopped, it is not.

    >>> read, write = os.pipe()
    >>> written = os.write(write, b"one\\ntwo")
    >>> lines = batches(read, lambda: False)
    >>> next(lines)
    b'one\\n'
    >>> os.close(write)
    >>> list(lines)
    [b'two']
    """
    rest = bytearray()
    while not stopped():
        content = _available(descriptor)
        if content == b"":
            if rest:
                yield bytes(rest)
            return
        cut = content.rfind(b"\n") + 1 if content else 0
        if content is None or not cut:
            rest += content or b""
            yield b""
        else:
            yield bytes(rest) + content[:cut]
            rest = bytearray(content[cut:])


def _available(descriptor: int) -> bytes | None:
    """What can be read at once; None if nothing comes for a while, and no bytes at the end of the input."""
    chunks: list[bytes] = []
    patience = _SILENCE
    try:
        while len(chunks) * _CHUNK < _BATCH and select.select([descriptor], [], [], patience)[0]:
            chunk = os.read(descriptor, _CHUNK)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
            patience = 0
    except OSError as error:
        raise DataError(f"{STDIN}: cannot be read: {error.strerror or error}") from None
    return b"".join(chunks) if chunks else None


class Reading:
    """Reads batches of lines, and knows how many there were before, and which of them were bad.

    >>> reading = Reading(Columns(), skip_bad=True)
    >>> len(reading.read(b'{"type": "A", "time": 5}\\n')), len(reading.read(b"nothing\\n"))
    (1, 0)
    >>> reading.bad, reading.first_bad[0].line
    (1, 2)
    """

    _KEPT = 3

    def __init__(self, columns: Columns, skip_bad: bool) -> None:
        self.columns = columns
        self.bad = 0
        self.first_bad: list[DataError] = []
        self.types: set[str] = set()
        self._on_bad = self._skip if skip_bad else None
        self._before = 0

    def read(self, content: bytes) -> EventTable:
        """The records of the next lines; of a bad one the error says which line of the whole input it is."""
        try:
            table, _ = read_json_lines(content, STDIN, self.columns, self._on_bad)
        except DataError as error:
            raise self._located(error) from None
        self._before += content.count(b"\n")
        self.types |= {str(name) for name in table.field("type").unique().to_pylist()} - {HEARTBEAT}
        return table

    def good(self, content: bytes, error: DataError) -> bytes:
        """The lines before the bad one."""
        count = 0 if error.line is None else error.line - 1 - self._before
        return b"".join(line + b"\n" for line in content.split(b"\n")[:count])

    def _skip(self, error: DataError) -> None:
        self.bad += 1
        if len(self.first_bad) < self._KEPT:
            self.first_bad.append(self._located(error))

    def _located(self, error: DataError) -> DataError:
        if not isinstance(error.place, FileLine):
            return error
        place = replace(error.place, number=error.place.number + self._before)
        return DataError(error.message, hint=error.hint, place=place)


def _found(detector: Detector, reading: Reading, content: bytes) -> Iterator[Composites]:
    """What these lines complete; what is before a bad line is detected before there is an error."""
    if not content:
        yield detector.wait()
        return
    try:
        table = reading.read(content)
    except DataError as error:
        good = reading.good(content, error)
        if good:
            yield from _found(detector, reading, good)
        raise
    yield from _consumed(detector, table, reading.columns.clock_error)


def _consumed(detector: Detector, table: EventTable, clock_error: int) -> Iterator[Composites]:
    """Events and heartbeats in the order in which they came."""
    is_beat = pc.equal(table.field("type").cast(pa.string()), HEARTBEAT)
    begin = 0
    for row in np.flatnonzero(is_beat).tolist():
        if row > begin:
            yield detector.feed(table.slice(begin, row - begin))
        beat = table.slice(row, 1)
        # Events that follow are as wrong as the heartbeat is: what is promised of their ends is its own.
        at = int(beat.field("lo")[0].as_py()) + 2 * clock_error
        yield detector.heartbeat(beat.field("source")[0].as_py() or "", at)
        begin = row + 1
    if begin < len(table):
        yield detector.feed(table.slice(begin, len(table) - begin))


class Results:
    """Where composites, incomplete runs and late events go, each line as soon as it is known."""

    def __init__(self, request: Request, files: ExitStack) -> None:
        self._found = Growing(request.output, files)
        self._incomplete = Growing(request.incomplete, files) if request.incomplete else None
        self._late = Growing(request.late, files) if request.late else None

    def write(self, found: Composites) -> None:
        """Write what one step of detection gave; who sees a composite can see in the files what led to it."""
        if self._incomplete and found.incomplete is not None and len(found.incomplete):
            self._incomplete.write(json_lines(found.incomplete))
        if self._late and found.late is not None and found.late.num_rows:
            self._late.write(late_lines(found.late))
        if len(found):
            self._found.write(json_lines(found))


class Growing:
    """A file that others may read while it grows, or standard output."""

    def __init__(self, path: Path | None, files: ExitStack) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        if path is not None:
            with self._complaining():
                self._file = files.enter_context(path.open("wb"))

    def write(self, lines: Iterable[str]) -> None:
        """Write these lines now."""
        encoded = (line.encode() for line in lines)
        if self._file is None:
            with output(None) as file:
                file.writelines(encoded)
            return
        with self._complaining():
            self._file.writelines(encoded)
            self._file.flush()

    @contextmanager
    def _complaining(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {error.strerror or error}") from None


def late_lines(late: pa.Table) -> Iterator[str]:
    """Late events as CloudEvents, with the reason and the lateness in microseconds.

    >>> detector = Detector("[A]")
    >>> found = detector.feed([{"type": "A", "source": "a", "id": id, "time": int(id)} for id in "59"])
    >>> late = detector.feed([{"type": "A", "source": "b", "id": "1", "time": 2, "data": {"v": 1}}]).late
    >>> print(*late_lines(late), end="")
    {"specversion": "1.0", "type": "A", "source": "b", "id": "1", "time": "1970-01-01T00:00:00.000002Z", \
"reason": "its source was not known before", "lateness": 7, "data": {"v": 1}}
    """
    own: dict[str, list[Any]] = {
        name: (late[name].cast(pa.int64()) if name in ("lo", "hi") else late[name]).to_pylist() for name in LATE_FIELDS
    }
    columns = {
        _attribute(field.name): column_values(field, late[field.name])
        for field in late.schema
        if field.name not in LATE_FIELDS
    }
    for row in range(late.num_rows):
        type, source, id, seq, lo, hi, reason, lateness = (own[name][row] for name in LATE_FIELDS)
        attributes = present({name: values[row] for name, values in columns.items()})
        values = {name: json_value(value) for name, value in attributes.items()}
        record = to_cloudevent(Event(type, source, id, lo, hi, seq, values))
        data = {"data": record.pop("data")} if "data" in record else {}
        yield json_text(record | {"reason": reason, "lateness": lateness} | data) + "\n"


def _attribute(column: str) -> str:
    """The attribute in a column of late events."""
    return column[:-1] if column.rstrip("_") in LATE_FIELDS else column


class Stall:
    """Tells people at a terminal who is waited for when nothing moves, once each time."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._moved: tuple[int, int] | None = None
        self._since = clock()
        self._told = False

    def look(self, detector: Detector) -> None:
        """See whether anything has moved."""
        if not self._console.is_terminal:
            return
        status = detector.status()
        moved = (status.progress, status.counters.consumed)
        if moved != self._moved or not status.held:
            self._moved, self._since, self._told = moved, self._clock(), False
        elif not self._told and self._clock() - self._since >= _STALL:
            self._console.print(sources_table(status))
            self._told = True


def _say_late(request: Request, status: Status) -> None:
    counters = status.counters
    if counters.late:
        where = f"see {request.late}" if request.late else "--late FILE keeps such events"
        note(f"{counted(counters.late, 'event')} came too late and took no part; {where}")
    if counters.out_of_order:
        note(f"{counted(counters.out_of_order, 'event')} came after later ones that were consumed before")
