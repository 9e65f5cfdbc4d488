"""Composites of one definition as columns, and how they are made of what the kernel gives."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.algebra.conditions import Parameter
from penstock.automaton.program import Program
from penstock.engine import vm
from penstock.engine.hashes import hash_composites, hash_composites_as_parts
from penstock.engine.kept import Ints, Kept, by_owner, joined, ranges
from penstock.engine.keys import Instances
from penstock.engine.made import Made
from penstock.engine.taking import are_in_order
from penstock.engine.texts import Lanes, Texts, Values, Words, put_hashes, source_starts
from penstock.events.digest import DIGITS, START, absorbed, text_lanes
from penstock.events.found import labels_lanes
from penstock.events.table import EventTable

PRIMITIVE = -1
"""Stands for the input, where definitions are numbered."""
_INPUT = np.int64(PRIMITIVE).tobytes()


def of_input(count: int) -> Ints:
    """The owner of so many rows of the input, for each of them; one number stands for all.

    >>> of_input(2)
    array([-1, -1])
    """
    return np.ndarray((count,), np.int64, _INPUT, strides=(0,))


def are_of_input(owners: Ints) -> bool:
    """Whether all these are rows of the input.

    >>> are_of_input(of_input(2)), are_of_input(np.array([PRIMITIVE, 0]))
    (True, False)
    """
    if len(owners) and owners.strides == (0,):
        return owners.item(0) == PRIMITIVE
    return bool((owners == PRIMITIVE).all())


@dataclass(frozen=True, eq=False)
class Composed:
    """Composites, a row each. ``words`` are the digits of their ids, three times eight.

    The parts of a row are ``offsets[row]`` to ``offsets[row + 1]`` of ``owners``, ``rows`` and ``labels``: whose each
    is (`PRIMITIVE`, or the number of a definition), its number there, and a mask of the labels that it has. Of
    ``kinds`` and ``bits`` there is a column for each attribute. ``leaves`` are the events below, by the numbers of
    their rows.
    """

    lo: Ints
    hi: Ints
    words: Words
    kinds: NDArray[np.int8]
    bits: Ints
    offsets: Ints
    owners: Ints
    rows: Ints
    labels: Ints
    leaf_offsets: Ints
    leaves: Ints

    def __len__(self) -> int:
        return len(self.lo)

    @property
    def is_flat(self) -> bool:
        """Whether all parts are rows of the input."""
        return self.leaves is self.rows

    @property
    def is_in_order(self) -> bool:
        """Whether the composites stand in the order of results."""
        return bool(are_in_order(self.hi, self.lo, self.leaf_offsets, self.leaves))

    def take(self, indices: Ints) -> Composed:
        """Some of the composites."""
        offsets, parts = _cut(self.offsets, indices)
        rows = self.rows[parts]
        leaf_offsets, leaves = (offsets, rows) if self.is_flat else self._leaves(indices)
        return Composed(
            self.lo[indices],
            self.hi[indices],
            self.words[indices],
            self.kinds[indices],
            self.bits[indices],
            offsets,
            self.owners[parts],
            rows,
            self.labels[parts],
            leaf_offsets,
            leaves,
        )

    def _leaves(self, indices: Ints) -> tuple[Ints, Ints]:
        offsets, leaves = _cut(self.leaf_offsets, indices)
        return offsets, self.leaves[leaves]

    def ids(self) -> pa.Array:
        """The ids as a column."""
        bounds = np.arange(0, DIGITS * (len(self) + 1), DIGITS, dtype=np.int32)
        data = np.ascontiguousarray(self.words)
        return pa.Array.from_buffers(pa.string(), len(self), [None, pa.py_buffer(bounds), pa.py_buffer(data)])


def join(pieces: list[Composed]) -> list[Composed]:
    """Composites of one definition as one piece."""
    if len(pieces) < 2:
        return pieces
    columns = {one.name: joined([getattr(piece, one.name) for piece in pieces]) for one in fields(Composed)}
    columns["offsets"] = _joined_offsets([piece.offsets for piece in pieces])
    columns["leaf_offsets"] = _joined_offsets([piece.leaf_offsets for piece in pieces])
    if all(piece.is_flat for piece in pieces):
        columns |= {"leaf_offsets": columns["offsets"], "leaves": columns["rows"]}
    return [Composed(**columns)]


class Composer:
    """Makes the composites of one definition; ``labels`` are their names by bit."""

    def __init__(
        self, program: Program, labels: list[str], texts: Texts, events: Kept[EventTable], stores: list[Kept[Composed]]
    ) -> None:
        self.name = program.name
        self.labels = labels
        self._inlined: dict[int, Composer] = {}
        self._texts = texts
        self._events = events
        self._stores = stores
        selected = [one.name for one in program.selected]
        self._parameters = [number for number, name in enumerate(program.parameters) if name not in selected]
        self.attributes = [program.parameters[number] for number in self._parameters] + selected
        self._of_parameters = list(enumerate(self._parameters))
        for column, one in enumerate(program.selected, len(self._parameters)):
            if isinstance(one.value, Parameter):
                self._of_parameters.append((column, program.parameters.index(one.value.name)))
        self._order = sorted(range(len(self.attributes)), key=lambda number: self.attributes[number].encode())
        lanes = [text_lanes(self.attributes[number]) for number in self._order]
        self._names: Words = np.array(lanes, np.uint64).reshape(-1, 2)
        self._start: Words = np.array(absorbed(START, *text_lanes(program.name)), np.uint64)

    def compose(self, made: Made, instances: Instances, owners: Ints, rows: Ints) -> Composed:
        """The composites that the kernel made, whose parts are these rows of these owners."""
        if not len(made):
            return self.nothing()
        kinds, bits = self._values(made, instances)
        return self.from_columns(made.lo, made.hi, kinds, bits, made.offsets, owners, rows, made.labels)

    def from_columns(
        self,
        lo: Ints,
        hi: Ints,
        kinds: NDArray[np.int8],
        bits: Ints,
        offsets: Ints,
        owners: Ints,
        rows: Ints,
        labels: Ints,
    ) -> Composed:
        """Composites with these stamps, attributes and parts; of inlined ones among the parts, what they matched."""
        if self._inlined:
            offsets, owners, rows, labels = self._with_inlined(offsets, owners, rows, labels)
        is_flat = are_of_input(owners)
        leaf_offsets, leaves = (offsets, rows) if is_flat else _leaves(offsets, owners, rows, self._stores)
        words = self._ids(lo, hi, kinds, bits, offsets, owners, rows, labels, is_flat)
        return Composed(lo, hi, words, kinds, bits, offsets, owners, rows, labels, leaf_offsets, leaves)

    def inline(self, others: dict[int, Composer]) -> None:
        """Composites of these owners are not parts themselves: what they matched is, under their labels too."""
        self._inlined = others
        for other in others.values():
            self.labels += [label for label in other.labels if label not in self.labels]

    @property
    def inlines(self) -> bool:
        """Whether parts of others may become parts of its composites."""
        return bool(self._inlined)

    def _with_inlined(self, offsets: Ints, owners: Ints, rows: Ints, labels: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        counts = np.ones(len(rows), np.int64)
        found = []
        for owner, chosen in by_owner(owners):
            if owner in self._inlined:
                for piece, where, indices in self._stores[owner].locate(rows[chosen]):
                    counts[chosen[where]] = np.diff(piece.offsets)[indices]
                    found.append((owner, piece, chosen[where], indices))
        bounds = np.concatenate([[0], np.cumsum(counts)])
        whole: list[Ints] = [np.repeat(one, counts) for one in (owners, rows, labels)]
        for owner, piece, where, indices in found:
            here = ranges(bounds[where], counts[where])
            there = ranges(piece.offsets[indices], counts[where])
            whole[0][here], whole[1][here] = piece.owners[there], piece.rows[there]
            whole[2][here] |= _renamed(piece.labels[there], self._inlined[owner].labels, self.labels)
        return bounds[offsets], whole[0], whole[1], whole[2]

    def nothing(self) -> Composed:
        """No composites."""
        none, width = np.zeros(0, np.int64), len(self.attributes)
        kinds, bits = np.zeros((0, width), np.int8), np.zeros((0, width), np.int64)
        start = np.zeros(1, np.int64)
        return Composed(none, none, np.zeros((0, 3), np.uint64), kinds, bits, start, none, none, none, start, none)

    def _values(self, made: Made, instances: Instances) -> tuple[NDArray[np.int8], Ints]:
        """Kinds and bits of all attributes; parameters that came from a column of floats are floats."""
        chosen = self._parameters
        only = instances.only_kind
        may_be_floats = made.kinds.size > 0 or only in (None, vm.FLOAT) or bool(instances.floats)
        bits = instances.values.take(made.instance, axis=0)
        if only is not None and len(chosen) == len(self.attributes) and not may_be_floats:
            return np.full(bits.shape, only, np.int8), bits
        bits = np.concatenate([bits[:, chosen], made.values], axis=1)
        kinds = np.empty(bits.shape, np.int8)
        for column, number in enumerate(chosen):
            kinds[:, column] = only if only is not None else instances.kinds[made.instance, number]
        kinds[:, len(chosen) :] = made.kinds
        for column, number in self._of_parameters:
            if number in instances.floats:
                whole = kinds[:, column] == vm.INTEGER
                bits[whole, column] = bits[whole, column].astype(np.float64).view(np.int64)
                kinds[whole, column] = vm.FLOAT
        if may_be_floats and (kinds == vm.FLOAT).any():
            kinds[(kinds == vm.FLOAT) & np.isnan(bits.view(np.float64))] = vm.NULL
        return kinds, bits

    def _ids(
        self,
        lo: Ints,
        hi: Ints,
        kinds: NDArray[np.int8],
        bits: Ints,
        offsets: Ints,
        owners: Ints,
        rows: Ints,
        labels: Ints,
        is_flat: bool,
    ) -> Words:
        """The digits of the composites' ids."""
        words = np.empty((len(lo), 3), np.uint64)
        stamps = np.ascontiguousarray(lo).view(np.uint64), np.ascontiguousarray(hi).view(np.uint64)
        parts = self._parts(owners, rows, labels, is_flat)
        hash_composites(self._start, self._names, self._hashable(kinds, bits), stamps, offsets, parts, words)
        return words

    def _hashable(self, kinds: NDArray[np.int8], bits: Ints) -> tuple[NDArray[np.int8], Words, Words]:
        """What ids take from attributes, a row for each in the order of their names."""
        columns = [self._words(kinds[:, number], bits[:, number]) for number in self._order]
        if not columns:
            return np.zeros((0, 0), np.int8), np.zeros((0, 0), np.uint64), np.zeros((0, 0), np.uint64)
        if len(columns) == 1:
            [(only, word, more)] = columns
            return only.reshape(1, -1), word.reshape(1, -1), more.reshape(1, -1)
        kind, first, second = (np.stack(some) for some in zip(*columns, strict=True))
        return kind, first, second

    def _words(self, kinds: NDArray[np.int8], bits: Ints) -> tuple[NDArray[np.int8], Words, Words]:
        texts = self._texts.all() if (kinds == vm.TEXT).any() else _NO_TEXTS
        return self._texts.words(Values(kinds, np.ascontiguousarray(bits), texts))

    def _parts(self, owners: Ints, rows: Ints, labels: Ints, is_flat: bool) -> Lanes:
        """What ids take from parts and their labels."""
        lanes = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint64)
        if is_flat:
            for table, where, indices in self._events.locate(rows):
                _hash_events(table, indices, where, lanes)
        for owner, chosen in () if is_flat else by_owner(owners):
            if owner == PRIMITIVE:
                for table, where, indices in self._events.locate(rows[chosen]):
                    _hash_events(table, indices, chosen[where], lanes)
            else:
                for piece, where, indices in self._stores[owner].locate(rows[chosen]):
                    hash_composites_as_parts(indices, chosen[where], piece.words, lanes)
        if self.labels and labels.any():
            masks, codes = np.unique(labels, return_inverse=True)
            named = np.array([labels_lanes(labels_of(mask, self.labels)) for mask in masks.tolist()], np.uint64)
            for lane, words in zip(lanes, named.T, strict=True):
                lane += words[codes]
        return lanes


