"""A pattern that was changed since its state was saved: what has not changed goes on, the rest starts anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.algebra.names import used_types, uses_any_type, without_lets
from penstock.algebra.pattern import Definition, Pattern
from penstock.engine.engine import Engine
from penstock.engine.library import Library
from penstock.engine.pages import Book, Page, with_pool
from penstock.engine.prepared import Choice
from penstock.engine.restoring import composites_of, events_of, restore_definition


@dataclass(frozen=True)
class Changes:
    """How the definitions of a pattern differ from those of an earlier one, by name.

    >>> from penstock import parse
    >>> changes_of(parse("P := [A]\\nQ := [P] ; [B]\\nR := [C]"), parse("P := [A]\\nQ := [P] ; [D]\\nS := [E]"))
    Changes(same=('P',), changed=('Q',), gone=('R',), new=('S',))
    """

    same: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]

    def __str__(self) -> str:
        told = [("has changed", self.changed), ("is gone", self.gone)]
        return ", ".join(f"`{name}` {what}" for what, names in told for name in names)


def changes_of(before: Pattern, after: Pattern, is_same_choice: bool = True) -> Changes:
    """What became of the definitions; one that uses others has changed if one of these has."""
    old = {one.name: one for one in without_lets(before).definitions}
    new = {one.name: one for one in without_lets(after).definitions}
    changed = {name for name in old if name in new and not (is_same_choice and old[name] == new[name])}
    uncertain = old.keys() ^ new.keys() | changed  # a type may have become a definition, or no longer be one
    while True:
        more = {name for name in old if name in new and name not in changed and _uses(new[name], uncertain)}
        if not more:
            break
        changed |= more
        uncertain |= more
    same = tuple(name for name in new if name in old and name not in changed)
    rest = (tuple(name for name in old if name in changed), tuple(name for name in old if name not in new))
    return Changes(same, *rest, tuple(name for name in new if name not in old))


def _uses(definition: Definition, names: set[str]) -> bool:
    return bool(used_types(definition) & names) or (bool(names) and uses_any_type(definition))


def carried_over(old: Library, pattern: Pattern, choice: Choice, same: tuple[str, ...]) -> Library:
    """An engine for another pattern, with the runs of the definitions that are the same."""
    old.everything()
    engine = Engine(pattern, choice)
    before, after = old.engine, engine
    places = {program.name: number for number, program in enumerate(before.programs)}
    owners = {places[one.name]: number for number, one in enumerate(after.programs) if one.name in same}
    after.fed, after.met = before.fed, before.met
    after.events.put([], before.events.end)
    for was, now in owners.items():
        after.stores[now].put([], before.stores[was].end)
        after.told[now] = before.told[was]
    after.begins = after.events.end, [store.end for store in after.stores]
    for was, now in owners.items():
        pages = [with_pool(_renumbered(page, owners), after.pool) for page in _pages(before, was)]
        after.engines[now].instances.floats = set(before.engines[was].instances.floats)
        restore_definition(after.engines[now], after.symbols[now], pages, before.engines[was].symbols.met)
        after.events.merge(events_of(pages), after.begins[0])
        for owner, store in enumerate(after.stores):
            store.merge(composites_of(pages, owner), after.begins[1][owner])
    return Library(engine)


def _pages(engine: Engine, number: int) -> list[Page]:
    book = Book(engine.engines[number], engine.symbols[number], engine.events, engine.stores, engine.pool)
    common, rest = book.page(np.zeros(1, np.int64), is_common=True), book.page(book.instances())
    return [book.whole(common), book.whole(rest)]


def _renumbered(page: Page, owners: dict[int, int]) -> Page:
    """A page with the new numbers of definitions."""
    table = np.arange(-2, max(owners, default=0) + 1)
    for was, now in owners.items():
        table[was + 2] = now
    found: Page = {}
    for name, value in page.items():
        first, *rest = name.split(".")
        if first == "made":
            rest[0] = str(owners[int(rest[0])])
            value = table[value + 2] if rest[1] == "owners" else value
        found[".".join([first, *rest])] = table[value + 2] if name == "symbol.owner" else value
    return found
