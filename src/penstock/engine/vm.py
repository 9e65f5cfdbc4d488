"""Conditions over labels and parameters inside the kernel: a small postfix machine with three-valued logic.

A value is a kind and 64 bits: the bits of a number, of an instant in microseconds, or of a text's number in
the detector's pool. Texts are equal if their numbers are; their order is that of their bytes in the pool.
"""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.compiled import compiled, inlined
from penstock.engine.pointers import byte_at, pointer

NULL, BOOLEAN, INTEGER, FLOAT, TEXT, TIME = range(6)
BEYOND = 2.0**63
"""The first float that is more than any whole number."""

(
    CONSTANT,
    COLUMN,
    LABEL,
    PARAMETER,
    COUNT,
    MINIMUM,
    MAXIMUM,
    TOTAL,
    AVERAGE,
    FIRST,
    LAST,
    DISTINCT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    EQUAL,
    UNEQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    AND,
    OR,
    NOT,
    IS_NULL,
    LIKE,
    PIECE,
) = range(28)

ANY_TEXT, ANY_CHARACTER = 256, 257
"""Pieces of a LIKE that are no bytes."""
STACK = 64
UNKNOWN = 2
"""Truths are 0, 1 and this."""


@compiled
def compare_with_float(whole, real):
    """-1, 0 or 1: a whole number beside a float, by value, also where floats are further apart than whole numbers."""
    if real >= BEYOND:
        return -1
    if real < -BEYOND:
        return 1
    cut = np.int64(real)
    if whole != cut:
        return -1 if whole < cut else 1
    rest = real - np.float64(cut)
    return -1 if rest > 0 else (1 if rest < 0 else 0)


@compiled
def compare_values(kind_a, bits_a, kind_b, bits_b, X):
    """-1, 0 or 1; 2 where the two cannot be compared."""
    if kind_a == NULL or kind_b == NULL:
        return 2
    number_a = kind_a in (INTEGER, FLOAT)
    number_b = kind_b in (INTEGER, FLOAT)
    if number_a != number_b or (not number_a and kind_a != kind_b):
        return 2
    if kind_a == FLOAT and kind_b == FLOAT:
        x, y = np.int64(bits_a).view(np.float64), np.int64(bits_b).view(np.float64)
        return -1 if x < y else (1 if x > y else 0)
    if kind_a == FLOAT:
        return -compare_with_float(bits_b, np.int64(bits_a).view(np.float64))
    if kind_b == FLOAT:
        return compare_with_float(bits_a, np.int64(bits_b).view(np.float64))
    if bits_a == bits_b:
        return 0
    if kind_a != TEXT:
        return -1 if bits_a < bits_b else 1
    i, i_end = pointer(X[m.POOL_OFFSETS])[bits_a], pointer(X[m.POOL_OFFSETS])[bits_a + 1]
    j, j_end = pointer(X[m.POOL_OFFSETS])[bits_b], pointer(X[m.POOL_OFFSETS])[bits_b + 1]
    while i < i_end and j < j_end:
        x, y = byte_at(X[m.POOL_BYTES] + i), byte_at(X[m.POOL_BYTES] + j)
        if x != y:
            return -1 if x < y else 1
        i += 1
        j += 1
    return -1 if i == i_end else 1


@compiled
def is_like(text, first, last, L, X):
    """Whether a text of the pool matches the pieces of a LIKE, which are these rows of code."""
    at, end = pointer(X[m.POOL_OFFSETS])[text], pointer(X[m.POOL_OFFSETS])[text + 1]
    letters = X[m.POOL_BYTES]
    piece, again, since = first, -1, at
    while at < end:
        wanted = L[m.HEAD][L[m.HEAD][m.CODE] + 3 * piece + 1] if piece < last else -1
        if wanted == ANY_TEXT:
            piece += 1
            again, since = piece, at
        elif wanted == ANY_CHARACTER or wanted == byte_at(letters + at):
            at = next_character(at, end, letters) if wanted == ANY_CHARACTER else at + 1
            piece += 1
        elif again >= 0:
            since = next_character(since, end, letters)
            piece, at = again, since
        else:
            return False
    while piece < last and L[m.HEAD][L[m.HEAD][m.CODE] + 3 * piece + 1] == ANY_TEXT:
        piece += 1
    return piece == last