def labels_of(mask: int, labels: list[str]) -> list[str]:
    """The labels in a mask.

    >>> labels_of(5, ["x", "y", "z"])
    ['x', 'z']
    """
    return [label for bit, label in enumerate(labels) if (mask >> bit) & 1]


def _renamed(masks: Ints, before: list[str], after: list[str]) -> Ints:
    """Masks of labels by other numbers."""
    renamed = np.zeros(len(masks), np.int64)
    for bit, label in enumerate(before):
        renamed |= ((masks >> bit) & 1) << after.index(label)
    return renamed


def has_parts(table: EventTable) -> NDArray[np.bool_]:
    """Which events are composites that were read with their parts; nothing at all if none is."""
    parts = table.field("parts")
    if parts.null_count == len(parts):
        return np.zeros(0, bool)
    return np.asarray(pc.not_equal(parts, "[]").fill_null(False))


def _hash_events(table: EventTable, rows: Ints, where: Ints, lanes: Lanes) -> None:
    """Puts what ids take from events ``where`` these are parts."""
    source, composite = table.field("source"), has_parts(table)
    names = source.dictionary
    codes = np.zeros(len(rows), np.int32) if len(names) == 1 else np.asarray(source.indices)[rows]
    if len(names) > len(rows):
        used, codes = np.unique(codes, return_inverse=True)
        codes, names = codes.astype(np.int32), names.take(pa.array(used))
    starts = source_starts(names)
    if len(composite):
        codes[composite[rows]] = len(names)
    put_hashes(table.field("id"), rows, where, codes, starts, lanes)


