"""An engine's state from its pages: what is in several of them becomes one again, and memory is laid out anew."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.composed import Composed
from penstock.engine.definition import DefinitionEngine
from penstock.engine.groups import group
from penstock.engine.heap import RUNS, link_runs
from penstock.engine.memory import Ints
from penstock.engine.moves import link_all_made
from penstock.engine.nesting import Detection
from penstock.engine.pages import COMPOSED, RUN_COLUMNS, Page
from penstock.engine.past import Past
from penstock.engine.store import Symbols
from penstock.engine.together import LOOSE
from penstock.events.table import EventTable


def restore_definition(engine: DefinitionEngine, symbols: Symbols, pages: list[Page], met: int) -> None:
    """Brings a fresh definition to where its pages were written; the first page is the common one."""
    first = _restore_instances(engine, pages)
    slots = _restore_symbols(engine, symbols, pages, met)
    for number, one in enumerate(engine.detections):
        _restore_runs(one, number, pages, first, slots, engine)


def _restore_instances(engine: DefinitionEngine, pages: list[Page]) -> list[int]:
    """Numbers the instances of all pages; returns where those of each page begin."""
    first, known = [0], engine.instances
    for page in pages[1:]:
        kinds, values = page["key.kinds"].T, page["key.values"].T
        key = [(_one_kind(one), bits) for one, bits in zip(kinds, values, strict=True)]
        first.append(known.count)
        if len(page["key.kinds"]):
            known.numbers(key)
    return first


def _one_kind(kinds: Ints) -> Ints | int:
    """One kind for all where there is only one: they are found faster so."""
    return int(kinds[0]) if len(kinds) and (kinds == kinds[0]).all() else kinds


def _restore_symbols(engine: DefinitionEngine, symbols: Symbols, pages: list[Page], met: int) -> list[Ints]:
    """Puts the symbols of all pages together; returns the numbers of each page's."""
    identities, rows = np.unique(np.concatenate([page["symbol.identity"] for page in pages]), return_index=True)

    def column(name: str) -> Ints:
        whole: Ints = np.concatenate([page[name] for page in pages])[rows]
        return whole

    engine.symbols.put(identities, column("symbol.kinds"), column("symbol.values"), met)
    symbols.put(column("symbol.owner"), column("symbol.row"))
    numbers: list[Ints] = [np.asarray(np.searchsorted(identities, page["symbol.identity"])) for page in pages]
    return numbers


def _restore_runs(
    one: Detection, number: int, pages: list[Page], first: list[int], slots: list[Ints], engine: DefinitionEngine
) -> None:
    """Lays out the memory of one program."""
    memory, common = one.runner.memory, pages[0]
    counted = [page[f"{number}.runs"] for page in pages]
    total, nodes = sum(map(len, counted)), sum(len(page[f"{number}.node.symbol"]) for page in pages)
    instances = engine.instances.count if one.parameters else 1
    memory.fit(2 * total + RUNS, 2 * nodes + 2 * RUNS, 2 * instances, len(common[f"{number}.last.node"]))
    state = memory.rows(m.INSTANCES, m.INSTANCE_WIDTH, instances)
    state[:] = 0
    state[:, m.DEAD] = common[f"{number}.dead"][0]
    rows = memory.rows(m.RUNS, m.RUN_WIDTH, total + 1)
    clocks = memory.rows(m.CLOCKS, memory.clocked, total + 1)
    matched = memory.rows(m.NODES, m.NODE_WIDTH, nodes)
    owners: Ints = np.zeros(total + 1, np.int64)
    tops: Ints = np.full(total + 1, LOOSE)
    run, node = 1, 0
    for page, start, numbers in zip(pages, first, slots, strict=True):
        part = {name.removeprefix(f"{number}."): value for name, value in page.items() if name.startswith(f"{number}.")}
        inside = slice(run, run + len(part["runs"]))
        rows[inside, list(RUN_COLUMNS)] = part["runs"]
        rows[inside, m.HEAD_NODE] += node
        clocks[inside] = part["clocks"]
        owners[inside] = part["owners"] + start
        if one.parameters and len(part["dead"]):
            state[start : start + len(part["dead"]), m.DEAD] = part["dead"]
        here = slice(node, node + len(part["node.symbol"]))
        matched[here, m.SYMBOL] = numbers[part["node.symbol"]]
        matched[here, m.PARENT] = np.where(part["node.parent"] < 0, -1, part["node.parent"] + node)
        matched[here, m.LABELS], matched[here, m.HASH] = part["node.labels"], part["node.hash"]
        if "tops" in part:
            tops[inside] = np.where(part["tops"] < 0, LOOSE, part["tops"] + node)
            matched[here, m.AFTER] = np.where(part["node.hash"] < 0, -1, part["node.hash"] + node)
        run, node = inside.stop, here.stop
    link_runs(rows, state, owners)
    if one.runner.is_together:
        group(rows, owners, tops)
    memory.set_used(total, nodes, instances)
    _restore_common(one, number, common, slots[0], engine)
    memory.wait(clocks[1:], owners[1:])


def _restore_common(one: Detection, number: int, page: Page, slots: Ints, engine: DefinitionEngine) -> None:
    """What concerns all instances: counts, the past that new ones look back at, and what was made last."""
    runner, memory = one.runner, one.runner.memory
    cells = [m.NOW, m.FAILED, m.EXPIRED, m.DROPPED, m.REPLACED, m.OPEN]
    memory.counts[cells] = page[f"{number}.counts"]
    runner.until = page[f"{number}.until"]
    keys = page.get(f"{number}.past.keys")
    runner.past = Past()
    runner.past.put(page[f"{number}.past"].reshape(-1, m.PLACE_WIDTH), None if keys is None else keys.reshape(-1, 2))
    runner.past.symbols[:] = slots[page[f"{number}.past.symbol"]]
    kinds, values = page[f"{number}.last.owner.kinds"], page[f"{number}.last.owner.values"]
    made = memory.rows(m.MADE, m.MADE_WIDTH, len(page[f"{number}.last.node"]))
    if len(made):
        key = [(kinds[:, n].copy(), values[:, n].copy()) for n in range(kinds.shape[1])]
        found = engine.instances.numbers(key) if key else np.zeros(len(made), np.int64)
        made[:, m.MADE_INSTANCE] = np.where(page[f"{number}.last.is_keyed"], found, 0)
        made[:, [m.MADE_LO, m.MADE_HI, m.MADE_HASH]] = page[f"{number}.last.made"]
        made[:, m.MADE_NODE] = page[f"{number}.last.node"]
    memory.counts[m.MADE_COUNT] = memory.counts[m.TAKEN] = len(made)
    memory.counts[m.SINCE] = 0
    link_all_made(memory.arrays)


def events_of(pages: list[Page]) -> list[tuple[Ints, EventTable]]:
    """The events of pages, with their numbers."""
    pieces = []
    for page in pages:
        for number in range(sum(name.startswith("events.") and name.endswith(".numbers") for name in page)):
            prefix = f"events.{number}."
            table = EventTable(page[prefix + "fields"], page[prefix + "attributes"], page[prefix + "fixed"])
            pieces.append((page[prefix + "numbers"], table))
    return pieces


def composites_of(pages: list[Page], owner: int) -> list[tuple[Ints, Composed]]:
    """The composites of a definition that are in pages, with their numbers."""
    return [
        (page[f"made.{owner}.numbers"], Composed(*(page[f"made.{owner}.{name}"] for name in COMPOSED)))
        for page in pages
        if f"made.{owner}.numbers" in page
    ]
