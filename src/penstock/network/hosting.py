"""A detector at a node, without input and output: what it reads goes in, and what it publishes comes out.

Whoever hosts a detector reads the streams that its record names (`directory.Detector.sources`), each from a position
that it remembers, and publishes what `Outcome` says: first the composites, then how far the detector has come. That is
all that is needed for exact results, whatever fails:

- A *stream* is what one source or one detector has published, in that order, with rising positions. `Hosted.take` is
  told where in a stream each batch stands, and leaves out what it has read before.
- The *state* (`Hosted.snapshot`) has the detector and all positions, so that a detector that moves or comes back goes on
  exactly there, from what the brokers have kept.
- A detector that comes back from an older state publishes some composites again, with the same ids. Whoever hears it
  knows them: they end no later than what the detector had promised before (`Hosted.repeated`), or are held with the
  same source and id. Subscribers remember ids.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.detection.composites import Composites
from penstock.detection.detector import Detector as Detecting
from penstock.detection.wire import from_record
from penstock.events.saved import pack, unpack
from penstock.network.directory import Detector
from penstock.network.shape import division_of

_STATE = "hosted detector"


@dataclass(frozen=True)
class Heartbeat:
    """A source, or a detector, promises that what it publishes later ends after ``at``."""

    at: int


Published = Heartbeat | Mapping[str, Any]
"""What stands in a stream: records of events or composites, and heartbeats."""


@dataclass(frozen=True)
class Outcome:
    """What to publish: composites, then how far the detector is, if it has come further."""

    records: tuple[Mapping[str, Any], ...] = ()
    frontier: int | None = None
    late: int = 0


def detecting(record: Detector, clock: Callable[[], int]) -> Detecting:
    """The detector that a record describes, at its beginning.

    >>> one = Detector("d", "[A] ; [B]", ("composite",), "n")
    >>> detecting(one, lambda: 0).frontier is None
    True
    """
    options = record.options
    return Detecting(
        record.pattern,
        policy=options.policy,
        sources=record.sources,
        context=options.context,
        restart=options.restart,
        zone=options.zone,
        carry=options.carry if options.carry in ("all", "none") else options.carry.split(","),
        only=record.gives,
        clock=clock,
        division=division_of(record),
    )


class Hosted:
    """A detector that reads streams.

    >>> hosted = Hosted.begin(Detector("d", "[A]", ("composite",), "n"), lambda: 0)
    >>> event = {"type": "A", "source": "s", "id": "1", "time": 5}
    >>> [record["type"] for record in hosted.take("s", 1, [event, Heartbeat(7)]).records]
    ['composite']
    >>> again = Hosted.restore(hosted.record, hosted.snapshot(), lambda: 0)
    >>> again.take("s", 1, [event]).records, again.positions
    ((), {'s': 2})
    """

    def __init__(self, record: Detector, detector: Detecting, positions: dict[str, int]) -> None:
        self.record = record
        self.detector = detector
        self.positions = positions
        self.repeated = 0
        self._promised: dict[str, int] = {}
        self._told: int | None = None
        self._parts = {f"penstock/{one.detector}" for one in record.parts}

    @classmethod
    def begin(cls, record: Detector, clock: Callable[[], int], positions: Mapping[str, int] | None = None) -> Hosted:
        """A detector that has seen nothing; ``positions`` are those up to which streams are not for it."""
        return cls(record, detecting(record, clock), dict(positions or {}))

    @classmethod
    def restore(cls, record: Detector, state: bytes, clock: Callable[[], int]) -> Hosted:
        """The detector whose state this is."""
        values = unpack(_STATE, state)
        hosted = cls(record, Detecting.restore(values["detector"].tobytes(), clock=clock), dict(values["positions"]))
        hosted._promised = dict(values["promised"])
        return hosted

    def snapshot(self) -> bytes:
        """Everything, to go on from there; nothing that was published before is forgotten by going back to it."""
        body = np.frombuffer(self.detector.snapshot(), np.uint8)
        return pack(_STATE, {"detector": body, "positions": self.positions, "promised": self._promised})

    def take(self, stream: str, first: int, items: Sequence[Published]) -> Outcome:
        """Items of a stream came, whose positions begin with ``first``; those that were read before are left out."""
        known = self.positions.get(stream, 0)
        fresh = items[max(0, known + 1 - first) :]
        self.positions[stream] = max(known, first + len(items) - 1)
        found: list[Composites] = []
        for batch in _batches(fresh):
            found += self._consume(stream, batch)
        return self._outcome(found)

    def wait(self) -> Outcome:
        """Time went on."""
        return self._outcome([self.detector.wait()])

    def _consume(self, stream: str, batch: Heartbeat | list[Mapping[str, Any]]) -> list[Composites]:
        if isinstance(batch, Heartbeat):
            self._promised[stream] = max(batch.at, self._promised.get(stream, batch.at))
            return [self.detector.heartbeat(stream, batch.at)]
        if stream not in self._parts:
            return [self.detector.feed(batch)]
        fresh = self._unheard(stream, batch)
        return [self.detector.deliver(fresh, stream)] if fresh else []

    def _unheard(self, stream: str, batch: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Composites that the detector had not promised to have published already."""
        promised = self._promised.get(stream)
        known = division_of(self.record).elsewhere
        fresh = [one for one in batch if promised is None or from_record(one, known)[0].hi > promised]
        self.repeated += len(batch) - len(fresh)
        return fresh

    def _outcome(self, found: Sequence[Composites]) -> Outcome:
        records = tuple(record for one in found for record in one.published)
        late = sum(one.late.num_rows for one in found if one.late is not None)
        frontier = self.detector.frontier
        is_news = frontier is not None and frontier != self._told
        self._told = frontier
        return Outcome(records, frontier if is_news else None, late)


def _batches(items: Sequence[Published]) -> list[Heartbeat | list[Mapping[str, Any]]]:
    """Records that follow each other together, and heartbeats in their place."""
    found: list[Heartbeat | list[Mapping[str, Any]]] = []
    for item in items:
        if isinstance(item, Heartbeat):
            found.append(item)
        elif found and isinstance(found[-1], list):
            found[-1].append(item)
        else:
            found.append([item])
    return found
