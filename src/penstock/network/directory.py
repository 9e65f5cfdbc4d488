"""What is known of a network: types, sites, links, nodes, sources, detectors and subscriptions.

All of it is frozen data with a JSON form (`penstock.network.records`), so that it can be kept in a store with
compare-and-set, a record a key: `Directory.entries` and `Directory.of_entries`. Times and durations are microseconds.
Nothing here has a clock: whether a node is alive is decided by those who heard of it, and written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, TypeVar

from penstock.errors import DataError
from penstock.network.records import from_json, to_json

KINDS = ("boolean", "integer", "float", "text", "time")
"""What an attribute of a registered type can be."""


@dataclass(frozen=True)
class EventType:
    """A registered type: the kind of each attribute, one of `KINDS`."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Site:
    """A place with a broker of its own; ``broker`` is its address."""

    name: str
    broker: str = ""


@dataclass(frozen=True)
class Link:
    """A way between two sites, both ways: how long it takes, and how many bytes a second fit (0: not known)."""

    one: str
    other: str
    latency: int = 0
    rate: int = 0

    @property
    def name(self) -> str:
        """The same whichever end comes first."""
        return " ".join(sorted((self.one, self.other)))


@dataclass(frozen=True)
class Node:
    """A process that hosts detectors; ``load`` is the share of its capacity that is used."""

    name: str
    site: str
    alive: bool = True
    load: float = 0.0


@dataclass(frozen=True)
class Source:
    """Who publishes events of some types."""

    name: str
    site: str
    types: tuple[str, ...] = ()
    heartbeat: int = 1_000_000
    clock_error: int = 0


@dataclass(frozen=True)
class Rates:
    """What nodes have measured: events a second, by type, that a source publishes, or composites that a detector does.

    ``name`` is that of the source; a detector has one too (`Detector.source`).
    """

    name: str
    rates: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Options:
    """How a pattern is detected; equal parts are shared only if these are equal too.

    ``policy`` is a detection policy as text, ``carry`` the attributes that parts keep (``all``, ``none``, or names
    with commas between).
    """

    policy: str = "guaranteed"
    context: str = "continuous"
    restart: bool = False
    zone: str | None = None
    carry: str = "all"


@dataclass(frozen=True)
class EventInput:
    """Events of the input that a detector hears: a type, who publishes it, and a filter that loses nothing.

    ``filter`` is a condition of the core language without parameters, or none; it may be applied anywhere on the way,
    or nowhere.
    """

    type: str
    sources: tuple[str, ...] = ()
    filter: str | None = None


@dataclass(frozen=True)
class PartInput:
    """Composites that a detector hears from another: ``definition`` names them in both."""

    definition: str
    detector: str


@dataclass(frozen=True)
class Detector:
    """A detector, planned or running.

    Attributes:
        name: The same wherever the same is detected with the same options.
        pattern: A module in the core language, all of it that the detector must know.
        gives: The definitions of the module whose composites it publishes.
        parts: Definitions whose composites come from other detectors.
        inlined: Definitions that are parts of an expression: their parts count, and not they themselves.
        events: What it hears of the input.
        node: Where it runs.
        users: Names of the subscriptions and detectors that listen to it; nobody needs it if there is none.
        policy: The distribution policy by which its node was chosen.
    """

    name: str
    pattern: str
    gives: tuple[str, ...]
    node: str
    options: Options = Options()
    parts: tuple[PartInput, ...] = ()
    inlined: tuple[str, ...] = ()
    events: tuple[EventInput, ...] = ()
    users: tuple[str, ...] = ()
    policy: str = ""

    @property
    def references(self) -> int:
        """How many listen to it."""
        return len(self.users)

    @property
    def source(self) -> str:
        """Its name as a source of events: who hears it waits for it as for any other."""
        return f"penstock/{self.name}"

    @property
    def sources(self) -> tuple[str, ...]:
        """All whom it waits for: sources of events, and other detectors."""
        heard = {name for one in self.events for name in one.sources}
        return tuple(sorted(heard | {f"penstock/{one.detector}" for one in self.parts}))


@dataclass(frozen=True)
class Hints:
    """What a subscriber asks of decomposition: parts (definitions by name, or text as it stands in the pattern) that
    are never factored out, and groups of definitions that stay in one detector."""

    never: tuple[str, ...] = ()
    together: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Subscription:
    """Who wants what: a pattern, how it is detected, by which distribution policy, and where the subscriber is.

    ``only`` are the definitions that are wanted, all if none is named. ``client`` is who subscribed; if nothing is
    heard of it for ``lease``, it is taken to be dead, and the subscription goes. With no lease it stays until it is
    removed.
    """

    name: str
    pattern: str
    site: str
    options: Options = Options()
    policy: str = "minimum_latency"
    only: tuple[str, ...] = ()
    hints: Hints = Hints()
    client: str = ""
    lease: int = 0


Record = EventType | Site | Link | Node | Source | Detector | Subscription | Rates
TABLES: Mapping[str, type] = {
    "types": EventType,
    "sites": Site,
    "links": Link,
    "nodes": Node,
    "sources": Source,
    "detectors": Detector,
    "subscriptions": Subscription,
    "rates": Rates,
}
"""The members of a directory, and what is in each."""
R = TypeVar("R")


