"""An engine's state as a manifest and pages, each of them bytes that are checked when they are read.

A page holds what some instances of one definition hold, by the values of their parameters, so that a store needs to
write only the pages that changed. Page 0 of a definition is what concerns all instances.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from penstock.algebra.pattern import Pattern
from penstock.engine import vm
from penstock.engine.definition import Choice
from penstock.engine.division import Division
from penstock.engine.engine import Engine
from penstock.engine.memory import Ints
from penstock.engine.pages import PER_PAGE, Book, Page, page_numbers, with_pool
from penstock.engine.restoring import restore_composites, restore_definition, restore_events
from penstock.engine.store import keep_needed
from penstock.errors import StateError
from penstock.events.saved import pack, unpack
from penstock.languages.core.parser import parse_syntax
from penstock.languages.core.printer import print_pattern

Name = tuple[int, int]
"""A page: the number of its definition, and its own."""


@dataclass
class Snapshot:
    """A manifest, and pages by definition and number.

    >>> from penstock import parse
    >>> saved = save(Engine(parse("[A(k = $k)] ; [B(k = $k)]")))
    >>> sorted(saved.pages), restore(saved).fed
    ([(0, 0)], 0)
    """

    manifest: bytes
    pages: dict[Name, bytes] = field(default_factory=dict)
    changed: frozenset[Name] = frozenset()


def save(engine: Engine, before: Snapshot | None = None) -> Snapshot:
    """The state of an engine; pages that have not changed are those of the snapshot before."""
    for number, definition in enumerate(engine.engines):
        engine.symbols[number].keep(definition.compacted())
    keep_needed(engine.events, engine.stores, engine.symbols)
    old = {} if before is None else before.pages
    sizes = [] if before is None else unpack("detector", before.manifest)["pages"]
    pages: dict[Name, bytes] = {}
    changed: set[Name] = set()
    counts = []
    for number, definition in enumerate(engine.engines):
        book = Book(definition, engine.symbols[number], engine.events, engine.stores, engine.pool)
        instances = book.instances()
        count = 1 << max(0, len(instances) // PER_PAGE).bit_length() if len(instances) else 0
        counts.append(max(count, sizes[number] if sizes else 0))
        same = bool(sizes) and sizes[number] == counts[-1]
        for page, some, is_changed in _divided(engine, book, instances, counts[-1]):
            name = (number, page)
            if is_changed or not same or name not in old:
                pages[name] = pack("page", book.page(some))
                changed.add(name)
            else:
                pages[name] = old[name]
        pages[number, 0] = pack("page", book.page(np.zeros(1, np.int64), is_common=True))
        changed.add((number, 0))
        book.wipe()
    gone = old.keys() - pages.keys()
    return Snapshot(_manifest(engine, counts, sorted(pages)), pages, frozenset(changed | gone))


def _divided(engine: Engine, book: Book, instances: Ints, pages: int) -> list[tuple[int, Ints, bool]]:
    """Pages with their instances, and whether anything in them changed."""
    if not len(instances):
        return []
    everyone = np.arange(1, book.engine.instances.count)
    touched = book.changed(everyone)
    numbers = _pages_of(engine, book, everyone, pages)
    changed = np.zeros(pages + 1, bool)
    changed[numbers[touched]] = True
    own = numbers[instances - 1]
    order = np.argsort(own, kind="stable")
    found, starts = np.unique(own[order], return_index=True)
    groups = np.split(instances[order], starts[1:])
    return [(page, some, bool(changed[page])) for page, some in zip(found.tolist(), groups, strict=True)]


def _pages_of(engine: Engine, book: Book, instances: Ints, pages: int) -> Ints:
    known = book.engine.instances
    kinds, values = known.kinds[instances], known.values[instances]
    hashes = np.zeros_like(values)
    texts = kinds == vm.TEXT
    if texts.any():
        hashes[texts] = engine.texts.hashed(values[texts])[0].view(np.int64)
    return page_numbers(kinds, values, hashes, pages)


def _manifest(engine: Engine, counts: list[int], names: list[Name]) -> bytes:
    return pack(
        "detector",
        {
            "pattern": print_pattern(engine.pattern),
            "choice": asdict(engine.choice),
            "elsewhere": sorted(engine.division.elsewhere),
            "inlined": sorted(engine.division.inlined),
            "publishes": engine.division.publishes,
            "fed": engine.fed,
            "met_events": engine.met,
            "events": engine.events.end,
            "made": [store.end for store in engine.stores],
            "met": [definition.symbols.met for definition in engine.engines],
            "floats": [sorted(definition.instances.floats) for definition in engine.engines],
            "pages": counts,
            "names": [list(name) for name in names],
            **{f"told.{number}": told for number, told in enumerate(engine.told)},
        },
    )


def restore(saved: Snapshot) -> Engine:
    """The engine that was saved, to go on from there."""
    manifest = unpack("detector", saved.manifest)
    engine = Engine(_pattern(manifest), Choice(**manifest["choice"]), _division(manifest))
    read = _read(saved.pages, manifest, engine)
    for number, definition in enumerate(engine.engines):
        definition.instances.floats = set(manifest["floats"][number])
        restore_definition(definition, engine.symbols[number], read[number], manifest["met"][number])
    everything = [page for pages in read for page in pages]
    restore_events(engine.events, everything, manifest["events"])
    restore_composites(engine.stores, everything, manifest["made"])
    engine.fed, engine.met = manifest["fed"], manifest["met_events"]
    engine.told = [manifest[f"told.{number}"].reshape(-1, 5) for number in range(len(engine.engines))]
    return engine


def _pattern(manifest: Mapping[str, Any]) -> Pattern:
    return parse_syntax(manifest["pattern"])


def _division(manifest: Mapping[str, Any]) -> Division:
    elsewhere, inlined = (frozenset(manifest.get(name, ())) for name in ("elsewhere", "inlined"))
    return Division(elsewhere, inlined, manifest.get("publishes", False))


def _read(pages: Mapping[Name, bytes], manifest: Mapping[str, Any], engine: Engine) -> list[list[Page]]:
    """The pages of each definition, the common one first."""
    found: list[list[Page]] = [[] for _ in engine.engines]
    for definition, number in sorted((one, two) for one, two in manifest["names"]):
        if (definition, number) not in pages:
            raise StateError(f"page {number} of definition {definition} is missing", hint="give all pages of the state")
        found[definition].append(with_pool(unpack("page", pages[definition, number]), engine.pool))
    return found


def to_bytes(saved: Snapshot) -> bytes:
    """A snapshot as one piece."""
    names = sorted(saved.pages)
    bodies = [saved.manifest, *(saved.pages[name] for name in names)]
    lengths = np.array([len(body) for body in bodies], np.int64)
    whole = np.frombuffer(b"".join(bodies), np.uint8)
    return pack("snapshot", {"names": [list(name) for name in names], "lengths": lengths, "bodies": whole})


def from_bytes(data: bytes) -> Snapshot:
    """The snapshot that bytes are of; an error for others."""
    values = unpack("snapshot", data)
    ends = np.cumsum(values["lengths"])
    whole = values["bodies"].tobytes()
    bodies = [whole[end - length : end] for end, length in zip(ends, values["lengths"], strict=True)]
    return Snapshot(bodies[0], {(a, b): body for (a, b), body in zip(values["names"], bodies[1:], strict=True)})
