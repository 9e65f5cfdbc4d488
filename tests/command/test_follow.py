"""``penstock detect --follow``: what comes out while the input is still open, by each policy."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Run = Callable[..., CompletedProcess[str]]
PAIR = "[Open(door = $d)] ; [Close(door = $d)]"
SECONDS = 60
FILES = ("found.jsonl", "left.jsonl")


def line(type: str, second: int, source: str = "door-1", **data: Any) -> str:
    time = f"2026-03-02T09:{second // 60:02}:{second % 60:02}Z"
    record = {"type": type, "source": source, "id": f"{type}-{second}", "time": time}
    return json.dumps(record | ({"data": data} if data else {})) + "\n"


def beat(second: int, source: str) -> str:
    return line("penstock.heartbeat", second, source)


class Followed:
    """A process that follows its standard input, and the lines that it has written so far."""

    def __init__(self, arguments: tuple[str, ...], folder: Path, environment: dict[str, str], stderr: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "penstock", "detect", *arguments, "--follow"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            encoding="utf-8",
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._collector = threading.Thread(target=self._collect, daemon=True)
        self._collector.start()

    def _collect(self) -> None:
        assert self.process.stdout
        for one in self.process.stdout:
            self._lines.put(one)
        self._lines.put("")

    def write(self, *lines: str) -> None:
        assert self.process.stdin
        self.process.stdin.write("".join(lines))
        self.process.stdin.flush()

    def parts(self) -> list[str]:
        """The ids of the parts of the next composite, which must come while the input is open."""
        text = self._lines.get(timeout=SECONDS)
        assert text, self.process.stderr and self.process.stderr.read()
        return [part["id"] for part in json.loads(text)["data"]["parts"]]

    def end(self) -> tuple[int, list[str], str]:
        """Ends the input: the exit status, the lines not asked for yet, and standard error."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.rest()

    def rest(self) -> tuple[int, list[str], str]:
        lines = list(iter(lambda: self._lines.get(timeout=SECONDS), ""))
        said = self.process.stderr.read() if self.process.stderr else ""
        return self.process.wait(SECONDS), lines, said

    def stop(self) -> None:
        self.process.kill()
        self._collector.join()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


@pytest.fixture
def follow(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[..., Followed]]:
    started: list[Followed] = []

    def start(*arguments: str, stderr: int = subprocess.PIPE) -> Followed:
        started.append(Followed(arguments, tmp_path, environment, stderr))
        return started[-1]

    yield start
    for one in started:
        one.stop()


OPEN, CLOSE = line("Open", 1, door="D1"), line("Close", 5, door="D1")


def test_a_composite_comes_once_it_is_stable_and_before_the_input_ends(follow: Callable[..., Followed]) -> None:
    followed = follow(PAIR)
    followed.write(OPEN, CLOSE, line("Open", 9, door="D1"))
    assert followed.parts() == ["Open-1", "Close-5"]
    followed.write(line("Close", 12, door="D1"), line("Open", 13, door="D2"))
    assert followed.parts() == ["Open-9", "Close-12"]
    assert followed.end() == (0, [], "")


def test_what_is_held_comes_at_the_end(follow: Callable[..., Followed]) -> None:
    followed = follow(PAIR)
    followed.write(OPEN, CLOSE.rstrip("\n"))
    status, lines, said = followed.end()
    assert (status, len(lines), said) == (0, 1, "")


def test_one_source_in_order_gives_the_lines_that_a_file_gives(penstock: Run) -> None:
    lines = [line("Open" if n % 3 else "Close", n, door=f"D{n % 2}", n=n) for n in range(60)]
    whole = penstock("detect", PAIR, "--until", "2026-03-02T10:00:00Z", stdin="".join(lines))
    followed = penstock("detect", PAIR, "--until", "2026-03-02T10:00:00Z", "--follow", stdin="".join(lines))
    assert whole.stdout
    assert (followed.returncode, followed.stdout, followed.stderr) == (0, whole.stdout, "")


