"""One detector at work, without any input or output: messages in, composites and progress out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.brokers.protocol import Message
from penstock.brokers.wire import lines_of, read_lines, to_json
from penstock.detection.composites import Composites
from penstock.detection.detector import Detector as Detecting
from penstock.detection.wire import from_record
from penstock.errors import DataError
from penstock.events.instant import instant
from penstock.events.times import EARLIEST
from penstock.network.directory import Detector, EventType
from penstock.network.hosting import detecting
from penstock.network.rates import counted
from penstock.network.schemas import acceptable
from penstock.network.shape import division_of

_PROMISED = "promised"
MOST = 20_000
"""So many records are detected in at a time, so that others get their turn."""


@dataclass(frozen=True)
class Beat:
    """A source has come so far: its later events end after ``at``; or it has left."""

    source: str
    at: int
    left: bool = False

    def to_bytes(self) -> bytes:
        """As it stands in a message.

        >>> Beat.of_bytes(Beat("door-1", 5).to_bytes())
        Beat(source='door-1', at=5, left=False)
        """
        return to_json({"source": self.source, "at": self.at} | ({"left": True} if self.left else {}))

    @classmethod
    def of_bytes(cls, body: bytes) -> Beat:
        """What a message says; an error if it is no heartbeat."""
        try:
            form = json.loads(body)
            return cls(str(form["source"]), instant(form["at"]), bool(form.get("left", False)))
        except DataError:
            raise
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"not a heartbeat: {error}") from None


@dataclass(frozen=True)
class Outcome:
    """What some messages led to: composites, each with its id and as a message's body, and how far the input is."""

    found: list[tuple[str, bytes]] = field(default_factory=list)
    frontier: int | None = None


