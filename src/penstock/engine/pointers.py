"""Arrays as bare pointers: one word each to pass on, and no references to count at each call.

A function that is called in a loop takes no array: to count its references takes longer than most of them do.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from penstock.engine.compiled import compiled, inlined


@intrinsic
def pointer(typing_context, address):
    """An address as a pointer to integers."""
    kind = types.CPointer(types.int64)

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(address), generate


@intrinsic
def prefetch(typing_context, start, index):
    """Asks the processor for what is behind a pointer, so that it is there when it is read; any index may be asked."""

    def generate(context, builder, signature, arguments):
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        at = builder.bitcast(builder.gep(arguments[0], [arguments[1]]), byte)
        builder.call(ask, [at, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(start, types.int64), generate


@intrinsic
def word_at(typing_context, address):
    """The eight bytes at an address, the first one lowest."""
    return types.uint64(types.int64), _loading(64)


@intrinsic
def half_word_at(typing_context, address):
    """The four bytes at an address, as an integer."""
    return types.int32(types.int64), _loading(32)


@intrinsic
def byte_at(typing_context, address):
    """The byte at an address."""
    return types.uint8(types.int64), _loading(8)


@inlined
def code_at(codes, row, width):
    """The number of a row's name, which takes so many bytes, one or four; ``codes`` is where those of all rows are."""
    if width == 1:
        return np.int64(byte_at(codes + row))
    return np.int64(half_word_at(codes + 4 * row))


def _loading(bits):
    """Reads so many bits at an address, wherever it is."""

    def generate(context, builder, signature, arguments):
        found = builder.load(builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer()))
        found.align = 1
        return found

    return generate


@intrinsic
def put_word(typing_context, address, word):
    """Writes eight bytes at an address."""
    return types.void(types.int64, types.uint64), _storing(64)


@intrinsic
def put_half_word(typing_context, address, word):
    """Writes four bytes at an address."""
    return types.void(types.int64, types.int32), _storing(32)


def _storing(bits):
    """Writes so many bits at an address, wherever it is."""

    def generate(context, builder, signature, arguments):
        stored = builder.store(arguments[1], builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer()))
        stored.align = 1
        return context.get_dummy_value()

    return generate


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
