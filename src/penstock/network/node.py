"""A node: a process beside a broker that hosts detectors, and agrees with the others on who hosts which.

There is no master. Every node watches the directory, makes the plan for it, writes down what the plan says of detectors
if nobody has yet, and does what concerns itself: it starts, hands over, takes over and stops detectors. A node says
every now and then that it lives; the others count how long it has been silent.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.brokers.protocol import Broker, Bucket
from penstock.brokers.tasks import end
from penstock.errors import BrokerError, PenstockError
from penstock.network.addresses import (
    ADMINISTRATION,
    DIRECTORY,
    NODES,
    STATES,
    site_stream,
    stream_of,
)
from penstock.network.administration import administer
from penstock.network.agreement import Agreement, Place, Places, View, agree, put_json, write
from penstock.network.detecting import Work
from penstock.network.directory import Detector, Directory, Link, Node, Site
from penstock.network.inputs import inputs_of
from penstock.network.leases import Leases
from penstock.network.liveness import Liveness, bury
from penstock.network.plan import Plan
from penstock.network.planner import plan
from penstock.network.rates import Meter
from penstock.network.records import to_json
from penstock.network.reporting import report_of
from penstock.network.running import SAVE_EVERY, Running
from penstock.network.states import Found, States

_log = logging.getLogger(__name__)
_PAUSE = 0.02
"""Changes of the directory that come so soon after each other, in seconds, are planned for together."""
_RETRY = 0.2
_LONGEST_PAUSE = 30.0
"""A detector that fails again and again is tried no less often than this, in seconds."""


@dataclass(frozen=True)
class Settings:
    """How a node behaves; times are seconds.

    ``beat`` is how often it says that it lives, ``expiry`` how long another may be silent, ``save`` how often states
    are saved, ``directory`` the site whose broker has the directory, if that is not the node's own, ``links``
    those of its site that placement is to know of, ``max_age`` and ``max_bytes`` what the site's stream keeps, and
    ``measure`` over how long rates are measured.
    """

    beat: float = 1.0
    expiry: float = 5.0
    save: float = SAVE_EVERY
    directory: str | None = None
    links: tuple[Link, ...] = ()
    max_age: float = 86_400.0
    max_bytes: int = 1 << 30
    measure: float = 10.0


def _now() -> int:
    return time.time_ns() // 1000


class NetworkNode:
    """A node, from `start` to `stop`."""

    def __init__(
        self,
        broker: Broker,
        site: str,
        name: str | None = None,
        settings: Settings | None = None,
        clock: Callable[[], int] = _now,
    ) -> None:
        self.site = site
        self.name = name or f"{site}-{uuid.uuid4().hex[:8]}"
        self.view = View()
        self.running: dict[str, Running] = {}
        self.counts: Counter[str] = Counter()
        self._broker, self._clock = broker, clock
        self._settings = settings or Settings()
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._failed: dict[str, tuple[int, float]] = {}
        self._leases = Leases(self._settings.beat)
        self._meter = Meter()
        self._measured = time.monotonic()
        self._leaving: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Join the others."""
        settings = self._settings
        await self._broker.keep(site_stream(self.site, settings.max_age, settings.max_bytes))
        self._directory: Bucket = await self._broker.bucket(DIRECTORY, settings.directory)
        self._nodes: Bucket = await self._broker.bucket(NODES, settings.directory)
        self._states = States(await self._broker.bucket(STATES, settings.directory))
        self._liveness = Liveness(self.name, self._nodes, settings.beat, settings.expiry)
        await write(self._directory, Site(self.site))
        for link in settings.links:
            await write(self._directory, link)
        await self._say()
        me = Node(self.name, self.site)
        await agree(self._directory, lambda known: None if me in known.nodes else known.with_node(me))
        work = (self._watch(), self._control(), self._live(), self._administer())
        self._tasks = [asyncio.create_task(one) for one in work]

    async def stop(self) -> None:
        """Leave: everything that runs here is handed over."""
        await end(*self._tasks, *self._leaving)
        for running in list(self.running.values()):
            await running.hand_over()
        self.running.clear()
        await agree(self._directory, lambda known: known.with_node(Node(self.name, self.site, alive=False)))
        await self._nodes.delete(self.name)

    async def kill(self) -> None:
        """End as a process does that is killed: nobody is told, and nothing is saved."""
        await end(*self._tasks, *self._leaving)
        for running in self.running.values():
            await running.stop()
        self.running.clear()

    async def _watch(self) -> None:
        async for entry in self._directory.watch():
            if self.view.take(entry):
                self._changed.set()

    async def _control(self) -> None:
        """Plans and acts whenever something has changed, and again soon after what could not be done."""
        while True:
            await self._changed.wait()
            await asyncio.sleep(_PAUSE)
            self._changed.clear()
            try:
                await self._act()
            except PenstockError as error:
                self._note(error)

    def _note(self, error: PenstockError) -> None:
        """Something could not be done, and is tried again."""
        self.counts["troubles"] += 1
        _log.warning("%s: %s", self.name, error)
        self._again()

    def _again(self) -> None:
        asyncio.get_running_loop().call_later(_RETRY, self._changed.set)

    async def _act(self) -> None:
        directory = self.view.directory
        me = directory.nodes.get(self.name)
        if me is None or not me.alive:
            await agree(self._directory, lambda known: known.with_node(Node(self.name, self.site)))
            return
        planned = plan(directory)
        if dict(planned.detectors) != dict(directory.detectors):
            await self._settle(planned, self.view.agreement)
            return
        for name in list(self.running):
            if name not in planned.detectors or planned.detectors[name].node != self.name:
                await self._let_go(name, is_over=name not in planned.detectors)
        for detector in planned.at(self.name):
            try:
                await self._ensure(detector, directory)
            except PenstockError as error:
                self._note(error)
        await self._tell(planned, directory)

    async def _settle(self, planned: Plan, seen: Agreement) -> None:
        """Writes the plan down, unless what it was made for is no longer so."""

        def wanted(known: Agreement) -> Agreement | None:
            return known.with_detectors(planned.detectors) if known.number == seen.number else None

        await agree(self._directory, wanted)

    async def _let_go(self, name: str, is_over: bool) -> None:
        running = self.running.pop(name)
        if is_over:
            await running.stop()
            await self._states.remove(name)
            await self._directory.delete(f"places/{name}")
            await self._directory.delete(f"rates/{running.work.record.source}")
        else:
            await running.hand_over()

    async def _ensure(self, detector: Detector, directory: Directory) -> None:
        """The detector runs here, and hears what it shall hear."""
        running = self.running.get(detector.name)
        if running is None and time.monotonic() < self._failed.get(detector.name, (0, 0.0))[1]:
            return
        if running is None:
            running = await self._begin(detector, directory)
            if running is None:
                self._again()
                return
        running.has_parents = any(user in directory.detectors for user in detector.users)
        for source in set(detector.sources) - set(running.work.record.sources):
            running.work.know(source)
        running.work.record, running.work.types = detector, directory.types
        if not await running.hear(await inputs_of(detector, directory, self.view, self._broker, running.positions)):
            self._again()

    async def _begin(self, detector: Detector, directory: Directory) -> Running | None:
        """Starts it anew, or goes on from its last state; None if that must wait for somebody."""
        born = self.view.agreement.born.get(detector.name, 0)
        found = await self._states.find(detector.name)
        before = found if found is not None and found.saved.born == born else None
        if any(one.detector not in self.view.places for one in detector.parts):
            return None
        if before is not None:
            if not self._may_take(before, directory):
                return None
            pages = await self._states.read(detector.name, before.saved)
            work = Work.restore(detector, pages, directory.types, self._clock)
            running = self._made(work, born, before.revision)
            running.positions = dict(before.saved.positions)
        else:
            work = Work.begin(detector, directory.types, self._clock)
            running = self._made(work, born, found.revision if found else 0)
            inputs = await inputs_of(detector, directory, self.view, self._broker, None)
            running.positions = {name: one.after for name, one in inputs.items()}
        after = await self._broker.last(stream_of(self.site))
        if not await running.save():
            return None
        await put_json(self._directory, f"places/{detector.name}", to_json(self._places(detector.name, after, before)))
        self.running[detector.name] = running
        running.start(self._ended)
        self.counts["started" if before is None else "taken over"] += 1
        return running

    def _places(self, detector: str, after: int, before: Found | None) -> Places:
        """Where a detector is and was, now that it is here."""
        if before is None:
            return Places((Place(self.site, after),))
        published = {before.saved.site: before.saved.published} if before.saved.site != self.site else {}
        return Places(self.view.places.get(detector, ())).moved(Place(self.site, after, published))

    def _made(self, work: Work, born: int, revision: int) -> Running:
        every = self._settings.save
        return Running(
            work, self._broker, self._states, node=self.name, site=self.site, born=born, revision=revision, every=every
        )

    def _may_take(self, found: Found, directory: Directory) -> bool:
        owner = directory.nodes.get(found.saved.owner)
        return found.saved.released or found.saved.owner == self.name or owner is None or not owner.alive

    def _ended(self, running: Running) -> None:
        """A detector could not go on; it comes back from its last state."""
        if self.running.get(running.name) is running:
            _log.warning("%s: %s ended: %r", self.name, running.name, running.error)
            self.counts["failures"] += 1
            del self.running[running.name]
            leaving = asyncio.create_task(running.stop())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)
            failures = self._failed.get(running.name, (0, 0.0))[0] + 1
            pause = min(_RETRY * 2**failures, _LONGEST_PAUSE)
            self._failed[running.name] = (failures, time.monotonic() + pause)
            asyncio.get_running_loop().call_later(pause, self._changed.set)

    async def _tell(self, planned: Plan, directory: Directory) -> None:
        """Tells subscribers what they shall listen to, once it is there."""
        first = min((one.name for one in directory.nodes.values() if one.alive), default=self.name)
        for name, reason in planned.refused.items():
            if first == self.name:
                await self._told(name, {"refused": reason})
        for name, listening in planned.listening.items():
            hosts = [planned.detectors[one].node for one in listening.detectors]
            if hosts and hosts[0] == self.name:
                await self._told(name, to_json(listening))

    async def _told(self, subscription: str, form: Any) -> None:
        if self.view.told.get(subscription) != form:
            self.view.told[subscription] = form
            await put_json(self._directory, f"told/{subscription}", form)

    async def _live(self) -> None:
        """Says that it lives, and looks whether the others do."""
        while True:
            with contextlib.suppress(BrokerError):
                await self._say()
                for name in await self._liveness.silent(self.view.agreement.nodes):
                    _log.info("%s: %s is silent", self.name, name)
                    await bury(self._directory, name)
                await self._end_leases()
                await self._measure()
            await asyncio.sleep(self._settings.beat)

    async def _end_leases(self) -> None:
        """Removes the subscriptions of clients that say nothing any more."""
        for one in self._leases.over(self.view.subscriptions, self.view.clients):
            _log.info("%s: %s, who subscribed %s, is silent", self.name, one.client, one.name)
            self.counts["leases over"] += 1
            for key in (f"subscriptions/{one.name}", f"told/{one.name}", f"clients/{one.client}"):
                await self._directory.delete(key)

    async def _measure(self) -> None:
        """Writes down, now and then, how much comes from whom, if that is something new."""
        seconds = time.monotonic() - self._measured
        if seconds < self._settings.measure:
            return
        self._measured += seconds
        for rates in self._meter.measure([one.work.totals for one in self.running.values()], seconds):
            await write(self._directory, rates)

    async def _say(self) -> None:
        report = report_of(self.name, self.site, self._clock(), self.running.values(), self.counts)
        await self._nodes.put(self.name, json.dumps(to_json(report), separators=(",", ":")).encode())

    async def _administer(self) -> None:
        """Does what an administrator asks of all nodes; whoever is first does it, for the others it is done."""
        listening = await self._broker.listen([ADMINISTRATION])
        while True:
            for message in await listening.batch():
                try:
                    await administer(self._directory, self.view, message.body)
                except PenstockError as error:
                    self.counts["rejected requests"] += 1
                    _log.warning("%s: %s", self.name, error)
