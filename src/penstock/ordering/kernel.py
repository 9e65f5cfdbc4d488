"""What is found out of every event that arrives, in compiled code: a hash of its name, and what it shows of its source.

The hashes are those of `penstock.events.repeats.name_hashes`.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.compiled import compiled, inlined
from penstock.engine.pointers import byte_at, half_word_at, put_word, word_at
from penstock.engine.taking import WORD, text_of, word_of

ROWS = 40
"""A place is the number of a table, and behind so many bits a row of it."""
ROW = (1 << ROWS) - 1
FACTOR, SHIFT = np.uint64(0xC6A4A7935BD1E995), np.uint64(47)


@inlined
def mixed(number, more):
    """A number that depends on all bits of two: a step of MurmurHash64A."""
    more *= FACTOR
    more ^= more >> SHIFT
    more *= FACTOR
    return (more ^ number) * FACTOR


@compiled
def hash_names(bounds, data, codes, sources, hashes):
    """A hash of each event's source and id; ``bounds`` is where ids begin and end, ``sources`` are hashes by code."""
    address, size = data.ctypes.data, data.shape[0]
    for row in range(codes.shape[0]):
        begin, end = np.int64(bounds[row]), np.int64(bounds[row + 1])
        number = np.uint64(end - begin) * FACTOR
        while begin < end:
            number = mixed(number, word_of(begin, end, address, size))
            begin += WORD
        number ^= number >> SHIFT
        number *= FACTOR
        number ^= number >> SHIFT
        hashes[row] = mixed(number, sources[codes[row]])


@compiled
def meet_sources(codes, ends, beginnings, came, counts, first, last, begun, heard):
    """For each source how many events came, their first end, the end and beginning of the last one, the last arrival.

    What is found of a source is nothing until it has a count.
    """
    for row in range(codes.shape[0]):
        code, end, beginning = codes[row], ends[row], beginnings[row]
        if counts[code] == 0:
            first[code], last[code], begun[code], heard[code] = end, end, beginning, came[row]
        counts[code] += 1
        first[code] = min(first[code], end)
        heard[code] = max(heard[code], came[row])
        if end > last[code] or (end == last[code] and beginning > begun[code]):
            last[code], begun[code] = end, beginning


@compiled
def take_words(places, addresses, out):
    """Values of eight bytes from the columns of several tables."""
    for number in range(places.shape[0]):
        place = places[number]
        out[number] = word_at(addresses[place >> ROWS] + 8 * (place & ROW))


@compiled
def take_half_words(places, addresses, out):
    """Values of four bytes from the columns of several tables."""
    for number in range(places.shape[0]):
        place = places[number]
        out[number] = half_word_at(addresses[place >> ROWS] + 4 * (place & ROW))


@compiled
def measure_texts(places, bounds, ends):
    """Where texts of several columns will end if they stand one after the other; returns the last end."""
    total = np.int64(0)
    for number in range(places.shape[0]):
        place = places[number]
        begin, end = text_of(place & ROW, bounds[place >> ROWS])
        total += end - begin
        ends[number + 1] = total
    return total


@compiled
def copy_texts(places, bounds, letters, sizes, ends, out):
    """Copies texts to where they belong, in whole words: the next text overwrites what is too much.

    Behind the last text ``out`` has a word to spare.
    """
    target = out.ctypes.data
    for number in range(places.shape[0]):
        place = places[number]
        table, row = place >> ROWS, place & ROW
        begin, _ = text_of(row, bounds[table])
        to, end = np.int64(ends[number]), np.int64(ends[number + 1])
        address, last = letters[table] + begin, sizes[table] - begin - WORD
        for done in range(0, end - to, WORD):
            if done <= last:
                put_word(target + to + done, word_at(address + done))
            else:
                for byte in range(done, end - to):
                    out[to + byte] = byte_at(address + byte)
