"""The hashes that composites are named by, over columns: `penstock.events.digest` in compiled code.

What is absorbed in which order is said by `penstock.events.found`.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.compiled import compiled, inlined
from penstock.engine.pointers import pointer
from penstock.engine.taking import AHEAD, WORD, ask_ahead, text_of, word_of
from penstock.events import digest, found

START_1, START_2 = (np.uint64(word) for word in digest.START)
FACTOR_1, FACTOR_2 = (np.uint64(word) for word in digest.FACTORS)
STEP_1, STEP_2 = (np.uint64(word) for word in digest.STEPS)
FINAL_1, FINAL_2 = (np.uint64(word) for word in digest.FINAL)
ONE, FOUR, FIVE, LOW, HALF = (np.uint64(number) for number in (1, 4, 5, 32, 33))
HALF_WORD = np.uint64(0xFFFFFFFF)
WIDTH = tuple(np.uint64(width) for width in (16, 8, 4))
LOWER = tuple(np.uint64(mask) for mask in (0xFFFF, 0x00FF00FF, 0x0F0F0F0F))
APART = tuple(np.uint64(mask) for mask in (0x0000FFFF0000FFFF, 0x00FF00FF00FF00FF, 0x0F0F0F0F0F0F0F0F))
ONES, SIXES, ZEROS = (np.uint64(byte * 0x0101010101010101) for byte in (1, 6, ord("0")))
LETTER = np.uint64(ord("a") - ord("9") - 1)
PRIMITIVE, COMPOSITE, ID_LENGTH = (np.uint64(word) for word in (found.PRIMITIVE, found.COMPOSITE, digest.DIGITS))
TEXT = found.TEXT
TOGETHER = 32
"""So many composites or texts are hashed together."""
WAITING = 4
"""The longest of them may have so many times as many parts as they have on average."""


@compiled
def rotated(word, by):
    """The bits of a word, each ``by`` places higher, the highest ones lowest."""
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@compiled
def absorb(first, second, word):
    """The lanes after one more word."""
    first ^= rotated(word * FACTOR_1, 31) * FACTOR_2
    first = (rotated(first, 27) + second) * FIVE + STEP_1
    second ^= rotated(word * FACTOR_2, 33) * FACTOR_1
    second = (rotated(second, 31) + first) * FIVE + STEP_2
    return first, second


@compiled
def spread(word):
    """Every bit of a word over all of it."""
    word = (word ^ (word >> HALF)) * FINAL_1
    word = (word ^ (word >> HALF)) * FINAL_2
    return word ^ (word >> HALF)


@compiled
def finish(first, second):
    """The lanes when all words are in."""
    first += second
    second += first
    first, second = spread(first), spread(second)
    first += second
    return first, first + second


@compiled
def hash_texts(rows, where, codes, starts, bounds, data, lanes):
    """The hashes of some rows of texts, put ``where`` they belong; ``starts`` are lanes to begin with, by code.

    Texts that take as many words as each other go on together.
    """
    firsts, seconds = lanes
    address, size, edges = data.ctypes.data, data.shape[0], bounds.ctypes.data
    scratch = np.empty(5 * TOGETHER, np.int64)
    here = scratch.ctypes.data
    row, last = 0, rows.shape[0] - 1
    while row <= last:
        count = min(TOGETHER, last + 1 - row)
        least, most = size, 0
        for one in range(count):
            number = row + one
            ask_ahead(rows[min(number + AHEAD, last)], rows[min(number + 2 * AHEAD, last)], edges, address)
            begin, end = text_of(rows[number], edges)
            scratch[one], scratch[TOGETHER + one] = starts[codes[number], 0], starts[codes[number], 1]
            scratch[2 * TOGETHER + one], scratch[3 * TOGETHER + one] = begin, end
            least, most = min(least, end - begin), max(most, end - begin)
        words = (most + WORD - 1) // WORD
        if count == TOGETHER and (least + WORD - 1) // WORD == words:
            hash_texts_together(here, words, address, size)
        else:
            for one in range(count):
                begin, end = scratch[2 * TOGETHER + one], scratch[3 * TOGETHER + one]
                first, second = np.uint64(scratch[one]), np.uint64(scratch[TOGETHER + one])
                first, second = absorb(first, second, np.uint64(end - begin))
                while begin < end:
                    first, second = absorb(first, second, word_of(begin, end, address, size))
                    begin += WORD
                scratch[one], scratch[TOGETHER + one] = finish(first, second)
        for one in range(count):
            firsts[where[row + one]], seconds[where[row + one]] = scratch[one], scratch[TOGETHER + one]
        row += count


@inlined
def hash_texts_together(lanes, words, address, size):
    """The hashes of texts of so many words; where they begin and end, and then room for a word, is behind the lanes."""
    begins, ends = pointer(lanes + 2 * WORD * TOGETHER), pointer(lanes + 3 * WORD * TOGETHER)
    given = lanes + 4 * WORD * TOGETHER
    next_words = pointer(given)
    for one in range(TOGETHER):
        next_words[one] = ends[one] - begins[one]
    absorb_all(lanes, given, 1, np.uint64(0))
    for word in range(words):
        for one in range(TOGETHER):
            next_words[one] = word_of(begins[one] + WORD * word, ends[one], address, size)
        absorb_all(lanes, given, 1, np.uint64(0))
    end_all(lanes)


@compiled
def start_sources(firsts, seconds, starts):
    """The lanes after what says that a part is primitive, and the hash of its source."""
    start_1, start_2 = absorb(START_1, START_2, PRIMITIVE)
    for row in range(firsts.shape[0]):
        first, second = absorb(start_1, start_2, firsts[row])
        starts[row, 0], starts[row, 1] = absorb(first, second, seconds[row])


@compiled
def written(bits):
    """The lower 32 bits as eight hexadecimal digits in one word, the first one lowest."""
    digits = bits & HALF_WORD
    for place in range(3):  # turn the order of halves, of bytes in them, of digits in these
        digits = ((digits & LOWER[place]) << WIDTH[place]) | ((digits >> WIDTH[place]) & LOWER[place])
    for place in range(3):  # draw them apart, a byte each
        digits = (digits | (digits << WIDTH[place])) & APART[place]
    letters = ((digits + SIXES) >> FOUR) & ONES
    return digits + ZEROS + letters * LETTER


@compiled
def hash_composites_as_parts(rows, where, words, lanes):
    """What ids take from composites whose ids have these digits, put ``where`` they are parts."""
    start_1, start_2 = absorb(START_1, START_2, COMPOSITE)
    start_1, start_2 = absorb(start_1, start_2, ID_LENGTH)
    firsts, seconds = lanes
    for number in range(rows.shape[0]):
        first, second = start_1, start_2
        for place in range(3):
            first, second = absorb(first, second, words[rows[number], place])
        firsts[where[number]], seconds[where[number]] = finish(first, second)


@compiled
def hash_composites(start, names, values, stamps, offsets, parts, words):
    """The ids of composites of one type: three words of eight digits each.

    ``start`` is the lanes after the type, ``names`` those of the attributes in the order of their names. A value is its
    kind, a word, and for text one word more. Composites that are alike go on together, step by step: one alone would
    wait for each step before the next. Those that have fewer parts than others wait for them.
    """
    lanes = np.empty(2 * TOGETHER, np.int64)
    row, count = 0, stamps[0].shape[0]
    while row < count:
        last = min(row + TOGETHER, count)
        most = most_parts(row, last, offsets)
        is_worth_it = most * TOGETHER <= WAITING * (offsets[last] - offsets[row])
        if last - row == TOGETHER and is_worth_it and are_alike(row, last, values[0]):
            hash_together(row, most, start, names, values, stamps, offsets, parts, lanes, words)
        else:
            for one in range(row, last):
                hash_one(one, start, names, values, stamps, offsets, parts, words)
        row = last


@inlined
def most_parts(row, last, offsets):
    """How many parts the composite has that has most of them."""
    most = 0
    for one in range(row, last):
        most = max(most, offsets[one + 1] - offsets[one])
    return most


@inlined
def are_alike(row, last, kinds):
    """Whether composites have attributes of the same kinds."""
    for column in range(kinds.shape[0]):
        for other in range(row + 1, last):
            if kinds[column, other] != kinds[column, row]:
                return False
    return True


@inlined
def hash_one(row, start, names, values, stamps, offsets, parts, words):
    """The id of one composite."""
    kinds, bits, more = values
    first, second = start[0], start[1]
    there = np.uint64(0)
    for column in range(names.shape[0]):
        kind = kinds[column, row]
        if kind == 0:
            continue
        there += ONE
        first, second = absorb(first, second, names[column, 0] + np.uint64(kind))
        first, second = absorb(first, second, names[column, 1] + bits[column, row])
        if kind == TEXT:
            first, second = absorb(first, second, more[column, row])
    first, second = absorb(first, second, there)
    first, second = absorb(first, second, stamps[0][row])
    first, second = absorb(first, second, stamps[1][row])
    for part in range(offsets[row], offsets[row + 1]):
        first, second = absorb(first, second, parts[0][part])
        first, second = absorb(first, second, parts[1][part])
    first, second = absorb(first, second, np.uint64(offsets[row + 1] - offsets[row]))
    first, second = finish(first, second)
    words[row, 0] = written(first >> LOW)
    words[row, 1] = written(first)
    words[row, 2] = written(second >> LOW)


@inlined
def hash_together(row, most, start, names, values, stamps, offsets, parts, lanes, words):
    """The ids of composites that are alike, and have so many parts at most."""
    kinds, bits, more = values
    address, bounds = lanes.ctypes.data, offsets.ctypes.data + WORD * row
    there = np.uint64(0)
    for one in range(TOGETHER):
        lanes[one], lanes[TOGETHER + one] = start[0], start[1]
    for column in range(names.shape[0]):
        kind = kinds[column, row]
        if kind == 0:
            continue
        there += ONE
        absorb_one(address, names[column, 0] + np.uint64(kind))
        absorb_all(address, bits[column].ctypes.data + WORD * row, 1, names[column, 1])
        if kind == TEXT:
            absorb_all(address, more[column].ctypes.data + WORD * row, 1, np.uint64(0))
    absorb_one(address, there)
    for some in stamps:
        absorb_all(address, some.ctypes.data + WORD * row, 1, np.uint64(0))
    absorb_parts(address, parts, bounds, most)
    finish_all(address, words.ctypes.data + 3 * WORD * row)


@inlined
def absorb_one(lanes, word):
    """The lanes of all after one more word, the same for all of them."""
    firsts, seconds = pointer(lanes), pointer(lanes + WORD * TOGETHER)
    for one in range(TOGETHER):
        firsts[one], seconds[one] = absorb(np.uint64(firsts[one]), np.uint64(seconds[one]), word)


@inlined
def absorb_all(lanes, words, step, more):
    """The lanes of all after one more word each, of those at an address, so many words apart."""
    firsts, seconds, given = pointer(lanes), pointer(lanes + WORD * TOGETHER), pointer(words)
    for one in range(TOGETHER):
        word = np.uint64(given[one * step]) + more
        firsts[one], seconds[one] = absorb(np.uint64(firsts[one]), np.uint64(seconds[one]), word)


@inlined
def absorb_parts(lanes, parts, bounds, most):
    """The lanes of all after the words of their parts, and how many these are."""
    ends = pointer(bounds)
    are_as_many = most * TOGETHER == ends[TOGETHER] - ends[0]
    for part in range(most):
        for some in parts:
            if are_as_many:
                absorb_all(lanes, some.ctypes.data + WORD * (ends[0] + part), most, np.uint64(0))
            else:
                absorb_part(lanes, some.ctypes.data, bounds, part)
    absorb_sizes(lanes, bounds)


@inlined
def absorb_part(lanes, words, bounds, part):
    """The lanes of all after the word of a part, of those that have one with this number."""
    firsts, seconds, given, ends = pointer(lanes), pointer(lanes + WORD * TOGETHER), pointer(words), pointer(bounds)
    last = ends[TOGETHER] - 1
    for one in range(TOGETHER):
        first, second = np.uint64(firsts[one]), np.uint64(seconds[one])
        gone_on = absorb(first, second, np.uint64(given[min(ends[one] + part, last)]))
        is_there = ends[one] + part < ends[one + 1]
        firsts[one] = gone_on[0] if is_there else first
        seconds[one] = gone_on[1] if is_there else second


@inlined
def absorb_sizes(lanes, bounds):
    """The lanes of all after how many parts each has."""
    firsts, seconds, ends = pointer(lanes), pointer(lanes + WORD * TOGETHER), pointer(bounds)
    for one in range(TOGETHER):
        size = np.uint64(ends[one + 1] - ends[one])
        firsts[one], seconds[one] = absorb(np.uint64(firsts[one]), np.uint64(seconds[one]), size)


@inlined
def end_all(lanes):
    """The lanes of all when all words are in."""
    firsts, seconds = pointer(lanes), pointer(lanes + WORD * TOGETHER)
    for one in range(TOGETHER):
        firsts[one], seconds[one] = finish(np.uint64(firsts[one]), np.uint64(seconds[one]))


@inlined
def finish_all(lanes, words):
    """Puts the digits of all where they belong."""
    firsts, seconds, out = pointer(lanes), pointer(lanes + WORD * TOGETHER), pointer(words)
    end_all(lanes)
    for one in range(TOGETHER):
        out[3 * one] = written(np.uint64(firsts[one]) >> LOW)
        out[3 * one + 1] = written(np.uint64(firsts[one]))
        out[3 * one + 2] = written(np.uint64(seconds[one]) >> LOW)
