"""An engine's state in a store of pages: what a batch concerns is fetched, and what has changed is written.

A store has bytes by name: a ``manifest``, and pages. A page holds what some instances of one definition hold, by the
hashes of their parameters' values. Page 0 of a definition is what concerns all its instances, and is always in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.engine import memory as m
from penstock.engine.directory import OVER, PAGE, PER_PAGE, RUNS, STALE, TIMER, Chunk, Directory
from penstock.engine.division import Division
from penstock.engine.engine import Engine
from penstock.engine.memory import Ints
from penstock.engine.pages import Book, Page, key_hashes, with_pool
from penstock.engine.prepared import Choice
from penstock.engine.restoring import composites_of, events_of, restore_definition
from penstock.engine.store import keep_needed
from penstock.engine.symbols import Piece
from penstock.errors import StateError
from penstock.events.saved import pack, unpack
from penstock.languages.core.parser import parse_syntax
from penstock.languages.core.printer import print_pattern

MANIFEST = "manifest"
_PAGE = "page "
_COMMON = np.zeros(1, np.int64)


def page_name(definition: int, number: int) -> str:
    """The name of a page in a store."""
    return f"{_PAGE}{definition} {number}"


class Library:
    """Where the state of an engine is; ``Library.open`` makes the engine whose state is in a store.

    >>> from penstock import parse
    >>> store = {}
    >>> Library(Engine(parse("[A(k = $k)] ; [B(k = $k)]"))).write(store)
    ['manifest', 'page 0 0']
    >>> Library.open(store).engine.fed
    0
    """

    def __init__(self, engine: Engine, per_page: int = PER_PAGE) -> None:
        self.engine = engine
        self.per_page = per_page
        self.store: Mapping[str, bytes] | None = None
        self.directories = self._nothing()
        self._old: list[str] = []
        engine.fetch = self

    def _nothing(self) -> list[Directory]:
        return [Directory(len(one.detections), per_page=self.per_page) for one in self.engine.engines]

    @classmethod
    def open(cls, store: Mapping[str, bytes], per_page: int = PER_PAGE) -> Library:
        """The engine whose state this is, to go on from there; its pages are read when they are needed."""
        manifest = unpack("detector", store[MANIFEST])
        pattern, choice = parse_syntax(manifest["pattern"]), Choice(**manifest["choice"])
        library = cls(Engine(pattern, choice, _division(manifest)), per_page)
        library.store = store
        library._read_manifest(manifest)
        return library

    def _read_manifest(self, manifest: Mapping[str, Any]) -> None:
        engine = self.engine
        engine.fed, engine.met = manifest["fed"], manifest["met_events"]
        engine.events.put([], manifest["events"])
        for store, end in zip(engine.stores, manifest["made"], strict=True):
            store.put([], end)
        engine.told = [manifest[f"told.{number}"].reshape(-1, 5) for number in range(len(engine.engines))]
        engine.begins = engine.events.end, [store.end for store in engine.stores]
        for number, definition in enumerate(engine.engines):
            definition.instances.floats = set(manifest["floats"][number])
            common = self._read(number, 0)
            pages = [common, *self._pages_before(number, manifest)]
            restore_definition(definition, engine.symbols[number], pages, manifest["met"][number])
            self._take_in(pages)
            if "next" in manifest:
                found, page = manifest[f"directory.{number}"], manifest["next"][number]
                self.directories[number] = Directory(len(definition.detections), found, page, self.per_page)
                self._count_elsewhere(number)
                self._load_named(number)

    def _load_named(self, number: int) -> None:
        """Brings the instances into memory that the common page names: they would be taken for new ones."""
        directory = self.directories[number]
        named = np.arange(1, self.engine.engines[number].instances.count)
        ranges = np.unique(directory.of(self._hashes(number, named)))
        self._load(number, ranges[~directory.is_loaded[ranges]])

    def _pages_before(self, number: int, manifest: Mapping[str, Any]) -> list[Page]:
        """All other pages, if the state was saved by a version that had no directories."""
        names = [] if "next" in manifest else [page for one, page in manifest["names"] if one == number and page]
        self._old += [page_name(number, page) for page in names]
        return [self._read(number, page) for page in names]

    def _read(self, definition: int, page: int) -> Page:
        name = page_name(definition, page)
        body = None if self.store is None else self.store.get(name)
        if body is None:
            raise StateError(f"page {page} of definition {definition} is missing", hint="give all pages of the state")
        return with_pool(unpack("page", body), self.engine.pool)

    def __call__(self, number: int, pieces: list[Piece], until: int) -> None:
        """Fetches what these events concern, and what has to do something before ``until``."""
        directory = self.directories[number]
        if directory.is_whole:
            return
        definition = self.engine.engines[number]
        keys = definition.concerned(pieces, self.engine.pool)
        ends = [piece.table.numbers("hi")[-1:] for piece in pieces]
        wanted = self._is_due(number, max([until, *np.concatenate(ends).tolist()]))
        if keys is None:
            wanted[:] = True
        for kinds, values in keys or []:
            is_key = (kinds != 0).all(axis=1)
            wanted[directory.of(key_hashes(kinds[is_key], values[is_key], self.engine.texts))] = True
        self._load(number, np.flatnonzero(wanted & ~directory.is_loaded))

    def _is_due(self, number: int, until: int) -> NDArray[np.bool_]:
        """Ranges with a timer before ``until``, or with runs that are over and to be reported, or many of these."""
        rows, definition = self.directories[number].rows, self.engine.engines[number]
        now = min(one.runner.memory.live(m.NOW) for one in definition.detections)
        due: NDArray[np.bool_] = (rows[:, TIMER] < until) | (rows[:, STALE] < now)
        if self.engine.choice.incomplete:
            due |= rows[:, OVER] < until
        return due

    def names(self) -> list[str]:
        """The names of all pages."""
        own = [directory.rows[:, PAGE].tolist() for directory in self.directories]
        return [page_name(number, page) for number, pages in enumerate(own) for page in {0, *pages}]

    def everything(self) -> None:
        """Fetches all."""
        for number, directory in enumerate(self.directories):
            self._load(number, np.flatnonzero(~directory.is_loaded))

    def _load(self, number: int, ranges: Ints) -> None:
        """Brings ranges into memory, which is laid out anew."""
        if not len(ranges):
            return
        engine, directory = self.engine, self.directories[number]
        definition = engine.engines[number]
        pages = [self._read(number, page) for page in directory.rows[ranges, PAGE].tolist()]
        book, met = self._book(number), definition.symbols.met
        self._note_changes(number, book)
        live = book.instances()
        live = live[directory.is_loaded[directory.of(self._hashes(number, live))]]
        there = [book.page(_COMMON, is_common=True), book.page(live)]
        definition.clear()
        restore_definition(definition, engine.symbols[number], [*there, *pages], met)
        self._take_in(pages)
        directory.is_loaded[ranges] = True
        self._count_elsewhere(number)

    def _take_in(self, pages: list[Page]) -> None:
        """The events and composites of pages."""
        events, composites = self.engine.begins
        self.engine.events.merge(events_of(pages), events)
        for owner, store in enumerate(self.engine.stores):
            store.merge(composites_of(pages, owner), composites[owner])

    def _book(self, number: int) -> Book:
        engine = self.engine
        return Book(engine.engines[number], engine.symbols[number], engine.events, engine.stores, engine.pool)

    def note(self, number: int) -> None:
        """Instances of a definition will be forgotten: which of them changed must be known before."""
        self._note_changes(number, self._book(number))

    def _note_changes(self, number: int, book: Book) -> None:
        """Marks the ranges in which something changed."""
        self.directories[number].note(self._hashes(number, book.changed()))
        book.wipe()

    def _hashes(self, number: int, instances: Ints) -> Ints:
        known = self.engine.engines[number].instances
        return key_hashes(known.kinds[instances], known.values[instances], self.engine.texts)

    def _count_elsewhere(self, number: int) -> None:
        for place, one in enumerate(self.engine.engines[number].detections):
            one.runner.set_elsewhere(self.directories[number].elsewhere(place))

    def whole(self) -> dict[str, bytes]:
        """All of the state as a store of its own; this one goes on as it was."""
        self.everything()
        for number in range(len(self.directories)):
            self.note(number)
        store: dict[str, bytes] = {}
        Library(self.engine).write(store)
        self.engine.fetch = self
        return store

    def write(self, store: MutableMapping[str, bytes]) -> list[str]:
        """Puts the state into a store; into the one that it was read from or written to last, only what has changed.

        Pages of another state that a store has go. Returns the names that were written.
        """
        if store is not self.store:
            self.everything()
            self.directories = self._nothing()
            self._old = [name for name in store if name.startswith(_PAGE)]
        for number in range(len(self.engine.engines)):
            self.engine.compact(number)
        keep_needed(self.engine.events, self.engine.stores, self.engine.symbols)
        for name in self._old:
            del store[name]
        self._old = []
        written = [name for number in range(len(self.engine.engines)) for name in self._write(number, store)]
        store[MANIFEST] = self._manifest()
        self.store = store
        return sorted([*written, MANIFEST])

    def _write(self, number: int, store: MutableMapping[str, bytes]) -> list[str]:
        """Writes the pages of a definition that have changed; returns their names."""
        directory, book = self.directories[number], self._book(number)
        self._note_changes(number, book)
        instances = book.instances()
        hashes = self._hashes(number, instances)
        order = np.argsort(hashes, kind="stable")
        chunks, same, gone = directory.rewritten(hashes[order])
        rows = np.zeros((len(chunks), directory.width), np.int64)
        written = [page_name(number, 0)]
        store[written[0]] = pack("page", book.whole(book.page(_COMMON, is_common=True)))
        for row, chunk in zip(rows, chunks, strict=True):
            some = np.sort(instances[order[chunk.first : chunk.last]])
            self._describe(row, chunk, book, some, directory)
            if chunk.page and not len(chunk):
                gone.append(chunk.page)
            if len(chunk):
                written.append(page_name(number, int(row[PAGE])))
                store[written[-1]] = pack("page", book.whole(book.page(some)))
        for page in gone:
            del store[page_name(number, page)]
        directory.put(rows, same)
        return written

    @staticmethod
    def _describe(row: Ints, chunk: Chunk, book: Book, instances: Ints, directory: Directory) -> None:
        """What the directory says of a page."""
        page = 0 if not len(chunk) else chunk.page or directory.new_page()
        timer, over, stale, runs = book.outlook(instances)
        row[:RUNS] = chunk.start, page, timer, over, stale
        row[RUNS:] = runs

    def _manifest(self) -> bytes:
        engine = self.engine
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
                "next": [directory.next_page for directory in self.directories],
                **{f"told.{number}": told for number, told in enumerate(engine.told)},
                **{f"directory.{number}": directory.rows for number, directory in enumerate(self.directories)},
            },
        )


def _division(manifest: Mapping[str, Any]) -> Division:
    elsewhere, inlined = (frozenset(manifest.get(name, ())) for name in ("elsewhere", "inlined"))
    return Division(elsewhere, inlined, manifest.get("publishes", False))
