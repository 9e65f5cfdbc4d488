"""Names of buckets that Spark spreads evenly over tasks: it shares them out by their hash, so that is chosen."""

from __future__ import annotations

from functools import cache
from itertools import count
from zlib import crc32

EVENLY = 48
"""Whatever divides this is a number of tasks that get as many buckets each."""
_SEED = 42
_WORD = 0xFFFFFFFF


@cache
def bucket_name(group: str, place: int) -> str:
    """The name of a bucket of a group.

    >>> names = [bucket_name("Pair", place) for place in range(8)]
    >>> sorted(spark_hash(name) % 4 for name in names)
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    wanted = (place + crc32(group.encode())) % EVENLY
    names = (f"{group}/{place}.{number}" for number in count())
    return next(name for name in names if spark_hash(name) % EVENLY == wanted)


def spark_hash(text: str) -> int:
    """Spark's hash of a text: Murmur3 for words of 32 bits, in which each byte of the rest is a word of its own.

    >>> spark_hash("Spark")
    228093765
    """
    body = text.encode()
    aligned = len(body) // 4 * 4
    words = [int.from_bytes(body[start : start + 4], "little") for start in range(0, aligned, 4)]
    found = _SEED
    for word in [*words, *(byte - 256 if byte > 127 else byte for byte in body[aligned:])]:
        found = _rotated(found ^ _mixed(word & _WORD), 13) * 5 + 0xE6546B64 & _WORD
    found ^= len(body)
    found = (found ^ found >> 16) * 0x85EBCA6B & _WORD
    found = (found ^ found >> 13) * 0xC2B2AE35 & _WORD
    found ^= found >> 16
    return found - (1 << 32) if found >> 31 else found


def _mixed(word: int) -> int:
    return _rotated(word * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _WORD
