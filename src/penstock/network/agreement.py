"""What the nodes have agreed on, and the directory that follows from it and from what everybody has written down.

Types, sites, links, sources and subscriptions are written by those whom they concern, a record a key. Which nodes live
and which detectors run where is one value that all nodes write with compare-and-set: whoever sees that the plan for the
directory says otherwise writes what it says, and all others find that nothing is left to be done.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from penstock.brokers.protocol import Bucket, Entry
from penstock.errors import DataError
from penstock.network.directory import Detector, Directory, Node, Record, Subscription, key_of, record_of
from penstock.network.records import from_json, to_json

AGREED = "agreement"
_TRIES = 50


@dataclass(frozen=True)
class Agreement:
    """Nodes and detectors; ``number`` counts the versions, and ``born`` has that in which a detector was new."""

    number: int = 0
    nodes: tuple[Node, ...] = ()
    detectors: tuple[Detector, ...] = ()
    born: Mapping[str, int] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """As it stands in the bucket.

        >>> Agreement.of_bytes(Agreement(3, (Node("n1", "office"),)).to_bytes()).nodes[0].site
        'office'
        """
        return zlib.compress(json.dumps(to_json(self), separators=(",", ":")).encode())

    @classmethod
    def of_bytes(cls, body: bytes) -> Self:
        """What stands in the bucket."""
        try:
            return from_json(cls, json.loads(zlib.decompress(body)))
        except (ValueError, zlib.error) as error:
            raise DataError(f"what the nodes agreed on cannot be read: {error}") from None

    def with_node(self, node: Node) -> Self:
        """With a node that lives, or does not."""
        others = [one for one in self.nodes if one.name != node.name]
        return self.following(nodes=tuple(sorted([*others, node], key=lambda one: one.name)))

    def with_detectors(self, detectors: Mapping[str, Detector]) -> Self:
        """With these detectors and no others."""
        number = self.number + 1
        born = {name: self.born.get(name, number) for name in sorted(detectors)}
        return self.following(detectors=tuple(detectors[name] for name in sorted(detectors)), born=born)

    def following(self, **changes: Any) -> Self:
        """The next version."""
        return replace(self, number=self.number + 1, **changes)


@dataclass(frozen=True)
class Place:
    """A site where a detector runs or ran: what it found there comes after number ``after`` of the site's stream.

    Before it came, it had published up to some numbers at other sites. Its promises there count only for those who have
    read these.
    """

    site: str
    after: int
    before: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Places:
    """All sites where a detector runs or ran, each once, the last one last."""

    places: tuple[Place, ...] = ()

    def moved(self, place: Place) -> Places:
        """With one more; where the detector was before, it is again."""
        return Places((*(one for one in self.places if one.site != place.site), place))


@dataclass
class View:
    """What a node or a subscriber has seen of the bucket so far."""

    records: dict[str, Record] = field(default_factory=dict)
    agreement: Agreement = field(default_factory=Agreement)
    revision: int = 0
    places: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    origins: dict[str, int] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)
    clients: dict[str, int] = field(default_factory=dict)
    bad: int = 0

    def take(self, entry: Entry) -> bool:
        """An entry is new; one that cannot be read is counted, and is as if it were not there.

        Says whether the directory may be another one now: who lives and who has read how far is not in it.
        """
        table, _, name = entry.key.partition("/")
        if table in ("clients", "read"):
            if table == "clients" and entry.value is not None:
                self.clients[name] = entry.revision
            elif table == "clients":
                self.clients.pop(name, None)
            return False
        try:
            form = None if entry.value is None or entry.key == AGREED else json.loads(entry.value)
            if entry.key == AGREED:
                self.agreement, self.revision = Agreement.of_bytes(entry.value or b""), entry.revision
            elif table in ("places", "origins", "told"):
                self._set(table, name, form)
            elif form is None:
                self.records.pop(entry.key, None)
            else:
                self.records[entry.key] = record_of(entry.key, form)
        except (DataError, ValueError, KeyError, TypeError):
            self.bad += 1
            self.records.pop(entry.key, None)
        return True

    def _set(self, table: str, name: str, form: Any) -> None:
        rows: dict[str, Any] = getattr(self, table)
        if form is None:
            rows.pop(name, None)
        elif table == "places":
            rows[name] = from_json(Places, form).places
        else:
            rows[name] = int(form) if table == "origins" else form

    @property
    def subscriptions(self) -> list[Subscription]:
        """All that are known."""
        return [one for one in self.records.values() if isinstance(one, Subscription)]

    @property
    def directory(self) -> Directory:
        """All that is known, for the planner."""
        return Directory().put(*self.records.values(), *self.agreement.nodes, *self.agreement.detectors)


async def write(bucket: Bucket, record: Record) -> None:
    """Write a record of the directory down."""
    await put_json(bucket, key_of(record), to_json(record))


async def remove(bucket: Bucket, record: Record) -> None:
    """Take a record out of the directory."""
    await bucket.delete(key_of(record))


async def put_json(bucket: Bucket, key: str, form: Any) -> None:
    """Write anything that JSON can say."""
    await bucket.put(key, json.dumps(form, separators=(",", ":")).encode())


async def agree(bucket: Bucket, wanted: Any) -> Agreement:
    """Write what ``wanted`` makes of the agreement as it is, until nobody has come before; None leaves it so."""
    for _ in range(_TRIES):
        entry = await bucket.get(AGREED)
        known = Agreement.of_bytes(entry.value) if entry and entry.value is not None else Agreement()
        changed: Agreement | None = wanted(known)
        if changed is None:
            return known
        if await bucket.put(AGREED, changed.to_bytes(), entry.revision if entry else 0) is not None:
            return changed
    raise DataError("the nodes cannot agree: somebody is always faster")
