"""Columns of one value only, which take little memory and no time."""

from __future__ import annotations

import mmap
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.events.settling import NAME

MOST_BYTES = 2**31 - 1
"""So many bytes of text a column may have."""
_ZEROS = [mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)]
"""The bytes of all constant columns, longer ones behind shorter ones."""


@lru_cache(maxsize=4096)
def named(name: str, length: int) -> pa.DictionaryArray:
    """A column of types or sources that are all the same; made once, so that what is known of it can be kept.

    >>> named("door-1", 2).to_pylist(), named("door-1", 2) is named("door-1", 2)
    (['door-1', 'door-1'], True)
    """
    return constant(name, NAME, length)


def constant(value: Any, kind: pa.DataType, length: int) -> pa.Array:
    """A column of one value only. Where it is absent, false or a name, its bytes are zeros that nobody has written.

    >>> constant("door-1", NAME, 2).to_pylist(), constant(None, pa.int64(), 1).to_pylist()
    (['door-1', 'door-1'], [None])
    >>> constant("é", pa.string(), 3).to_pylist()
    ['é', 'é', 'é']
    """
    if value is None or value is False or value == "":
        return _blank(value, kind, length) if _is_simple(kind) else pa.repeat(pa.scalar(value, kind), length)
    if pa.types.is_dictionary(kind):
        return _name(value, length)
    if kind == pa.string() and len(value.encode()) * length <= MOST_BYTES:
        letters = value.encode()
        bounds = np.arange(length + 1, dtype=np.int32) * np.int32(len(letters))
        return pa.Array.from_buffers(kind, length, [None, pa.py_buffer(bounds), pa.py_buffer(letters * length)])
    return pa.repeat(pa.scalar(value, kind), length)


def _is_simple(kind: pa.DataType) -> bool:
    """Whether absent values of a kind can be made of nothing but zeros, whatever their number."""
    t = pa.types
    return bool(
        t.is_primitive(kind) or t.is_boolean(kind) or t.is_string(kind) or t.is_dictionary(kind) or t.is_list(kind)
    )


def _name(value: Any, length: int) -> pa.Array:
    indices = pa.Array.from_buffers(pa.int32(), length, [None, _zeros(length)], null_count=0)
    return pa.DictionaryArray.from_arrays(indices, pa.array([value], pa.string()), safe=False)


@lru_cache(maxsize=4096)
def _blank(value: Any, kind: pa.DataType, length: int) -> pa.Array:
    """A column that has no bytes but zeros; these are the same for all, so that it costs nothing to keep it."""
    zeros = _zeros(length)
    if pa.types.is_dictionary(kind):
        return _name(value, length)
    if value is None and pa.types.is_list(kind):
        inside = [pa.array([], kind.value_type)]
        return pa.Array.from_buffers(kind, length, [zeros, zeros], null_count=length, children=inside)
    if value is None:
        data = [zeros, zeros, pa.py_buffer(b"")] if kind == pa.string() else [zeros, zeros]
        return pa.Array.from_buffers(kind, length, data, null_count=length)
    if value == "":
        return pa.Array.from_buffers(kind, length, [None, zeros, pa.py_buffer(b"")], null_count=0)
    return pa.Array.from_buffers(kind, length, [None, zeros], null_count=0)


def is_blank(column: pa.Array) -> bool:
    """Whether it is seen at once that a column is one of zeros.

    >>> is_blank(constant(False, pa.bool_(), 2)), is_blank(pa.array([False, False]))
    (True, False)
    """
    data = column.buffers()[1]
    return data is not None and any(pa.py_buffer(zeros).address == data.address for zeros in _ZEROS)


def _zeros(length: int) -> pa.Buffer:
    """Bytes enough for a column of zeros. They are never written, so they take no memory."""
    if length >= len(_ZEROS[-1]) // 8:
        _ZEROS.append(mmap.mmap(-1, 16 * (length + 1), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ))
    return pa.py_buffer(_ZEROS[-1])
