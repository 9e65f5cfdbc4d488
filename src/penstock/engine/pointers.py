"""Arrays as bare pointers: one word each to pass on, and no references to count at each call."""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic

from penstock.engine.compiled import compiled


@intrinsic
def pointer(typing_context, address):
    """An address as a pointer to integers."""
    kind = types.CPointer(types.int64)

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(address), generate


@compiled
def layout_of(arrays):
    """Pointers to the arrays of a layout."""
    return (
        pointer(arrays[0].ctypes.data),
        pointer(arrays[1].ctypes.data),
        pointer(arrays[2].ctypes.data),
        pointer(arrays[3].ctypes.data),
        pointer(arrays[4].ctypes.data),
    )


@compiled
def memory_of(arrays):
    """Pointers to the arrays of a memory."""
    return (
        pointer(arrays[0].ctypes.data),
        pointer(arrays[1].ctypes.data),
        pointer(arrays[2].ctypes.data),
        pointer(arrays[3].ctypes.data),
        pointer(arrays[4].ctypes.data),
        pointer(arrays[5].ctypes.data),
        pointer(arrays[6].ctypes.data),
        pointer(arrays[7].ctypes.data),
        pointer(arrays[8].ctypes.data),
        pointer(arrays[9].ctypes.data),
        pointer(arrays[10].ctypes.data),
        pointer(arrays[11].ctypes.data),
    )