class Work:
    """A detector at work; what it cannot read is counted by the reason, and does not stop it."""

    def __init__(self, record: Detector, detecting: Detecting, types: Mapping[str, EventType]) -> None:
        self.record = record
        self.detecting = detecting
        self.types = types
        self.rejected: Counter[str] = Counter()
        self.repeated = 0
        self.events = 0
        self._heard: Counter[tuple[str, str]] = Counter()
        self._given: Counter[tuple[str, str]] = Counter()
        self._promised: dict[str, int] = {}
        self._pages: dict[str, bytes] = {}

    @classmethod
    def begin(cls, record: Detector, types: Mapping[str, EventType], clock: Callable[[], int]) -> Work:
        """A detector that has seen nothing."""
        return cls(record, detecting(record, clock), types)

    @classmethod
    def restore(
        cls, record: Detector, pages: Mapping[str, bytes], types: Mapping[str, EventType], clock: Callable[[], int]
    ) -> Work:
        """The detector whose pages these are."""
        kept = {name: page for name, page in pages.items() if name != _PROMISED}
        work = cls(record, Detecting.restore(kept, clock=clock), types)
        for source in set(record.sources) - set(work.detecting.status().names):
            work.know(source)
        work._promised = {str(name): int(at) for name, at in json.loads(pages[_PROMISED]).items()}
        return work

    def save(self) -> dict[str, bytes]:
        """The pages of its state; those that have not changed are the same objects as before."""
        self.detecting.save(self._pages)
        return {**self._pages, _PROMISED: to_json(self._promised)}

    def take(self, messages: Sequence[Message]) -> Outcome:
        """Messages came in: events, composites of other detectors, and heartbeats.

        Events are taken in together, as columns. A heartbeat counts after everything that came with it, which is where
        it stands for its own source, and changes nothing for the others.
        """
        lines: list[bytes] = []
        parts: dict[str, list[Message]] = {}
        beats: dict[str, Beat] = {}
        for message in messages:
            kind = message.topic[1]
            if kind in ("beat", "progress"):
                self._beat(message.body, beats)
            elif kind == "found":
                parts.setdefault(message.topic[2], []).append(message)
            else:
                lines += lines_of(message)
        found: list[Composites] = []
        for start in range(0, len(lines), MOST):
            found += self._feed(lines[start : start + MOST])
        for detector, some in parts.items():
            found += self._deliver(f"penstock/{detector}", some)
        found += self._pass(list(beats.values()))
        return self._outcome(found)

    @property
    def totals(self) -> dict[tuple[str, str], int]:
        """How many events of each source and type were heard, and composites found by this detector as a source."""
        heard = [(name, one.type) for one in self.record.events for name in one.sources]
        given = [(self.record.source, name) for name in self.record.gives]
        return {**dict.fromkeys([*heard, *given], 0), **self._heard, **self._given}

    @property
    def asks_the_clock(self) -> bool:
        """Whether it goes on without anything coming in, by a policy that waits only so long."""
        return self.record.options.policy not in ("best_effort", "guaranteed")

    def wait(self) -> Outcome:
        """Time went on."""
        return self._outcome([self.detecting.wait()])

    def know(self, source: str) -> None:
        """A source has registered since: it is waited for from now on."""
        self.detecting.heartbeat(source, EARLIEST)

    def _beat(self, body: bytes, beats: dict[str, Beat]) -> None:
        try:
            beat = Beat.of_bytes(body)
        except DataError as error:
            self.rejected[error.message] += 1
            return
        known = beats.get(beat.source)
        if known is None or beat.left or beat.at > known.at:
            beats[beat.source] = beat

    def _pass(self, beats: Sequence[Beat]) -> list[Composites]:
        """Heartbeats count together; then those who have left are no longer waited for."""
        promised = {beat.source: beat.at for beat in beats if not beat.left}
        for source, at in promised.items():
            if source.startswith("penstock/"):
                self._promised[source] = max(at, self._promised.get(source, at))
        found = [self.detecting.feed([], heartbeats=promised)] if promised else []
        return found + [self.detecting.leave(beat.source) for beat in beats if beat.left]

    def _feed(self, lines: Sequence[bytes]) -> list[Composites]:
        """What these records complete; one that does not fit the rest is found by halves."""
        bad: Counter[str] = Counter()

        def reject(error: DataError, count: int = 1) -> None:
            bad[error.message] += count

        try:
            heard = {one.type for one in self.record.events}
            table = acceptable(read_lines(lines, reject), self.types, reject, heard)
            found = self.detecting.feed(table)
        except DataError as error:
            if len(lines) == 1:
                self.rejected[error.message] += 1
                return []
            half = len(lines) // 2
            return [*self._feed(lines[:half]), *self._feed(lines[half:])]
        self.rejected += bad
        self.events += len(table)
        if len(table):
            self._heard += counted(table)
        return [found]

    def _deliver(self, source: str, messages: Sequence[Message]) -> list[Composites]:
        """Composites of another detector. One that came back from an older state tells some of them again: they end no
        later than what it had promised before, or than what it has told since, where these come in order."""
        promised = self._promised.get(source)
        last = promised
        records: list[Mapping[str, Any]] = []
        for line in (line for message in messages for line in lines_of(message)):
            try:
                record = json.loads(line)
                end = from_record(record, self._awaited_types)[0].hi
            except (DataError, ValueError) as error:
                self.rejected[f"not a composite: {error}"] += 1
                continue
            if promised is not None and end <= promised:
                self.repeated += 1
            else:
                records.append(record)
                last = end - 1 if last is None else max(last, end - 1)
        if last is not None and self.record.options.policy == "guaranteed":
            self._promised[source] = last
        return [self.detecting.deliver(records, source)] if records else []

    @property
    def _awaited_types(self) -> frozenset[str]:
        return division_of(self.record).elsewhere

    def _outcome(self, steps: Sequence[Composites]) -> Outcome:
        found: list[tuple[str, bytes]] = []
        for one in (one for step in steps for one in step.published):
            found.append((str(one["id"]), to_json(one)))
            self._given[self.record.source, str(one["type"])] += 1
        return Outcome(found, self.detecting.frontier)