def _leaves(offsets: Ints, owners: Ints, rows: Ints, stores: list[Kept[Composed]]) -> tuple[Ints, Ints]:
    """The events below composites, in place of the composites among their parts."""
    counts = np.ones(len(rows), np.int64)
    found = []
    for owner, chosen in by_owner(owners):
        if owner != PRIMITIVE:
            for piece, where, indices in stores[owner].locate(rows[chosen]):
                counts[chosen[where]] = np.diff(piece.leaf_offsets)[indices]
                found.append((piece, chosen[where], indices))
    bounds = np.concatenate([[0], np.cumsum(counts)])
    leaves = np.empty(bounds[-1], np.int64)
    plain = owners == PRIMITIVE
    leaves[bounds[:-1][plain]] = rows[plain]
    for piece, where, indices in found:
        leaves[ranges(bounds[where], counts[where])] = piece.leaves[ranges(piece.leaf_offsets[indices], counts[where])]
    return bounds[offsets], leaves


def _cut(offsets: Ints, indices: Ints) -> tuple[Ints, Ints]:
    """Offsets of some rows, and which elements are theirs."""
    counts = np.diff(offsets)[indices]
    return np.concatenate([[0], np.cumsum(counts)]), ranges(offsets[:-1][indices], counts)


def _joined_offsets(some: list[Ints]) -> Ints:
    ends = np.cumsum([0, *(offsets[-1] for offsets in some)])
    return np.concatenate([*(offsets[:-1] + end for offsets, end in zip(some, ends, strict=False)), ends[-1:]])


_NO_TEXTS = pa.array([], pa.string())
