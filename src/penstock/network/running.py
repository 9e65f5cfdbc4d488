"""A detector at a node: reads the streams that it needs, detects, publishes, and saves its state now and then.

What it has found is with the broker before its state says that it was found. So after a failure nothing is lost, and
what is found again has the same id, by which the broker, or else whoever hears it, knows it.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from penstock.brokers.protocol import Broker, Following, Message
from penstock.brokers.tasks import end
from penstock.brokers.topics import Topic
from penstock.brokers.wire import batch, packed
from penstock.errors import StateError
from penstock.network.addresses import found_topic, progress_topic, stream_of
from penstock.network.detecting import Beat, Outcome, Work
from penstock.network.states import Saved, States

SAVE_EVERY = 5.0
WAIT = 0.1
"""Policies that look at the clock are asked this often, in seconds."""
FEW = 64
"""As many composites are published one by one; more, in batches."""
_TOGETHER = 256
_MEASURED = 1024


@dataclass(frozen=True)
class Input:
    """A stream that is read: some topics of a site, from a number on.

    ``requires`` are numbers that other inputs must have come to before: what a detector published elsewhere, before it
    went on here.
    """

    site: str
    topics: tuple[Topic, ...]
    after: int = 0
    requires: Mapping[str, int] = field(default_factory=dict)


@dataclass
class _Reading:
    """An input that is read; ``position`` is where a reader would have to go on that comes after this one."""

    topics: tuple[Topic, ...]
    following: Following
    position: int
    task: asyncio.Task[None] | None = None


@dataclass
class Measures:
    """How a detector does: events and composites so far, and how long batches took, in seconds."""

    events: int = 0
    found: int = 0
    saved: int = 0
    took: deque[float] = field(default_factory=lambda: deque(maxlen=_MEASURED))


class Running:
    """A detector that runs."""

    def __init__(
        self,
        work: Work,
        broker: Broker,
        states: States,
        *,
        node: str,
        site: str,
        born: int,
        revision: int,
        every: float = SAVE_EVERY,
    ) -> None:
        self.work = work
        self.measures = Measures()
        self.has_parents = False
        """Whether other detectors hear this one, and want to know how far it is."""
        self.positions: dict[str, int] = {}
        self.error: BaseException | None = None
        self._broker, self._states = broker, states
        self._node, self._site, self._born, self._revision, self._every = node, site, born, revision, every
        self._inputs: dict[str, _Reading] = {}
        self._queue: asyncio.Queue[tuple[str, int, list[Message]]] = asyncio.Queue(maxsize=8)
        self._published = 0
        self._shown: int | None = None
        self._changed = False
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        self._saving: asyncio.Task[bool] | None = None

    @property
    def name(self) -> str:
        """The detector's name."""
        return self.work.record.name

    @property
    def lost(self) -> int:
        """Messages that streams no longer had when they were to be read."""
        return sum(one.following.lost for one in self._inputs.values())

    @property
    def waits(self) -> list[str]:
        """Inputs whose streams cannot be reached."""
        return sorted(name for name, one in self._inputs.items() if one.following.waits)

    async def hear(self, inputs: Mapping[str, Input]) -> bool:
        """Read these inputs; says whether all are read, for one may have to wait until others have come far enough."""
        for name, one in inputs.items():
            known = self._inputs.get(name)
            if known is not None and known.topics == one.topics:
                continue
            if known is not None:
                await self._end(known)
            elif not self._has_read(one.requires):
                continue
            await self._read(name, one, self.positions.setdefault(name, one.after) if known is None else known.position)
        return all(name in self._inputs for name in inputs)

    def _has_read(self, required: Mapping[str, int]) -> bool:
        return all(self.positions.get(name, number) >= number for name, number in required.items())

    async def _read(self, name: str, one: Input, after: int) -> None:
        following = await self._broker.follow(stream_of(one.site), one.topics, after, one.site)
        reading = self._inputs[name] = _Reading(one.topics, following, after)
        reading.task = asyncio.create_task(self._pump(name, reading))

    async def _pump(self, name: str, reading: _Reading) -> None:
        while True:
            messages = await reading.following.batch()
            await self._queue.put((name, reading.following.position, messages))
            reading.position = reading.following.position

    async def _end(self, reading: _Reading) -> None:
        await end(reading.task)
        await reading.following.stop()

    def start(self, ended: Callable[[Running], None]) -> None:
        """Detect from now on."""
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(lambda task: self._over(task, ended))

    def _over(self, task: asyncio.Task[None], ended: Callable[[Running], None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self.error = task.exception()
            ended(self)

    async def _run(self) -> None:
        saved = time.monotonic()
        while not self._stopping:
            await self._step(await self._arrived())
            if self._saving is not None and self._saving.done() and not self._saving.result():
                raise StateError(f"{self.name} was taken over by another node")
            if self._changed and time.monotonic() - saved >= self._every and self._may_save():
                self._saving = asyncio.create_task(self.save())
                saved = time.monotonic()

    def _may_save(self) -> bool:
        return self._saving is None or self._saving.done()

    async def _arrived(self) -> list[Message] | None:
        """All that has come from all inputs; None if nothing came for a while."""
        try:
            async with asyncio.timeout(WAIT):
                name, position, messages = await self._queue.get()
        except TimeoutError:
            return None
        messages = list(messages)
        self.positions[name] = position
        while not self._queue.empty():
            name, position, more = self._queue.get_nowait()
            messages += more
            self.positions[name] = position
        return messages

    async def _step(self, messages: list[Message] | None) -> None:
        began = time.perf_counter()
        if messages is None and not self.work.asks_the_clock:
            return
        outcome = self.work.wait() if messages is None else self.work.take(messages)
        await self._publish(outcome)
        if messages is not None:
            self._changed = True
            self.measures.took.append(time.perf_counter() - began)
        self.measures.events = self.work.events
        self.measures.found += len(outcome.found)

    async def _publish(self, outcome: Outcome) -> None:
        """What was found, then how far the input is: whoever hears the second has heard the first.

        Other detectors must hear composites in order, also if a broker goes away in between: one message goes after the
        other. Subscribers hear the same in any order.
        """
        topic = found_topic(self._site, self.name)
        found = outcome.found
        together = 1 if len(found) <= FEW and not self.has_parents else _TOGETHER
        groups = [found[start : start + together] for start in range(0, len(found), together)]
        at_once = 1 if self.has_parents else FEW
        for start in range(0, len(groups), at_once):
            await asyncio.gather(*(self._send(topic, group) for group in groups[start : start + at_once]))
        if self.has_parents and outcome.frontier is not None and outcome.frontier != self._shown:
            self._shown = outcome.frontier
            beat = Beat(self.work.record.source, outcome.frontier)
            self._told(await self._broker.publish(progress_topic(self._site, self.name), beat.to_bytes()))

    async def _send(self, topic: Topic, group: list[tuple[str, bytes]]) -> None:
        ids = [id for id, _ in group]
        id = ids[0] if len(ids) == 1 else hashlib.sha256(" ".join(ids).encode()).hexdigest()[:32]
        body, headers = packed(batch([body for _, body in group]))
        self._told(await self._broker.publish(topic, body, id=f"{self.name} {id}", headers=headers))

    def _told(self, number: int) -> None:
        self._published = max(self._published, number)

    async def save(self, released: bool = False) -> bool:
        """Save the state; says whether it is still this node's to save."""
        positions, pages = dict(self.positions), self.work.save()
        saved = Saved(self._node, self._site, self._born, positions, self._published, released=released)
        self._changed = False
        revision = await self._states.write(self.name, saved, pages, self._revision)
        if revision is None:
            return False
        self._revision = revision
        self.measures.saved += 1
        return True

    async def stop(self) -> None:
        """Detect no more; nothing of what was published is undone."""
        await end(self._task, self._saving)
        for reading in self._inputs.values():
            await self._end(reading)

    async def hand_over(self) -> None:
        """Stop at a position, and leave the state for another node to go on."""
        self._stopping = True
        for task in (self._task, self._saving):
            if task is not None:
                await asyncio.wait([task])
        await self.stop()
        if self.error is None:
            await self.save(released=True)
        self._states.left(self.name)