def test_a_heartbeat_moves_what_waits_for_its_source_and_is_never_matched(follow: Callable[..., Followed]) -> None:
    followed = follow("[Open] ; [Close]")
    followed.write(beat(0, "badge-7"), OPEN, CLOSE, line("Open", 9), beat(5, "badge-7"))
    assert followed.parts() == ["Open-1", "Close-5"]
    assert followed.end() == (0, [], "")


def test_without_its_heartbeat_a_source_is_waited_for(follow: Callable[..., Followed]) -> None:
    followed = follow(PAIR, "--late", "late.jsonl")
    followed.write(beat(0, "door-2"), OPEN, CLOSE, line("Open", 9, door="D1"))
    followed.write(line("Open", 2, "door-2", door="D2"), line("Close", 4, "door-2", door="D2"), beat(6, "door-2"))
    assert followed.parts() == ["Open-2", "Close-4"]
    assert followed.parts() == ["Open-1", "Close-5"]
    assert followed.end() == (0, [], "")


@pytest.mark.parametrize("policy", ["best_effort", "guaranteed(max_wait=100 ms)"])
def test_policies_that_do_not_wait_for_a_silent_source(follow: Callable[..., Followed], policy: str) -> None:
    followed = follow(PAIR, "--policy", policy)
    followed.write(beat(0, "badge-7"), OPEN, CLOSE)
    assert followed.parts() == ["Open-1", "Close-5"]
    assert followed.end() == (0, [], "")


def test_a_delay_is_over_once_a_later_stamp_was_seen(follow: Callable[..., Followed]) -> None:
    followed = follow(PAIR, "--policy", "delay(3 s)")
    lines = (beat(0, "badge-7"), OPEN, CLOSE, line("Open", 9, door="D1"))
    followed.write(*(one.replace("2026-", "2096-") for one in lines))  # the clock is not ahead of these
    assert followed.parts() == ["Open-1", "Close-5"]
    assert followed.end() == (0, [], "")


def test_the_probabilistic_policy_finds_all_in_the_end(penstock: Run) -> None:
    result = penstock("detect", PAIR, "--follow", "--policy", "probabilistic(0.9)", stdin=OPEN + CLOSE)
    assert (result.returncode, result.stdout.count("\n"), result.stderr) == (0, 1, "")


def test_late_events_are_written_at_once_with_reason_and_lateness(
    follow: Callable[..., Followed], tmp_path: Path
) -> None:
    followed = follow(PAIR, "--late", "late.jsonl")
    followed.write(OPEN, CLOSE, line("Open", 9, door="D1"))
    assert followed.parts() == ["Open-1", "Close-5"]
    followed.write(line("Open", 3, "door-2", door="D2"), line("Open", 10, "door-2", door="D3"))
    followed.write(line("Close", 12, "door-2", door="D1"), line("Close", 14, door="D4"))
    assert followed.parts() == ["Open-9", "Close-12"]
    assert (tmp_path / "late.jsonl").read_text() == (
        '{"specversion": "1.0", "type": "Open", "source": "door-2", "id": "Open-3", "time": "2026-03-02T09:00:03Z", '
        '"reason": "its source was not known before", "lateness": 6000000, "data": {"door": "D2"}}\n'
    )
    assert followed.end() == (0, [], "note: 1 event came too late and took no part; see late.jsonl\n")


def test_a_source_that_is_named_is_waited_for_from_the_beginning(penstock: Run) -> None:
    lines = "".join([OPEN, CLOSE, line("Open", 3, "door-2", door="D2"), line("Close", 9, "door-2", door="D2")])
    found = penstock("detect", PAIR, "--follow", "--source", "door-1", "--source", "door-2", stdin=lines)
    assert (found.returncode, found.stdout.count("\n"), found.stderr) == (0, 2, "")


def test_late_and_repeated_events_are_counted(penstock: Run) -> None:
    lines = [OPEN, OPEN, CLOSE, beat(9, "door-1"), line("Open", 3, "door-2", door="D2")]
    result = penstock("detect", PAIR, "--follow", stdin="".join(lines))
    assert result.returncode == 0
    assert result.stderr.splitlines() == [
        "note: left out 1 repeated event (same source and id)",
        "note: 1 event came too late and took no part; --late FILE keeps such events",
    ]


