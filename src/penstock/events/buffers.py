"""Bytes in memory that is Arrow's own, and columns over memory that is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def arrow_buffer(content: bytes) -> pa.Buffer:
    """A copy that knows nothing of Python, for Arrow's readers, whose threads may let go of it after the end.

    A thread that gives memory back to Python while the process ends is stopped, and the process with it.

    >>> arrow_buffer(b"type,time").to_pybytes()
    b'type,time'
    """
    buffer = pa.allocate_buffer(len(content))
    memoryview(buffer).cast("B")[:] = content
    return buffer


def column_over(values: npt.NDArray[Any], kind: pa.DataType | None = None) -> pa.Array:
    """A column of the 64 bits of each value, whole numbers unless said otherwise; an array's bytes are not copied.

    >>> column_over(np.array([1_500_000]), pa.timestamp("us", "UTC")).cast(pa.string()).to_pylist()
    ['1970-01-01 00:00:01.500000Z']
    """
    whole = np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind or _WHOLE, len(whole), [None, pa.py_buffer(whole)], null_count=0)


_WHOLE = pa.int64()
