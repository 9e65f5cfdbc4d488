"""Texts and values as columns: the pool's texts with their hashes, times as text, values of several kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.engine import vm
from penstock.engine.hashes import hash_texts, start_sources
from penstock.engine.pool import Pool
from penstock.engine.taking import WORD, add_up, copy_texts, flat, measure_texts, spell
from penstock.errors import DataError
from penstock.events import found
from penstock.events.buffers import column_over
from penstock.events.constants import MOST_BYTES
from penstock.events.digest import START, absorbed
from penstock.events.table import TIME

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Lanes = tuple[Words, Words]
KINDS = {
    vm.BOOLEAN: pa.bool_(),
    vm.INTEGER: pa.int64(),
    vm.FLOAT: pa.float64(),
    vm.TEXT: pa.string(),
    vm.TIME: TIME,
}
"""The columns that hold values of each kind."""
_BEHIND = np.zeros(WORD, np.uint8)


@dataclass(frozen=True)
class Values:
    """Values of any kinds, null included: a kind and 64 bits each; the bits of a text are its number in ``texts``."""

    kinds: NDArray[np.int8]
    bits: Ints
    texts: pa.Array

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def alike(self) -> int | None:
        """The kind of all values, if it is the same."""
        if not len(self):
            return None
        low, high = int(self.kinds.min()), int(self.kinds.max())
        return low if low == high else None

    @cached_property
    def there(self) -> list[int]:
        """The kinds that occur, null left out."""
        some = {self.alike} if self.alike is not None else set(np.unique(self.kinds).tolist())
        return [kind for kind in KINDS if kind in some]

    def of(self, kind: int) -> pa.Array:
        """The values of one kind as a column, null where there is another."""
        mask = None if self.alike == kind else self.kinds != kind
        if kind == vm.TEXT:
            return self.texts.take(pa.array(self.bits, mask=mask))
        if kind == vm.BOOLEAN:
            return pa.array(self.bits.astype(bool), mask=mask)
        if mask is None:
            return column_over(self.bits, KINDS[kind])
        plain = self.bits.view(np.float64) if kind == vm.FLOAT else self.bits
        return pa.array(plain, mask=mask).cast(KINDS[kind])

    def column(self) -> pa.Array:
        """Values that are all of one kind, or numbers, as a column."""
        kinds = self.there
        if not kinds:
            return pa.nulls(len(self))
        if kinds == [vm.INTEGER, vm.FLOAT]:
            return pc.coalesce(self.of(vm.FLOAT), self.of(vm.INTEGER).cast(pa.float64(), safe=False))
        return self.of(kinds[0])


def time_texts(instants: pa.Array) -> pa.Array:
    """Times in RFC 3339, as `penstock.events.times.format_time` writes them.

    >>> time_texts(pa.array([0, 1_500_000, -1, None])).to_pylist()
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:01.500Z', '1969-12-31T23:59:59.999999Z', None]
    """
    plain = instants.cast(pa.int64())
    whole = plain.cast(pa.timestamp("us")).cast(pa.string())
    fraction = np.asarray(plain.fill_null(0)) % 1_000_000
    length = np.where(fraction == 0, 19, np.where(fraction % 1000 == 0, 23, 26))
    cut = [pc.utf8_slice_codeunits(whole, 0, stop) for stop in (19, 23, 26)]
    text = pc.choose(pa.array(np.searchsorted([19, 23, 26], length)), *cut) if fraction.any() else cut[0]
    return pc.binary_join_element_wise(pc.replace_substring(text, " ", "T"), "Z", "")


def text_hashes(texts: pa.Array) -> Lanes:
    """Both lanes of the hash of each text; what they are where one is null does not matter."""
    rows = np.arange(len(texts))
    lanes = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint64)
    put_hashes(texts, rows, rows, np.zeros(len(rows), np.int32), np.array([START], np.uint64), lanes)
    return lanes


def source_starts(sources: pa.Array) -> Words:
    """The lanes to begin with for primitive parts from each of these sources; the last are for composites."""
    return _start_of(sources[0].as_py()) if len(sources) == 1 else _starts(sources)


@lru_cache(maxsize=256)
def _start_of(source: str) -> Words:
    """The same for one source, which often is the same as before."""
    return _starts(pa.array([source], pa.string()))


def _starts(sources: pa.Array) -> Words:
    starts = np.empty((len(sources) + 1, 2), np.uint64)
    start_sources(*text_hashes(sources), starts)
    starts[-1] = absorbed(START, found.COMPOSITE)
    return starts


def put_hashes(texts: pa.Array, rows: Ints, where: Ints, codes: NDArray[np.int32], starts: Words, lanes: Lanes) -> None:
    """Puts hashes of some rows of texts ``where`` they belong; each begins with the start that its code says."""
    hash_texts(rows, where, codes, starts, *flat(texts), lanes)


def taken_texts(pieces: Sequence[tuple[pa.Array, Ints, Ints]], count: int) -> pa.Array:
    """Rows of columns of text without nulls, each ``where`` it belongs; together they fill one column.

    >>> one, two = pa.array(["a", "bc"]), pa.array(["d"])
    >>> taken_texts([(one, np.array([1, 0]), np.array([0, 2])), (two, np.array([0]), np.array([1]))], 3).to_pylist()
    ['bc', 'd', 'a']
    """
    ends = np.zeros(count + 1, np.int32)
    columns = [(rows, where, *flat(texts)) for texts, rows, where in pieces]
    for rows, where, bounds, _ in columns:
        measure_texts(rows, where, bounds, ends)
    total = add_up(ends)
    if total > MOST_BYTES:
        raise DataError("what was found has more text than a column can hold", hint="detect in several stretches")
    data = np.empty(total + WORD, np.uint8)
    for rows, where, bounds, letters in columns:
        copy_texts(len(columns) == 1, rows, where, bounds, letters, ends, data)
    return pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(data))


def spelled(names: pa.DictionaryArray, rows: Ints) -> pa.Array:
    """Some rows of a column of names as a column of text.

    >>> spelled(pa.array(["door", "a", "door"]).dictionary_encode(), np.array([2, 1, 2])).to_pylist()
    ['door', 'a', 'door']
    """
    bounds, letters = flat(names.dictionary)
    room = len(rows) * int(np.diff(bounds).max(initial=0))
    codes = np.asarray(names.indices)
    if room > MOST_BYTES:
        return taken_texts([(names.dictionary, codes[rows].astype(np.int64), np.arange(len(rows)))], len(rows))
    ends, data = np.empty(len(rows) + 1, np.int32), np.empty(room + WORD, np.uint8)
    total = spell(rows, codes.ctypes.data, codes.itemsize, bounds, np.concatenate([letters, _BEHIND]), ends, data)
    return pa.StringArray.from_buffers(len(rows), pa.py_buffer(ends), pa.py_buffer(data[:total]))


class Texts:
    """The texts of a pool as a column, with their hashes; brought up to date where it is asked for."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._texts = pa.array([], pa.string())
        self._hashes: Lanes = (np.zeros(0, np.uint64), np.zeros(0, np.uint64))

    def all(self) -> pa.Array:
        """All texts, by their numbers."""
        known = len(self._texts)
        if known < len(self._pool):
            more = self._pool.texts(known)
            self._hashes = tuple(map(np.concatenate, zip(self._hashes, text_hashes(more), strict=True)))  # type: ignore[assignment]
            self._texts = pa.concat_arrays([self._texts, more])
        return self._texts

    def hashed(self, numbers: Ints) -> Lanes:
        """Both lanes of the texts with these numbers."""
        self.all()
        return self._hashes[0][numbers], self._hashes[1][numbers]

    def said(self, kinds: Ints, bits: Ints) -> Ints:
        """Bits that mean the same whatever numbers texts have: of each text, its hash."""
        said = bits.copy()
        is_text = kinds == vm.TEXT
        if is_text.any():
            said[is_text] = self.hashed(bits[is_text])[0].view(np.int64)
        return said

    def __len__(self) -> int:
        return len(self._pool)

    def keep(self, kept: Ints) -> None:
        """Forgets all texts but these, which get the numbers of their places."""
        self._texts = self.all().take(pa.array(kept))
        self._hashes = self._hashes[0][kept], self._hashes[1][kept]
        self._pool.keep(kept)

    def words(self, values: Values) -> tuple[NDArray[np.int8], Words, Words]:
        """What ids take from values: kinds as they tell them apart, and one or two words each."""
        count = len(values)
        if values.alike == vm.INTEGER:
            return np.full(count, found.NUMBER, np.int8), values.bits.view(np.uint64), np.empty(count, np.uint64)
        kinds, words, more = np.zeros(count, np.int8), np.zeros(count, np.uint64), np.zeros(count, np.uint64)
        for kind in values.there:
            rows = slice(None) if values.alike == kind else values.kinds == kind
            bits = values.bits[rows]
            if kind == vm.TEXT:
                kinds[rows], (words[rows], more[rows]) = found.TEXT, self.hashed(bits)
            elif kind == vm.TIME:
                kinds[rows], (words[rows], more[rows]) = found.TEXT, text_hashes(time_texts(pa.array(bits)))
            elif kind == vm.FLOAT:
                kinds[rows], words[rows] = _float_words(bits.view(np.float64))
            else:
                kinds[rows] = found.BOOLEAN if kind == vm.BOOLEAN else found.NUMBER
                words[rows] = bits.view(np.uint64)
        return kinds, words, more


def _float_words(values: NDArray[np.float64]) -> tuple[NDArray[np.int8], Words]:
    """Whole numbers as integers, nothing for what is no number."""
    whole = (np.floor(values) == values) & (values >= -(2.0**63)) & (values < 2.0**63)
    kinds = np.where(whole, found.NUMBER, np.where(np.isnan(values), 0, found.FLOAT)).astype(np.int8)
    integers = np.where(whole, values, 0).astype(np.int64)
    return kinds, np.where(whole, integers, values.view(np.int64)).view(np.uint64)