def test_what_came_before_a_bad_line_is_out(follow: Callable[..., Followed]) -> None:
    followed = follow(PAIR)
    followed.write(OPEN, CLOSE, line("Open", 9, door="D1"))
    assert followed.parts() == ["Open-1", "Close-5"]
    followed.write(line("Close", 12, door="D1"), line("Open", 13, door="D1"), '{"type": "Open"\n', OPEN)
    assert followed.parts() == ["Open-9", "Close-12"]
    status, lines, said = followed.rest()
    assert (status, lines) == (3, [])
    assert said.startswith("error: standard input, line 6, column 16: not valid JSON")


def test_the_first_of_several_bad_lines_is_told(penstock: Run) -> None:
    result = penstock("detect", PAIR, "--follow", stdin=OPEN + '{"type": "Open"}\n' + "{\n")
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith("error: standard input, line 2, column 1: ")


def test_bad_lines_are_skipped_and_counted(penstock: Run) -> None:
    bad = "".join(f"bad {n}\n" for n in range(4))
    result = penstock("detect", PAIR, "--follow", "--skip-bad", stdin=OPEN + bad + CLOSE)
    assert (result.returncode, result.stdout.count("\n")) == (0, 1)
    said = result.stderr.splitlines()
    assert (said[0], said[-1]) == ("note: skipped 4 bad records:", "  and 1 more")
    assert said[1].startswith("  standard input, line 2, column 1: ")


def test_files_grow_while_the_input_is_open(follow: Callable[..., Followed], tmp_path: Path) -> None:
    followed = follow("[Open] ; [Close] within 6 s", "--output", "found.jsonl", "--incomplete", "left.jsonl")
    followed.write(OPEN, CLOSE, line("Open", 9), line("Open", 20), line("Open", 21))
    while not all((tmp_path / name).is_file() and (tmp_path / name).read_text() for name in FILES):
        assert followed.process.poll() is None
        time.sleep(0.05)
    assert followed.end() == (0, [], "")
    assert (tmp_path / "found.jsonl").read_text().count("\n") == 1


def test_an_interruption_ends_the_input(follow: Callable[..., Followed]) -> None:
    followed = follow(PAIR)
    followed.write(OPEN, CLOSE, line("Open", 9, door="D1"))
    assert followed.parts() == ["Open-1", "Close-5"]
    followed.write(line("Close", 10, door="D1"), '{"type": "Op')
    time.sleep(1)
    followed.process.send_signal(signal.SIGINT)
    status, lines, said = followed.rest()
    assert (status, len(lines), said) == (0, 1, "")


def test_people_are_told_who_holds_everything_up(follow: Callable[..., Followed]) -> None:
    ours, theirs = pty.openpty()
    followed = follow(PAIR, stderr=theirs)
    os.close(theirs)
    followed.write(beat(0, "badge-7"), OPEN, CLOSE)
    said = b""
    while b"holds up" not in said:
        said += os.read(ours, 4096)
    assert b"badge-7" in said
    assert followed.end()[0] == 0
    os.close(ours)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "delay(5 s)"], "error: --policy is for input that is followed\nhint: add --follow"),
        (["--source", "door-1"], "error: --source is for input that is followed\nhint: add --follow"),
        (["--late", "late.jsonl"], "error: --late is for input that is followed\nhint: add --follow"),
        (["--follow", "--policy", "garanteed"], "error: --policy: 'garanteed' is no policy\nhint: did you mean"),
        (["--follow", "--policy", "delay(soon)"], "error: --policy: delay: "),
        (["--follow", "--late", "late.csv"], "error: --late: late.csv cannot grow with --follow"),
        (["--follow", "--output", "f.parquet"], "error: --output: f.parquet cannot grow with --follow"),
        (["--follow", "--output", "f.jsonl", "--late", "f.jsonl"], "error: --output and --late name the same file"),
        (["--follow", "--format", "table"], "error: --follow writes JSON lines, not a table"),
        (["--follow", "doors.jsonl"], "error: --follow reads standard input, not files"),
    ],
)
def test_options_that_do_not_fit(penstock: Run, arguments: list[str], message: str) -> None:
    result = penstock("detect", PAIR, *arguments, stdin=OPEN)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(message)