@inlined
def next_character(at, end, letters):
    """Where the next character of a text begins."""
    at += 1
    while at < end and byte_at(letters + at) & 0xC0 == 0x80:
        at += 1
    return at


@inlined
def mix(a, b):
    """A hash of two numbers."""
    x = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(b)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return np.int64(x)


@compiled
def read(symbol, column, X):
    """Kind and bits of a symbol's value."""
    cell = symbol * X[m.COLUMNS] + column
    return pointer(X[m.SYMBOL_KINDS])[cell], pointer(X[m.SYMBOL_VALUES])[cell]


@compiled
def evaluate(start, end, symbol, head, instance, L, M, X, out):
    """Runs ``code[start:end]``; leaves kind and bits in ``out`` and returns the truth of the value."""
    kinds = np.empty(STACK, np.int64)
    bits = np.empty(STACK, np.int64)
    top = -1
    for at in range(start, end):
        row = L[m.HEAD][m.CODE] + 3 * at
        op, a, b = L[m.HEAD][row], L[m.HEAD][row + 1], L[m.HEAD][row + 2]
        if op == CONSTANT:
            top += 1
            kinds[top], bits[top] = pointer(X[m.CONSTANT_KINDS])[a], pointer(X[m.CONSTANTS])[a]
        elif op == COLUMN:
            top += 1
            kinds[top], bits[top] = read(symbol, a, X)
        elif op == PARAMETER:
            top += 1
            cell = instance * X[m.PARAMETERS] + a
            kinds[top], bits[top] = pointer(X[m.INSTANCE_KINDS])[cell], pointer(X[m.INSTANCE_VALUES])[cell]
        elif op == LABEL or (op >= COUNT and op <= DISTINCT):
            top += 1
            kinds[top], bits[top] = NULL, 0
            count = 0
            node = head
            while node >= 0:
                if (M[m.NODES][node * m.NODE_WIDTH + m.LABELS] >> a) & 1:
                    count += 1
                node = M[m.NODES][node * m.NODE_WIDTH + m.PARENT]
            if op == COUNT:
                kinds[top], bits[top] = INTEGER, count
                continue
            found = np.empty(count, np.int64)
            node = head
            left = count
            while node >= 0:
                if (M[m.NODES][node * m.NODE_WIDTH + m.LABELS] >> a) & 1:
                    left -= 1
                    found[left] = M[m.NODES][node * m.NODE_WIDTH + m.SYMBOL]
                node = M[m.NODES][node * m.NODE_WIDTH + m.PARENT]
            if op == DISTINCT:
                different = 0
                for i in range(count):
                    kind, value = read(found[i], b, X)
                    if kind == NULL:
                        continue
                    again = False
                    for j in range(i):
                        other_kind, other = read(found[j], b, X)
                        again = again or compare_values(kind, value, other_kind, other, X) == 0
                    different += 0 if again else 1
                kinds[top], bits[top] = INTEGER, different
            elif op in (LABEL, FIRST, LAST):
                if count > 0:
                    one = found[count - 1] if op == LAST else found[0]
                    kinds[top], bits[top] = read(one, b, X)
            elif op in (MINIMUM, MAXIMUM):
                for i in range(count):
                    kind, value = read(found[i], b, X)
                    order = compare_values(kind, value, kinds[top], bits[top], X)
                    better = order == -1 if op == MINIMUM else order == 1
                    if kind != NULL and order == 2 and kinds[top] != NULL:
                        kinds[top] = NULL
                        break
                    if kind != NULL and (kinds[top] == NULL or better):
                        kinds[top], bits[top] = kind, value
            else:
                whole, real, integers, used, good = np.int64(0), 0.0, True, 0, True
                for i in range(count):
                    kind, value = read(found[i], b, X)
                    if kind == INTEGER:
                        whole += value
                        real += np.float64(value)
                        used += 1
                    elif kind == FLOAT:
                        integers = False
                        real += np.int64(value).view(np.float64)
                        used += 1
                    elif kind != NULL:
                        good = False
                if used > 0 and good:
                    fits = integers and abs(real - np.float64(whole)) < 2.0**63  # else it has gone round
                    if op == AVERAGE:
                        total = np.float64(whole) if fits else real
                        kinds[top], bits[top] = FLOAT, np.float64(total / used).view(np.int64)
                    elif fits:
                        kinds[top], bits[top] = INTEGER, whole
                    elif not integers:
                        kinds[top], bits[top] = FLOAT, np.float64(real).view(np.int64)
        elif op >= ADD and op <= DIVIDE:
            kind_b, value_b = kinds[top], bits[top]
            top -= 1
            kind_a, value_a = kinds[top], bits[top]
            kinds[top], bits[top] = NULL, 0
            if kind_a in (INTEGER, FLOAT) and kind_b in (INTEGER, FLOAT):
                x = np.int64(value_a).view(np.float64) if kind_a == FLOAT else np.float64(value_a)
                y = np.int64(value_b).view(np.float64) if kind_b == FLOAT else np.float64(value_b)
                if kind_a == INTEGER and kind_b == INTEGER and op != DIVIDE:
                    whole = value_a + value_b
                    near = x + y
                    if op == SUBTRACT:
                        whole, near = value_a - value_b, x - y
                    elif op == MULTIPLY:
                        whole, near = value_a * value_b, x * y
                    if abs(near - np.float64(whole)) <= 4096.0 * max(1.0, abs(near) * 2.0**-50):
                        kinds[top], bits[top] = INTEGER, whole
                elif op != DIVIDE or y != 0.0:
                    real = x + y
                    if op == SUBTRACT:
                        real = x - y
                    elif op == MULTIPLY:
                        real = x * y
                    elif op == DIVIDE:
                        real = x / y
                    if real == real:
                        kinds[top], bits[top] = FLOAT, np.float64(real).view(np.int64)
        elif op >= EQUAL and op <= GREATER_EQUAL:
            order = compare_values(kinds[top - 1], bits[top - 1], kinds[top], bits[top], X)
            top -= 1
            if order == 2:
                kinds[top], bits[top] = NULL, 0
            else:
                holds = (
                    (op == EQUAL and order == 0)
                    or (op == UNEQUAL and order != 0)
                    or (op == LESS and order < 0)
                    or (op == LESS_EQUAL and order <= 0)
                    or (op == GREATER and order > 0)
                    or (op == GREATER_EQUAL and order >= 0)
                )
                kinds[top], bits[top] = BOOLEAN, 1 if holds else 0
        elif op in (AND, OR):
            deciding = 0 if op == AND else 1
            decided = False
            unknown = False
            for i in range(top - a + 1, top + 1):
                if kinds[i] != BOOLEAN:
                    unknown = True
                elif bits[i] == deciding:
                    decided = True
            top -= a - 1
            kinds[top] = BOOLEAN if decided or not unknown else NULL
            bits[top] = deciding if decided else 1 - deciding
        elif op == NOT:
            if kinds[top] == BOOLEAN:
                bits[top] = 1 - bits[top]
            else:
                kinds[top] = NULL
        elif op == IS_NULL:
            bits[top] = 1 if kinds[top] == NULL else 0
            kinds[top] = BOOLEAN
        elif op == LIKE:
            if kinds[top] == TEXT:
                bits[top] = 1 if is_like(bits[top], at + 1, at + 1 + a, L, X) else 0
            kinds[top] = BOOLEAN if kinds[top] == TEXT else NULL
    out[0], out[1] = kinds[top], bits[top]
    return bits[top] if kinds[top] == BOOLEAN else UNKNOWN