@dataclass(frozen=True)
class Directory:
    """Everything that is known, each table by name.

    >>> directory = Directory().put(Site("office"), Node("n1", "office"))
    >>> directory.nodes["n1"].site, Directory.of_json(directory.to_json()) == directory
    ('office', True)
    """

    types: Mapping[str, EventType] = field(default_factory=dict)
    sites: Mapping[str, Site] = field(default_factory=dict)
    links: Mapping[str, Link] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    detectors: Mapping[str, Detector] = field(default_factory=dict)
    subscriptions: Mapping[str, Subscription] = field(default_factory=dict)
    rates: Mapping[str, Rates] = field(default_factory=dict)

    def put(self, *records: Record) -> Self:
        """The directory with these records, in place of those of the same name."""
        changed: dict[str, dict[str, Record]] = {}
        for record in records:
            table = table_of(record)
            changed.setdefault(table, dict(getattr(self, table)))[record.name] = record
        return replace(self, **{table: _sorted(rows) for table, rows in changed.items()})  # type: ignore[arg-type]

    def without(self, *records: Record) -> Self:
        """The directory without these records, by their names."""
        changed: dict[str, dict[str, Record]] = {}
        for record in records:
            table = table_of(record)
            changed.setdefault(table, dict(getattr(self, table))).pop(record.name, None)
        return replace(self, **changed)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        """All of it as one JSON form."""
        return {name: to_json(tuple(getattr(self, name).values())) for name in TABLES}

    @classmethod
    def of_json(cls, form: Any) -> Self:
        """The directory that a JSON form says; everything in it is checked.

        >>> Directory.of_json({"nodes": [{"name": "n1"}]})
        Traceback (most recent call last):
        penstock.errors.DataError: nodes[0]: 'site' is missing
        """
        if not isinstance(form, Mapping):
            raise DataError(f"a directory is an object, not {form!r:.60}")
        records: list[Record] = []
        for table, kind in TABLES.items():
            for index, one in enumerate(form.get(table, ())):
                records.append(from_json(kind, one, f"{table}[{index}]"))
        return cls().put(*records)

    def entries(self) -> dict[str, Any]:
        """The JSON form of each record by a key of its own, for a store of keys and values.

        >>> sorted(Directory().put(Node("n1", "office")).entries().items())
        [('nodes/n1', {'name': 'n1', 'site': 'office'})]
        """
        tables = [(table, getattr(self, table)) for table in TABLES]
        return {f"{table}/{name}": to_json(row) for table, rows in tables for name, row in rows.items()}

    @classmethod
    def of_entries(cls, entries: Mapping[str, Any]) -> Self:
        """The directory from what `entries` gave."""
        return cls().put(*(record_of(key, form) for key, form in entries.items()))

    def rate(self, source: str, type: str) -> float | None:
        """How many events of a type a source publishes a second, if it was measured.

        >>> Directory().put(Rates("door-1", {"Open": 0.5})).rate("door-1", "Open")
        0.5
        """
        return self.rates[source].rates.get(type) if source in self.rates else None

    def publishers(self, type: str) -> tuple[str, ...]:
        """The sources of a type, by name."""
        return self.published.get(type, ())

    @cached_property
    def published(self) -> Mapping[str, tuple[str, ...]]:
        """All types that sources publish, and who does."""
        found: dict[str, set[str]] = {}
        for one in self.sources.values():
            for type in one.types:
                found.setdefault(type, set()).add(one.name)
        return {type: tuple(sorted(found[type])) for type in sorted(found)}


def key_of(record: Record) -> str:
    """The key of a record in a store.

    >>> key_of(Link("office", "gateway"))
    'links/gateway office'
    """
    return f"{table_of(record)}/{record.name}"


def record_of(key: str, form: Any) -> Record:
    """The record that a store has under a key."""
    table = key.partition("/")[0]
    if table not in TABLES:
        raise DataError(f"there is no table {table!r} in a directory", hint=f"there are {', '.join(TABLES)}")
    record: Record = from_json(TABLES[table], form, key)
    return record


def table_of(record: Record) -> str:
    """The name of the table that a record is in."""
    return next(name for name, kind in TABLES.items() if type(record) is kind)


def _sorted(rows: Mapping[str, R]) -> dict[str, R]:
    return {name: rows[name] for name in sorted(rows)}


def changes(before: Directory, after: Directory) -> dict[str, Any | None]:
    """What to write to a store so that it says ``after``: forms by key, None for what is gone.

    >>> changes(Directory().put(Node("n1", "office")), Directory().put(Node("n1", "hall"), Node("n2", "hall")))
    {'nodes/n1': {'name': 'n1', 'site': 'hall'}, 'nodes/n2': {'name': 'n2', 'site': 'hall'}}
    """
    old, new = before.entries(), after.entries()
    gone: dict[str, Any | None] = dict.fromkeys(sorted(old.keys() - new.keys()))
    return gone | {key: form for key, form in new.items() if old.get(key) != form}
