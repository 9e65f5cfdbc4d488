"""A number for each event's source and id, by which repeated events are found without comparing text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.events.table import EventTable
from penstock.ordering.places import Ints

Words = NDArray[np.uint64]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_WORD = 8


def name_hashes(table: EventTable) -> Words:
    """Equal for events with the same source and id; different ones hardly ever agree (`same_names` is sure).

    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A"] * 3, "source": ["s", "s", "t"], "id": ["1", "1", "1"], "lo": [1] * 3, "hi": [1] * 3}
    >>> one, two, three = name_hashes(make_table(fields, {})).tolist()
    >>> one == two, one == three
    (True, False)
    """
    sources = table.field("source")
    first = text_hashes(sources.dictionary)[np.asarray(sources.indices)]
    return _mixed(first * _MIX ^ text_hashes(table.field("id")))


def text_hashes(texts: pa.Array) -> Words:
    """A hash of each text, eight bytes at a time over all rows together."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    data = texts.buffers()[2]
    # Eight bytes can be read from anywhere in the texts, the last one included.
    padded = np.frombuffer(bytes(_WORD), np.uint8)
    if data is not None and len(texts):
        padded = np.concatenate([np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]], padded])
    windows: Words = np.ndarray((len(padded) - _WORD + 1,), np.uint64, padded.data, strides=(1,))
    starts, lengths = offsets[:-1] - (offsets[0] if len(texts) else 0), np.diff(offsets)
    hashes = lengths.astype(np.uint64)
    for at in range(0, max(1, int(lengths.max(initial=0))), _WORD):
        longer = at < lengths
        rows: slice | Ints = slice(None) if longer.all() else np.flatnonzero(longer)
        beyond = np.clip(_WORD - (lengths[rows] - at), 0, _WORD).astype(np.uint64) * np.uint64(8)
        # What stands behind a text's end is shifted out.
        hashes[rows] = _mixed(hashes[rows] ^ (windows[starts[rows] + at] << beyond))
    return hashes


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> _HALF)) * _MIX
    return words ^ (words >> _HALF)


def same_names(one: EventTable, rows: Ints, other: EventTable, others: Ints) -> NDArray[np.bool_]:
    """For pairs of rows whether their sources and ids are equal."""
    return np.asarray(pc.and_(*(_equal(field, one, rows, other, others) for field in ("id", "source"))))


def _equal(field: str, one: EventTable, rows: Ints, other: EventTable, others: Ints) -> pa.Array:
    here, there = one.field(field).take(pa.array(rows)), other.field(field).take(pa.array(others))
    return pc.equal(here.cast(pa.string()), there.cast(pa.string()))
