"""The primitive events below the parts of composites, each with the path of composites that lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock.engine.composed import PRIMITIVE, has_parts
from penstock.engine.found import Found
from penstock.engine.kept import Ints, by_owner, ranges
from penstock.events.event import Event

INSIDE = -2
"""Owns the primitive events that composites were read with."""


@dataclass
class ReadComposites:
    """Composites that were read with their parts, as an owner of rows beside the definitions."""

    number: int
    composites: list[Event] = field(default_factory=list)
    leaves: list[Event] = field(default_factory=list)
    parts: list[list[tuple[int, int]]] = field(default_factory=list)
    known: dict[int, int] = field(default_factory=dict)

    def add(self, event: Event) -> tuple[int, int]:
        """The owner and the number of an event that was read as such, or as a part of one."""
        if not event.parts:
            self.leaves.append(event)
            return INSIDE, len(self.leaves) - 1
        number = len(self.composites)
        self.composites.append(event)
        self.parts.append([])
        self.parts[number] = [self.add(part) for part in event.parts]
        return self.number, number

    def inside(self) -> Inside:
        """What is inside them."""
        flat = np.array([part for parts in self.parts for part in parts], np.int64).reshape(-1, 2)
        return Inside(np.cumsum([0, *map(len, self.parts)]), flat[:, 0], flat[:, 1])


@dataclass(frozen=True)
class Inside:
    """The parts of composites: those of a row are ``offsets[row]`` to ``offsets[row + 1]`` of the others."""

    offsets: Ints
    owners: Ints
    rows: Ints


@dataclass(frozen=True)
class Unfolded:
    """Leaves in order. ``part`` is the part that each is in, ``path`` has a row for each and the entries around it.

    An entry, -1 for none, is a row of ``around``: owner, number, and place among the parts of the composite around.
    """

    owners: Ints
    rows: Ints
    part: Ints
    path: Ints
    around: Ints
    read: ReadComposites


def unfold(found: Found, owners: Ints, rows: Ints, bounds: Ints, is_flat: bool) -> Unfolded:
    """The leaves below parts; those of a composite are between two bounds. Where all is flat, the parts are leaves."""
    read = ReadComposites(len(found.definitions))
    path, around = np.zeros((len(rows), 0), np.int64), np.zeros((0, 3), np.int64)
    if is_flat:
        return Unfolded(owners, rows, rows[:0], path, around, read)
    part, places = np.arange(len(rows)), places_of(np.diff(bounds))
    while True:
        owners, rows = _read(found, owners, rows, read)
        deep = owners >= 0
        if not deep.any():
            return Unfolded(owners, rows, part, path, around, read)
        entries = np.where(deep, np.cumsum(deep) - 1 + len(around), -1)
        around = np.concatenate([around, np.stack([owners[deep], rows[deep], places[deep]], axis=1)])
        path = np.concatenate([path, entries[:, None]], axis=1)
        owners, rows, places, counts = _opened(found, owners, rows, places, read)
        part, path = np.repeat(part, counts), np.repeat(path, counts, axis=0)


def _opened(
    found: Found, owners: Ints, rows: Ints, places: Ints, read: ReadComposites
) -> tuple[Ints, Ints, Ints, Ints]:
    """The same rows with their parts in place of composites, and how many each became."""
    counts = np.ones(len(rows), np.int64)
    pieces = list(_pieces(found, owners, rows, read))
    for inside, where, indices in pieces:
        counts[where] = np.diff(inside.offsets)[indices]
    starts = np.cumsum(counts) - counts
    opened = [np.repeat(one, counts) for one in (owners, rows, places)]
    for inside, where, indices in pieces:
        here = ranges(starts[where], counts[where])
        there = ranges(inside.offsets[indices], counts[where])
        opened[0][here], opened[1][here] = inside.owners[there], inside.rows[there]
        opened[2][here] = there - np.repeat(inside.offsets[indices], counts[where])
    return opened[0], opened[1], opened[2], counts


def _pieces(found: Found, owners: Ints, rows: Ints, read: ReadComposites) -> Iterator[tuple[Any, Ints, Ints]]:
    """What is inside composites: their parts, which rows these composites are, and theirs there."""
    for owner, chosen in by_owner(owners):
        if owner == read.number:
            yield read.inside(), chosen, rows[chosen]
        elif owner >= 0:
            for piece, where, indices in found.definitions[owner].known.locate(rows[chosen]):
                yield piece, chosen[where], indices


def _read(found: Found, owners: Ints, rows: Ints, read: ReadComposites) -> tuple[Ints, Ints]:
    """Events that were read with parts become composites of an owner of their own."""
    masks = [has_parts(table) for table in found.events.pieces]
    if not any(len(mask) for mask in masks):
        return owners, rows
    owners, rows = owners.copy(), rows.copy()
    chosen = np.flatnonzero(owners == PRIMITIVE)
    for table, where, indices in found.events.locate(rows[chosen]):
        mask = has_parts(table)
        if not len(mask):
            continue
        inner = np.flatnonzero(mask[indices])
        _add(table, indices[inner], rows[chosen[where[inner]]], read)
        at = chosen[where[inner]]
        rows[at] = [read.known[row] for row in rows[at].tolist()]
        owners[at] = read.number
    return owners, rows


def _add(table: Any, indices: Ints, numbers: Ints, read: ReadComposites) -> None:
    fresh, first = np.unique(numbers, return_index=True)
    for number, event in zip(fresh.tolist(), table.take(indices[first]).to_events(), strict=True):
        if number not in read.known:
            read.known[number] = read.add(event)[1]


def places_of(counts: Ints) -> Ints:
    """The place of each part in its composite, from 0.

    >>> places_of(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return ranges(np.zeros(len(counts), np.int64), counts)
