"""Whether events of one name, which is their source and id, are all in the same buckets.

Then each bucket leaves out repeated ones by itself, and events need to move but once. Of ids that rise like a counter,
the ends are enough to show that all are different (`penstock.spark.stretches`). Beside other events goes a number of 64
bits for each: the hash of its name, and in the lowest bits which buckets need it. Those of one name meet in one share,
where numbers that differ in the lowest bits alone are events of one name in different buckets. Equal hashes of
different names may look like that too, and counters may overlap; this is rare and does no harm:
`penstock.spark.settling` is the way for all of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.events.constants import constant
from penstock.events.repeats import name_hashes
from penstock.events.settling import NAME
from penstock.events.texts import Words
from penstock.spark.packing import Blob, Ints, Packer, Recipe, Route, shared_out
from penstock.spark.stretches import from_table, may_meet, stretch_of, to_table

NAMES, STRETCH = "names", "stretch"
"""Blobs of numbers for names, and of where the ids of a batch begin and end."""
APART = pa.schema([("apart", pa.bool_())])
"""The rows that say that events of one name may be in different buckets; there are none if that is not so."""
_MOST_BITS = 24
"""So many bits of a number may be taken from the hash: fewer bits of hash would often be equal for different names."""


@dataclass(frozen=True)
class Places:
    """Which buckets need an event, as one number: a digit for each group.

    A digit is 0 if no bucket of the group needs the event, a bucket's number from 1 on if that alone does, the next one
    for all buckets, and the last one for several, of which it does not say which.
    """

    sizes: tuple[int, ...]

    @classmethod
    def of(cls, recipe: Recipe) -> Places:
        """The groups of a recipe."""
        return cls(tuple(size for _, size in recipe.split.places(recipe.buckets)))

    @property
    def bits(self) -> int:
        """How many bits a number takes."""
        whole = 1
        for size in self.sizes:
            whole *= size + 3
        return (whole - 1).bit_length()

    @property
    def are_few(self) -> bool:
        """Whether numbers are small enough to stand beside a hash."""
        return self.bits <= _MOST_BITS

    def numbers(self, routes: Sequence[Route], events: int) -> Ints:
        """The number for each of so many events, whose routes are given for each group."""
        whole = np.zeros(events, np.int64)
        for (first, size), (rows, buckets) in zip(self._firsts(), routes, strict=True):
            whole = whole * (size + 3) + _digits(rows, buckets - first, size, events)
        return whole

    def _firsts(self) -> Iterator[tuple[int, int]]:
        first = 0
        for size in self.sizes:
            yield first, size
            first += size

    def are_unclear(self, numbers: Words) -> np.typing.NDArray[np.bool_]:
        """Which numbers have a digit that does not say which buckets it means."""
        unclear, rest = np.zeros(len(numbers), bool), numbers
        for size in reversed(self.sizes):
            unclear |= rest % np.uint64(size + 3) == size + 2
            rest = rest // np.uint64(size + 3)
        return unclear


def _digits(rows: Ints, buckets: Ints, size: int, events: int) -> Ints:
    digits = np.zeros(events, np.int64)
    digits[rows] = buckets + 1
    if len(rows) > np.count_nonzero(digits):
        counts = np.bincount(rows, minlength=events)
        digits[counts > 1] = size + 2
        digits[counts == size] = size + 1
    return digits


class NamingPacker(Packer):
    """Packs events for their buckets, and beside them what shows whether their names are different.

    >>> from penstock import parse
    >>> from penstock.spark.split import split
    >>> packer = NamingPacker(Recipe(split([parse("[A(k = $k)] ; [B(k = $k)]")]), 2))
    >>> packed = packer.pack(pa.table({"type": ["A"], "id": ["1"], "time": [1], "k": [1]}))
    >>> packed["kind"].to_pylist(), packed["bucket"].to_pylist()[1] >= packer.recipe.total
    (['events', 'stretch', 'names'], True)
    """

    def __init__(self, recipe: Recipe, *, tells_progress: bool = True) -> None:
        super().__init__(recipe, tells_progress=tells_progress)
        self._places = Places.of(recipe)

    def _beside(self, flat: pa.Table, routes: Sequence[Route]) -> Iterator[Blob]:
        if not len(flat):
            return
        stretch = stretch_of(flat)
        yield STRETCH, self.recipe.total, to_table(stretch)
        if stretch.is_known:
            yield from self._numbers(flat, routes)

    def _numbers(self, flat: pa.Table, routes: Sequence[Route]) -> Iterator[Blob]:
        hashes, bits = names_of(flat), np.uint64(self._places.bits)
        shares = ((hashes & ((np.uint64(1) << bits) - np.uint64(1))) % np.uint64(self.recipe.buckets)).astype(np.int64)
        places = self._places.numbers(routes, len(flat)).astype(np.uint64)
        words = pa.table({"name": (hashes >> bits << bits) | places})
        for share, some in shared_out(words, np.arange(len(words)), shares, self.recipe.buckets):
            yield NAMES, self.recipe.total + share, some


def names_of(flat: pa.Table) -> Words:
    """The hash of each event's name; the columns are those of blobs."""
    sources = flat["source"].combine_chunks() if "source" in flat.column_names else constant("", NAME, len(flat))
    return name_hashes(sources, flat["id"].combine_chunks())


def apart(recipe: Recipe, batches: Iterable[pa.RecordBatch], *, counts: bool = False) -> Iterator[pa.RecordBatch]:
    """A row of `APART` if events of one name, among those of one share, may be in different buckets.

    If repeated events are to be counted, it is there as soon as two may have one name.
    """
    stretches, words = [], []
    for batch in batches:
        for kind, blob in zip(batch["kind"].to_pylist(), batch["blob"], strict=True):
            table = pa.ipc.open_stream(blob.as_buffer()).read_all()
            if kind == STRETCH:
                stretches.append(from_table(table))
            else:
                words.append(np.asarray(table["name"]))
    if may_meet(stretches) or (words and _are_apart(Places.of(recipe), np.concatenate(words), counts)):
        yield pa.record_batch([[True]], schema=APART)


def _are_apart(places: Places, words: Words, counts: bool) -> bool:
    words.sort()
    bits = np.uint64(places.bits)
    again = np.flatnonzero(words[1:] >> bits == words[:-1] >> bits)
    if counts or not len(again):
        return bool(len(again))
    numbers = words[again] & ((np.uint64(1) << bits) - np.uint64(1))
    return bool((words[again] != words[again + 1]).any() or places.are_unclear(numbers).any())
