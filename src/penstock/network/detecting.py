"""One detector at work, without any input or output: messages in, composites and progress out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.brokers.protocol import Message
from penstock.brokers.wire import lines_of, read_lines, to_json
from penstock.detection.composites import Composites
from penstock.detection.detector import Detector as Detecting
from penstock.detection.output import cloudevent
from penstock.errors import DataError
from penstock.events.instant import instant
from penstock.events.times import EARLIEST
from penstock.network.directory import Detector, EventType
from penstock.network.schemas import acceptable

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
    progress: int | None = None
    late: int = 0


class Work:
    """A detector at work; what it cannot read is counted by the reason, and does not stop it."""

    def __init__(self, record: Detector, detecting: Detecting, types: Mapping[str, EventType]) -> None:
        self.record = record
        self.detecting = detecting
        self.types = types
        heard = {one.type for one in record.events}
        self._heard = None if "*" in heard else heard
        self.rejected: Counter[str] = Counter()
        self.events = 0
        self._pages: dict[str, bytes] = {}

    @classmethod
    def begin(cls, record: Detector, types: Mapping[str, EventType], clock: Callable[[], int]) -> Work:
        """A detector that has seen nothing."""
        options = record.options
        detecting = Detecting(
            record.pattern,
            policy=options.policy,
            sources=record.sources,
            context=options.context,
            restart=options.restart,
            zone=options.zone,
            carry=options.carry if options.carry in ("all", "none") else options.carry.split(","),
            only=record.gives,
            clock=clock,
        )
        return cls(record, detecting, types)

    @classmethod
    def restore(
        cls, record: Detector, pages: Mapping[str, bytes], types: Mapping[str, EventType], clock: Callable[[], int]
    ) -> Work:
        """The detector whose pages these are."""
        work = cls(record, Detecting.restore(pages, clock=clock), types)
        work._pages = dict(pages)
        return work

    def save(self) -> Mapping[str, bytes]:
        """The pages of its state; those that have not changed are the same objects as before."""
        self.detecting.save(self._pages)
        return self._pages

    def take(self, messages: Sequence[Message]) -> Outcome:
        """Messages came in, events and heartbeats; a heartbeat counts after the events that came with it."""
        lines: list[bytes] = []
        beats: dict[str, Beat] = {}
        for message in messages:
            if message.topic[1] in ("beat", "progress"):
                self._beat(message.body, beats)
            else:
                lines += lines_of(message)
        found: list[Composites] = []
        for start in range(0, len(lines), MOST):
            found += self._feed(lines[start : start + MOST])
        for beat in beats.values():
            step = self.detecting.leave(beat.source) if beat.left else self.detecting.heartbeat(beat.source, beat.at)
            found.append(step)
        return self._outcome(found)

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

    def _feed(self, lines: Sequence[bytes]) -> list[Composites]:
        """What these records complete; one that does not fit the rest is found by halves."""
        bad: Counter[str] = Counter()

        def reject(error: DataError, count: int = 1) -> None:
            bad[error.message] += count

        try:
            table = acceptable(read_lines(lines, reject), self.types, reject, self._heard)
            found = self.detecting.feed(table)
        except DataError as error:
            if len(lines) == 1:
                self.rejected[error.message] += 1
                return []
            half = len(lines) // 2
            return [*self._feed(lines[:half]), *self._feed(lines[half:])]
        self.rejected += bad
        self.events += len(table)
        return [found]

    def _outcome(self, steps: Sequence[Composites]) -> Outcome:
        found = [(one.id, to_json(cloudevent(one))) for step in steps for one in step]
        late = sum(step.late.num_rows for step in steps if step.late is not None)
        progress = self.detecting.status().progress
        return Outcome(found, progress - 1 if progress > EARLIEST else None, late)
