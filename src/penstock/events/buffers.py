"""Bytes in memory that is Arrow's own."""

from __future__ import annotations

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
