"""Bits of words: which of many bytes are equal to one, and the places of those that are, one by one."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

BYTES = 64
"""So many bytes are compared at once; a bit of a word is for each."""


@intrinsic
def equal_bytes(typing_context, address, value):
    """Which of the bytes from an address on have a value, the first one lowest."""

    def generate(context, builder, signature, arguments):
        many = ir.VectorType(ir.IntType(8), BYTES)
        nothing = ir.Constant(many, ir.Undefined)
        given = builder.load(builder.inttoptr(arguments[0], many.as_pointer()))
        given.align = 1
        first = builder.insert_element(nothing, arguments[1], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), BYTES), [0] * BYTES)
        wanted = builder.shuffle_vector(first, nothing, everywhere)
        return builder.bitcast(builder.icmp_unsigned("==", given, wanted), ir.IntType(BYTES))

    return types.uint64(types.int64, types.int8), generate


@intrinsic
def place_of_lowest(typing_context, word):
    """The place of the lowest bit of a word; of one that has none, how many places there are."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def number_of_bits(typing_context, word):
    """How many bits of a word are set."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate
