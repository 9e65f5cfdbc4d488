"""A network in virtual time: sites, links that are cut, nodes that die, detectors that move, streams that are kept.

Everything that decides is the product's own: the planner says what runs where, a node's `Work` detects, `naming` gives
composites their names back. What is simulated are the brokers, which keep streams, and all that can go wrong.
"""

import json
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import penstock as ps
from penstock.brokers.protocol import Message
from penstock.brokers.wire import to_json
from penstock.events.cloudevents import to_cloudevent
from penstock.events.event import Event
from penstock.languages.core.printer import print_pattern
from penstock.network.detecting import Beat, Outcome, Work
from penstock.network.directory import Detector, Directory, Link, Node, Options, Site, Source, Subscription
from penstock.network.naming import delivered
from penstock.network.placement import distances
from penstock.network.plan import Plan
from penstock.network.planner import plan
from penstock.testing.generate import meaningful_pattern
from tests.network.divided import as_dicts, without_any

SECOND = 1_000_000
TYPES = "ABCD"
POOL = (
    "[A(k = $a)] ; [B(k = $a)]",
    "[A(k = $b)] ; [B(k = $b)] ; [C]",
    "([A(k = $b)] ; [B($b = k)]) || [D(k = $b)]",
    "Pair := [A(k = $z)] ; [B(k = $z)]\n([Pair(z = $q)], [T in {T, C}]){T = 2 s}",
    "Met := x: [A] [C(v >= 1 OR NOT v < 1)]\n[Met] ; ([B] | [D])",
    "Met := [C] ; [D]\nLong := [Met] ; [A]\n[Met] ; [B] within 5 s",
    "([A] | [B]) ; [C] ; [D]",
    "([B] | [A]) ; [C] ; [A]",
)
POLICIES = ("hash", "minimum_bandwidth", "minimum_latency")


@dataclass
class Reader:
    """A subscriber: what it has heard, each id once."""

    positions: dict[str, int] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    repeated: int = 0


@dataclass
class Hosted:
    """A detector at a node, and how far it has read each stream."""

    work: Work
    positions: dict[str, int] = field(default_factory=dict)
    told: int | None = None

    @property
    def record(self) -> Detector:
        return self.work.record

    def take(self, stream: str, first: int, messages: list[Message]) -> Outcome:
        """Messages of a stream came, whose positions begin with ``first``; those read before are left out."""
        known = self.positions.get(stream, 0)
        self.positions[stream] = max(known, first + len(messages) - 1)
        types = {one.type for one in self.record.events}
        fresh = messages[max(0, known + 1 - first) :]
        return self.work.take([one for one in fresh if one.topic[1] != "event" or one.topic[2] in types])

    def save(self) -> "Saved":
        return Saved(dict(self.work.save()), dict(self.positions))


@dataclass
class Saved:
    """A detector's state: pages, and how far it had read."""

    pages: dict[str, bytes]
    positions: dict[str, int]


