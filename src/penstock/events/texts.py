"""Columns of text as columns of numbers, so that equal texts are found without a Python object for each."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Words = npt.NDArray[np.uint64]
_WORD = 8
_MASKS = np.array([(1 << (8 * length)) - 1 for length in range(_WORD + 1)], np.uint64)
FACTOR = np.uint64(0xC6A4A7935BD1E995)
SHIFT = np.uint64(47)
"""What a step of MurmurHash64A multiplies by, and by how much it shifts."""
_ROWS = 1 << 15
"""Rows that are hashed together, so that what is computed for them stays in the processor's cache."""


def mixed(numbers: Words, more: Words) -> Words:
    """Numbers that depend on all bits of two numbers: a step of MurmurHash64A.

    >>> len(set(mixed(np.zeros(3, np.uint64), np.arange(3, dtype=np.uint64)).tolist()))
    3
    """
    result: Words = more * FACTOR
    result ^= result >> SHIFT
    result *= FACTOR
    result ^= numbers
    result *= FACTOR
    return result


def hashed(column: pa.Array) -> Words:
    """A number of 64 bits for each text without nulls: equal for equal texts, and hardly ever for others.

    It is MurmurHash64A of the bytes, filled up with zeros to whole words, so it is the same on every machine.

    >>> first, second, third = hashed(pa.array(["a", "b", "a"])).tolist()
    >>> first == third, first == second
    (True, False)
    """
    offsets, data = _offsets(column), _bytes(column)
    result = np.empty(len(column), np.uint64)
    for start in range(0, len(column), _ROWS):
        rows = slice(start, min(start + _ROWS, len(column)))
        result[rows] = _hashed(offsets[rows.start : rows.stop + 1], data)
    return result


def _offsets(column: pa.Array) -> npt.NDArray[np.int32]:
    """Where each text begins and the last one ends."""
    places = column.buffers()[1]
    if places is None or not len(column):
        return np.zeros(len(column) + 1, np.int32)
    return np.frombuffer(places, np.int32, len(column) + 1, column.offset * 4)


def _bytes(column: pa.Array) -> npt.NDArray[np.uint8]:
    """The bytes of all texts, at least a word of them."""
    content = column.buffers()[2]
    data = np.frombuffer(b"" if content is None else content, np.uint8)
    return data if len(data) >= _WORD else np.pad(data, (0, _WORD))


def _hashed(places: npt.NDArray[np.int32], data: npt.NDArray[np.uint8]) -> Words:
    offsets = places.astype(np.int64)
    begins, lengths = offsets[:-1], np.diff(offsets)
    words = np.ndarray((len(data) - _WORD + 1,), "<u8", data.data, 0, (1,))
    result = lengths.astype(np.uint64) * FACTOR
    rows: npt.NDArray[np.int64] | slice = slice(None)
    for done in range(0, int(lengths.max(initial=0)), _WORD):
        if int(lengths.min()) <= done:
            rows = np.flatnonzero(lengths > done)
        result[rows] = mixed(result[rows], _word(words, begins[rows] + done, lengths[rows] - done))
    result ^= result >> SHIFT
    result *= FACTOR
    result ^= result >> SHIFT
    return result


def _word(words: Words, begins: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Words:
    """The bytes from each place on, as many as are left of the text and fit into a word."""
    last = len(words) - 1
    found = words[np.minimum(begins, last)]
    beyond = np.flatnonzero(begins > last)
    if len(beyond):
        found[beyond] >>= (8 * (begins[beyond] - last)).astype(np.uint64)
    return found & _MASKS[np.minimum(lengths, _WORD)]


def is_rising(column: pa.Array) -> bool:
    """Whether each text is longer than the one before it, or as long and after it by its bytes.

    This is how counters are written, so it is a cheap proof that all texts are different.

    >>> is_rising(pa.array(["8", "9", "10"])), is_rising(pa.array(["8", "8"]))
    (True, False)
    """
    return all(_rises(column.slice(start, _ROWS + 1)) for start in range(0, len(column) - 1, _ROWS))


def _rises(column: pa.Array) -> bool:
    offsets = _offsets(column)
    lengths = np.diff(offsets)
    if len(lengths) > _WORD and 0 < lengths[0] <= _WORD and (lengths == lengths[0]).all():
        return _words_rise(column, int(offsets[0]), int(lengths[0]))
    if (lengths[1:] < lengths[:-1]).any():
        return False
    after = pc.greater(column.slice(1), column.slice(0, len(column) - 1))
    return pc.all(after).as_py() or bool(((lengths[1:] > lengths[:-1]) | np.asarray(after)).all())


def _words_rise(column: pa.Array, start: int, length: int) -> bool:
    """The same for texts of one length, each of which fits into a word, the first of which begins at ``start``."""
    data = _bytes(column)
    whole = min(len(column), (len(data) - start - _WORD) // length + 1)  # behind the last texts there may be no word
    words = np.ndarray((whole,), ">u8", data.data, start, (length,)) >> np.uint64(8 * (_WORD - length))
    rest = column.slice(whole - 1).to_pylist() if whole < len(column) else []
    return bool((words[1:] > words[:-1]).all()) and all(one < other for one, other in pairwise(rest))


def has_empty(column: pa.Array) -> bool:
    """Whether a text is empty or absent.

    >>> has_empty(pa.array(["door-1", "é"])), has_empty(pa.array(["door-1", None]))
    (False, True)
    """
    ends = _offsets(column)
    stretches = (ends[start : start + _ROWS + 1] for start in range(0, len(column), _ROWS))
    return bool(column.null_count) or any(bool((some[1:] == some[:-1]).any()) for some in stretches)
