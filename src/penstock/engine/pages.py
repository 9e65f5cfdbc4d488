"""State by pages: what instances of one definition hold, with all that it refers to, so that each stands for itself.

Numbers that mean something only inside a process (instances, rows of memory, symbols, texts in the pool) are numbers
inside the page here. Events and composites keep the numbers of their rows, and symbols their identities, so that what
is in several pages becomes one again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from penstock.engine import memory as m
from penstock.engine import vm
from penstock.engine.composed import PRIMITIVE, Composed, join
from penstock.engine.definition import DefinitionEngine
from penstock.engine.found import known_rows
from penstock.engine.groups import Listed, listed
from penstock.engine.kept import Kept
from penstock.engine.memory import Ints
from penstock.engine.pool import Pool
from penstock.engine.store import Symbols, trimmed
from penstock.engine.texts import Texts
from penstock.engine.traverse import list_runs, over_at, reach, reach_forwards
from penstock.events.table import EventTable

Page = dict[str, Any]
RUN_COLUMNS = (m.STATE, m.PREVIOUS, m.LO, m.HEAD_NODE, m.REMAINING, m.BASE, m.BEGAN)
COMPOSED = ("lo", "hi", "words", "kinds", "bits", "offsets", "owners", "rows", "labels", "leaf_offsets", "leaves")


class Book:
    """Writes the pages of one definition."""

    def __init__(
        self,
        engine: DefinitionEngine,
        symbols: Symbols,
        events: Kept[EventTable],
        stores: list[Kept[Composed]],
        pool: Pool,
    ) -> None:
        self.engine = engine
        self.symbols = symbols
        self.events = events
        self.stores = stores
        self.pool = pool
        self._marks = [np.zeros((2, one.runner.memory.live(m.NODE_COUNT)), np.int64) for one in engine.detections]
        self._mark = 0

    def instances(self) -> Ints:
        """The instances that differ from those never seen, but for number 0."""
        held = self.engine.is_living()
        held[0] = False
        return np.flatnonzero(held)

    def changed(self) -> Ints:
        """The instances that changed since the marks were last wiped, those among them that are as new now."""
        touched = np.zeros(self.engine.instances.count, bool)
        for runner in self.engine.keyed():
            rows = runner.memory.rows(m.INSTANCES, m.INSTANCE_WIDTH, runner.memory.live(m.KNOWN))
            touched[: len(rows)] |= rows[:, m.TOUCHED] != 0
        touched[0] = False
        return np.flatnonzero(touched)

    def wipe(self) -> None:
        """Wipes the marks of change."""
        for one in self.engine.detections:
            memory = one.runner.memory
            memory.rows(m.INSTANCES, m.INSTANCE_WIDTH, memory.live(m.KNOWN))[:, m.TOUCHED] = 0

    def page(self, instances: Ints, is_common: bool = False) -> Page:
        """What these instances hold; the common page has number 0, and what concerns all."""
        known = self.engine.instances
        self._mark += 1
        page: Page = {"key.kinds": known.kinds[instances], "key.values": known.values[instances]}
        held: list[Ints] = []
        for number, one in enumerate(self.engine.detections):
            mine = instances if one.parameters or is_common else instances[:0]
            part, symbols = self._runs(number, mine, is_common)
            held.append(symbols)
            page |= {f"{number}.{name}": value for name, value in part.items()}
        slots = np.unique(np.concatenate(held))
        for number in range(len(self.engine.detections)):
            for name in ("node.symbol", "past.symbol"):
                if f"{number}.{name}" in page:
                    page[f"{number}.{name}"] = np.searchsorted(slots, page[f"{number}.{name}"])
        owners, rows = self.symbols.of(slots)
        own = self.engine.symbols
        page |= {"symbol.identity": own.identities.column[slots], "symbol.owner": owners, "symbol.row": rows}
        page |= {"symbol.kinds": own.kinds.rows[slots], "symbol.values": own.values.rows[slots]}
        return page

    def outlook(self, instances: Ints) -> tuple[int, int, int, list[int]]:
        """Of some instances: the next timer, when the first run is over, when half of them are, and how many runs."""
        timers, ends, counts = [m.FAR], [], []
        for one in self.engine.detections:
            memory = one.runner.memory
            mine = instances[instances < memory.live(m.KNOWN)] if one.parameters else instances[:0]
            together = one.runner.is_together
            runs, *_ = list_runs(mine, memory.arrays[m.INSTANCES], memory.arrays[m.RUNS], together)
            clocks = memory.rows(m.CLOCKS, memory.clocked, memory.live(m.RUN_ROOM))[runs, : memory.timers]
            timers.append(int(np.where(clocks == m.NONE, m.FAR, clocks).min(initial=m.FAR)))
            ends.append(over_at(runs, one.runner.layout, memory.arrays))
            counts.append(len(runs))
        over = np.sort(np.concatenate(ends))
        first, half = (int(over[0]), int(over[len(over) // 2])) if len(over) else (m.FAR, m.FAR)
        return min(timers), first, half, counts

    def whole(self, page: Page) -> Page:
        """A page with the events and composites that it refers to, and its own numbers for texts."""
        return self._with_texts(page | self._matched(page["symbol.owner"], page["symbol.row"]))

    def _runs(self, detection: int, instances: Ints, is_common: bool) -> tuple[Page, Ints]:
        """The runs of instances, in the order of their lists, with what they have matched; and the symbols of that."""
        runner, known = self.engine.detections[detection].runner, self.engine.instances
        memory = runner.memory
        own = instances[instances < memory.live(m.KNOWN)]
        state = memory.rows(m.INSTANCES, m.INSTANCE_WIDTH, memory.live(m.KNOWN))
        runs = listed(memory, own, runner.is_together)
        made = memory.rows(m.MADE, m.MADE_WIDTH, memory.live(m.MADE_COUNT) if is_common else 0)
        nodes = self._reached(detection, runs, made)
        matched = memory.rows(m.NODES, m.NODE_WIDTH, memory.live(m.NODE_COUNT))[nodes]
        table = runs.rows[:, list(RUN_COLUMNS)].copy()
        table[:, RUN_COLUMNS.index(m.HEAD_NODE)] = np.searchsorted(nodes, runs.rows[:, m.HEAD_NODE])
        page: Page = {
            "dead": np.where(
                instances < len(state), state[np.minimum(instances, len(state) - 1), m.DEAD], state[0, m.DEAD]
            ),
            "runs": table,
            "clocks": runs.clocks,
            "owners": np.searchsorted(instances, runs.owners),
            "node.symbol": matched[:, m.SYMBOL].copy(),
            "node.parent": _places(matched[:, m.PARENT], nodes),
            "node.labels": matched[:, m.LABELS].copy(),
            "node.hash": matched[:, m.HASH].copy(),
        }
        if runner.is_together:
            page |= {"tops": _places(runs.tops, nodes), "node.hash": _places(matched[:, m.AFTER], nodes)}
        symbols = [page["node.symbol"]]
        if is_common:
            whose = made[:, m.MADE_INSTANCE]
            page |= {
                "last.made": made[:, [m.MADE_LO, m.MADE_HI, m.MADE_HASH]].copy(),
                "last.node": np.searchsorted(nodes, made[:, m.MADE_NODE]),
                "last.owner.kinds": known.kinds[whose],
                "last.owner.values": known.values[whose],
                "last.is_keyed": whose > 0,
                "past": runner.past.places,
                "past.keys": runner.past.saved_keys,
                "past.symbol": runner.past.symbols.copy(),
                "until": runner.until,
                "counts": memory.counts[[m.NOW, m.FAILED, m.EXPIRED, m.DROPPED, m.REPLACED, m.OPEN]],
            }
            symbols.append(page["past.symbol"])
        return page, np.concatenate(symbols)

    def _reached(self, detection: int, runs: Listed, made: Ints) -> Ints:
        """All matched symbols of runs and composites, by number."""
        nodes = self.engine.detections[detection].runner.memory.arrays[m.NODES]
        heads = np.concatenate([runs.rows[:, m.HEAD_NODE], made[:, m.MADE_NODE]])
        backwards, forwards = self._marks[detection]
        found = reach(heads, backwards, self._mark, nodes)
        more = reach_forwards(runs.rows[:, m.HEAD_NODE].copy(), runs.tops, forwards, self._mark, nodes)
        return np.unique(np.concatenate([found, more])) if len(more) else np.sort(found)

    def _matched(self, owners: Ints, rows: Ints) -> Page:
        """The events and composites that symbols are, with all that these are made of."""
        page: Page = {}
        wanted = {owner: [rows[owners == owner]] for owner in range(-1, len(self.stores))}
        for owner in range(len(self.stores) - 1, -1, -1):
            numbers = np.unique(np.concatenate(wanted[owner]))
            if len(numbers):
                composites = _taken(self.stores[owner], numbers)
                page |= {f"made.{owner}.{name}": getattr(composites, name) for name in COMPOSED}
                page[f"made.{owner}.numbers"] = numbers
                wanted[PRIMITIVE].append(composites.leaves)
                for inner in range(owner):
                    wanted[inner].append(known_rows(composites, inner))
        numbers = np.unique(np.concatenate(wanted[PRIMITIVE]))
        pieces = [(numbers[where], trimmed(piece.take(found))) for piece, where, found in self.events.locate(numbers)]
        for number, (some, table) in enumerate(pieces if len(numbers) else []):
            page |= {f"events.{number}.numbers": some, f"events.{number}.fields": table.fields}
            page |= {f"events.{number}.attributes": table.attributes, f"events.{number}.fixed": table.fixed}
        return page

    def _with_texts(self, page: Page) -> Page:
        """The page with its own numbers for texts, and the texts."""
        pairs = _text_columns(page)
        used = np.unique(np.concatenate([page[v][page[k] == vm.TEXT].ravel() for k, v in pairs]))
        for kinds, values in pairs:
            bits = page[values].copy()
            inside = page[kinds] == vm.TEXT
            bits[inside] = np.searchsorted(used, bits[inside])
            page[values] = bits
        return page | {"texts": pa.table({"text": self.pool.taken(used)})}


def _places(numbers: Ints, among: Ints) -> Ints:
    """Where numbers are among others, which rise; -1 for those that are not."""
    if not len(among):
        return np.full(len(numbers), -1)
    places = np.minimum(np.searchsorted(among, numbers), len(among) - 1)
    return np.where(among[places] == numbers, places, -1)


def _text_columns(page: Page) -> list[tuple[str, str]]:
    """The names of columns of kinds, each with that of the values."""
    made = [name[: -len("kinds")] for name in page if name.startswith("made.") and name.endswith(".kinds")]
    instances = [name[: -len("kinds")] for name in page if name.endswith("owner.kinds")]
    pairs = [(f"{prefix}kinds", f"{prefix}bits") for prefix in made]
    pairs += [(f"{prefix}kinds", f"{prefix}values") for prefix in instances]
    return [("key.kinds", "key.values"), ("symbol.kinds", "symbol.values"), *pairs]


def with_pool(page: Page, pool: Pool) -> Page:
    """A page that was read, with the pool's numbers for its texts."""
    texts = page["texts"]["text"].combine_chunks()
    numbers = pool.numbers(texts, np.arange(len(texts)))
    for kinds, values in _text_columns(page):
        inside = page[kinds] == vm.TEXT
        page[values][inside] = numbers[page[values][inside]]
    return page


def _taken(store: Kept[Composed], numbers: Ints) -> Composed:
    [whole] = join([piece.take(found) for piece, _, found in store.locate(numbers)])
    return whole


def key_hashes(kinds: Ints, values: Ints, texts: Texts) -> Ints:
    """A hash of each row of values, the same in every process."""
    whole = np.zeros(len(kinds), np.uint64)
    said = texts.said(kinds, values)
    for column in range(kinds.shape[1]):
        whole = (whole ^ said[:, column].view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        whole ^= whole >> np.uint64(29)
    return (whole * np.uint64(0xBF58476D1CE4E5B9)).view(np.int64)