@dataclass
class World:
    """A network at some moment."""

    random: Random
    directory: Directory = field(default_factory=Directory)
    streams: dict[str, list[Message]] = field(default_factory=dict)
    hosted: dict[tuple[str, str], Hosted] = field(default_factory=dict)
    states: dict[str, Saved] = field(default_factory=dict)
    readers: dict[str, Reader] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    events: list[Event] = field(default_factory=list)
    planned: Plan = field(default_factory=Plan)
    zombies: list[tuple[str, Hosted]] = field(default_factory=list)
    now: int = SECOND

    def build(self) -> None:
        """Sites in a tree with a few more links, nodes, sources and subscriptions."""
        random = self.random
        sites = [f"site-{n}" for n in range(random.randint(1, 4))]
        self.directory = self.directory.put(*map(Site, sites))
        for number, site in enumerate(sites[1:], 1):
            self.directory = self.directory.put(Link(sites[random.randrange(number)], site, random.randint(1, 9)))
        for number in range(random.randint(2, 4)):
            self.directory = self.directory.put(Node(f"n{number}", random.choice(sites)))
        for name in ("s", "t", "u"):
            types = tuple(sorted(random.sample(TYPES, random.randint(1, 4))))
            self.directory = self.directory.put(Source(name, random.choice(sites), types))
            self.streams[name] = []
        options = Options(context=random.choice(["continuous"] * 5 + ["chronicle", "recent", "cumulative"]))
        for number in range(random.randint(1, 4)):
            text = self.pattern()
            site, policy = random.choice(sites), random.choice(POLICIES)
            self.directory = self.directory.put(Subscription(f"sub-{number}", text, site, options, policy))
        self.control()

    def pattern(self) -> str:
        """One of a pool whose members share parts, or any."""
        if self.random.random() < 0.7:
            return self.random.choice(POOL)
        return print_pattern(without_any(meaningful_pattern(self.random.choice)))

    def control(self) -> None:
        """Follows the plan: what shall run at a node that lives runs there."""
        self.planned = plan(self.directory)
        again = plan(replace(self.directory, detectors=self.planned.detectors))
        assert again.detectors == self.planned.detectors, "a plan that is followed is followed already"
        for name in self.planned.stopped:
            self.states.pop(name, None)
        for node, name in list(self.hosted):
            if name not in self.planned.detectors:
                del self.hosted[node, name]
        for detector in self.planned.detectors.values():
            self.ensure(detector)
            self.streams.setdefault(detector.source, [])
        self.directory = replace(self.directory, detectors=self.planned.detectors)
        for name, listening in self.planned.listening.items():
            reader = self.readers.setdefault(name, Reader())
            for one in listening.detectors:
                reader.positions.setdefault(one, len(self.streams[f"penstock/{one}"]))

    def ensure(self, detector: Detector) -> None:
        """A detector runs at its node: it is handed over, comes back from its state, or is new."""
        for (node, name), hosted in list(self.hosted.items()):
            if name == detector.name and node != detector.node:
                self.states[name] = hosted.save()
                del self.hosted[node, name]
        key = (detector.node, detector.name)
        if key in self.hosted:
            self.hosted[key].work.record = detector
            return
        if detector.name in self.states:
            saved = self.states[detector.name]
            work = Work.restore(detector, saved.pages, {}, self.clock)
            self.hosted[key] = Hosted(work, dict(saved.positions))
            return
        positions = {name: len(self.streams.get(name, ())) for name in detector.sources}
        self.hosted[key] = Hosted(Work.begin(detector, {}, self.clock), positions)
        self.states[detector.name] = self.hosted[key].save()

    def clock(self) -> int:
        return self.now

    def connected(self, one: str, other: str) -> bool:
        whole = {name: link for name, link in self.directory.links.items() if name not in self.cut}
        return other in distances(replace(self.directory, links=whole), one, lambda _: 1.0)

    def publish(self) -> None:
        """A source publishes an event, or says that it has nothing to say."""
        source = self.directory.sources[self.random.choice(["s", "t", "u"])]
        if self.random.random() < 0.4:
            self.beat(source, self.now - SECOND)
            return
        self.now += self.random.choice([0, 0, SECOND // 2, SECOND])
        attributes = {"v": self.random.choice([None, 0, 1, 2]), "k": self.random.choice([1, 1, 2, None])}
        lo = self.now - self.random.choice([0, 0, SECOND])
        known = {name: value for name, value in attributes.items() if value is not None}
        number = len(self.events)
        event = Event(self.random.choice(source.types), source.name, f"{number:03}", lo, self.now, number, known)
        last = [one for one in self.events if one.source == source.name]
        if last and event.weak_key < last[-1].weak_key:
            event = replace(event, lo=event.hi)
        self.events.append(event)
        body = to_json(to_cloudevent(event))
        self.streams[source.name].append(Message((source.site, "event", event.type), body))

    def beat(self, source: Source, at: int) -> None:
        body = Beat(source.name, at).to_bytes()
        self.streams[source.name].append(Message((source.site, "beat", source.types[0]), body))

    def deliver(self, everything: bool = False) -> bool:
        """Some detector reads on in some stream; says whether there was anything to read."""
        ways = [
            (hosted, node, stream)
            for node, hosted in [*((node, one) for (node, _), one in self.hosted.items()), *self.zombies]
            for stream in hosted.record.sources
            if self.readable(hosted, node, stream)
        ]
        if not ways:
            return False
        hosted, node, stream = self.random.choice(ways)
        count = self.readable(hosted, node, stream)
        count = count if everything else self.random.randint(1, count)
        first = hosted.positions.get(stream, 0)
        back = self.random.randint(0, min(first, 2))
        messages = self.streams[stream][first - back : first + count]
        self.told(hosted, node, hosted.take(stream, first - back + 1, messages))
        return True

    def readable(self, hosted: Hosted, node: str, stream: str) -> int:
        """How many items a detector can read: up to one that is kept where no way leads to."""
        site = self.directory.nodes[node].site
        count = 0
        for message in self.streams.get(stream, [])[hosted.positions.get(stream, 0) :]:
            if not self.connected(message.topic[0], site):
                break
            count += 1
        return count

    def told(self, hosted: Hosted, node: str, outcome: Outcome) -> None:
        site = self.directory.nodes[node].site
        stream = self.streams[hosted.record.source]
        name = hosted.record.name
        stream += [Message((site, "found", name), body, id) for id, body in outcome.found]
        if outcome.frontier is not None and outcome.frontier != hosted.told:
            hosted.told = outcome.frontier
            body = Beat(hosted.record.source, outcome.frontier).to_bytes()
            stream.append(Message((site, "progress", name), body))

    def trouble(self) -> None:
        """Something goes wrong, or is changed."""
        random = self.random
        match random.randrange(7):
            case 0:
                self.kill(random.choice(sorted(self.directory.nodes)))
            case 1:
                node = self.directory.nodes[random.choice(sorted(self.directory.nodes))]
                self.directory = self.directory.put(replace(node, alive=True))
                self.control()
            case 2 if self.directory.links:
                self.cut ^= {random.choice(sorted(self.directory.links))}
            case 3 | 4 if self.directory.detectors:
                detector = self.directory.detectors[random.choice(sorted(self.directory.detectors))]
                alive = sorted(one.name for one in self.directory.nodes.values() if one.alive)
                self.directory = self.directory.put(replace(detector, node=random.choice(alive)))
                self.control()
            case 5:
                name = random.choice(sorted(self.directory.subscriptions))
                one = self.directory.subscriptions[name]
                self.directory = self.directory.put(replace(one, policy=random.choice(POLICIES)))
                self.control()
            case 6:
                number = random.randint(5, 9)
                site = random.choice(sorted(self.directory.sites))
                extra = Subscription(f"later-{number}", self.pattern(), site, policy=random.choice(POLICIES))
                known = extra.name in self.directory.subscriptions
                self.directory = self.directory.without(extra) if known else self.directory.put(extra)
                self.control()

    def kill(self, node: str) -> None:
        """A node dies, and with it all that it had not saved; sometimes it is only thought dead, and goes on."""
        alive = [one for one in self.directory.nodes.values() if one.alive]
        if len(alive) < 2 or not self.directory.nodes[node].alive:
            return
        is_zombie = self.random.random() < 0.3
        for key in [key for key in self.hosted if key[0] == node]:
            hosted = self.hosted.pop(key)
            if is_zombie:
                self.zombies.append((node, hosted))
        self.directory = self.directory.put(replace(self.directory.nodes[node], alive=False))
        self.control()

    def save(self) -> None:
        """Some detector saves its state."""
        if self.hosted:
            _, name = key = self.random.choice(sorted(self.hosted))
            self.states[name] = self.hosted[key].save()

    def read(self) -> None:
        """Subscribers read all that is there."""
        for name, listening in self.planned.listening.items():
            reader = self.readers[name]
            for detector in listening.detectors:
                stream = self.streams[f"penstock/{detector}"]
                for message in stream[reader.positions[detector] :]:
                    shared = json.loads(message.body) if message.topic[1] == "found" else {}
                    if shared.get("type") in listening.heard:
                        event = delivered(shared, listening)
                        reader.repeated += event.id in reader.events
                        reader.events[event.id] = event
                reader.positions[detector] = len(stream)

    def end(self) -> None:
        """All is well again, sources say that nothing more comes up to now, and everything is read."""
        self.cut.clear()
        self.zombies.clear()
        for source in self.directory.sources.values():
            self.beat(source, self.now)
        while self.deliver(everything=True):
            pass
        self.read()

    def expected(self, subscription: Subscription) -> dict[str, dict[str, Any]]:
        """What one process finds."""
        found = ps.detect(
            as_dicts(self.events), subscription.pattern, context=subscription.options.context, until=self.now
        )
        return {one.id: {"type": one.type, **one.attributes} for one in found}


def run(seed: int, steps: int = 120) -> World:
    """One history, checked: every subscription has heard what one process finds, nothing lost and nothing doubled."""
    world = World(Random(seed))  # noqa: S311
    world.build()
    first = [name for name in world.directory.subscriptions if name not in world.planned.refused]
    for _ in range(steps):
        match world.random.choices(("publish", "deliver", "save", "trouble", "read"), (3, 8, 1, 0.8, 0.5))[0]:
            case "publish" if len(world.events) < 40:
                world.publish()
            case "deliver":
                world.deliver()
            case "save":
                world.save()
            case "trouble":
                world.trouble()
            case "read":
                world.read()
    world.end()
    late = sum(one.work.detecting.counters.late for one in world.hosted.values())
    assert not late, f"{late} events were late"
    rejected = [dict(one.work.rejected) for one in world.hosted.values() if one.work.rejected]
    assert not rejected
    for name in first:
        heard = {id: {"type": one.type, **one.attributes} for id, one in world.readers[name].events.items()}
        expected = world.expected(world.directory.subscriptions[name])
        missing, extra = expected.keys() - heard.keys(), heard.keys() - expected.keys()
        text = world.directory.subscriptions[name].pattern
        assert not missing, f"{name} lost {len(missing)} of {len(expected)}: {text}"
        assert not extra, f"{name} has {len(extra)} too many: {text}"
        assert heard == expected, f"{name} heard something else: {text}"
    return world
