"""The hash that composites are named by: 128 bits in two lanes that words of 64 bits are mixed into.

This is its definition, in plain Python; the engine has the same in compiled code. The mixing is that of MurmurHash3:
quick, and good at keeping different things apart that nobody has chosen to be confused. A text is its length in bytes
and its bytes, eight to a word, the first one lowest.

>>> digits(text_lanes("door")) == digits(text_lanes("doors"))
False
"""

from __future__ import annotations

from functools import lru_cache

Lanes = tuple[int, int]
START: Lanes = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)
FACTORS: Lanes = (0x87C37B91114253D5, 0x4CF5AD432745937F)
STEPS: Lanes = (0x52DCE729, 0x38495AB5)
FINAL: Lanes = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
DIGITS = 24
"""How many hexadecimal digits of the lanes are written: 96 bits."""
_ONES = 2**64 - 1


def absorbed(lanes: Lanes, *words: int) -> Lanes:
    """The lanes after more words.

    >>> absorbed(absorbed(START, 1), 2) == absorbed(START, 1, 2) != absorbed(START, 2, 1)
    True
    """
    first, second = lanes
    (one, other), (step, other_step), ones = FACTORS, STEPS, _ONES
    for word in words:
        # A rotation by n is two shifts; what goes beyond 64 bits is cut off once.
        mixed = word * one & ones
        first ^= (mixed << 31 | mixed >> 33) * other & ones
        first = (((first << 27 | first >> 37) + second) * 5 + step) & ones
        mixed = word * other & ones
        second ^= (mixed << 33 | mixed >> 31) * one & ones
        second = (((second << 31 | second >> 33) + first) * 5 + other_step) & ones
    return first, second


def finished(lanes: Lanes) -> Lanes:
    """The lanes when all words are in: every bit depends on every bit.

    >>> finished((1, 2)) == finished((2, 1))
    False
    """
    first = _spread(sum(lanes))
    second = _spread(sum(lanes) + lanes[1])
    first = (first + second) & _ONES
    return first, (first + second) & _ONES


def text_words(text: str) -> list[int]:
    """The words that a text is.

    >>> text_words("door-1/17") == [9, int.from_bytes(b"door-1/1", "little"), ord("7")]
    True
    """
    data = text.encode()
    return [len(data), *(int.from_bytes(data[start : start + 8], "little") for start in range(0, len(data), 8))]


@lru_cache(maxsize=4096)
def text_lanes(text: str) -> Lanes:
    """The hash of one text; names come again and again."""
    return finished(absorbed(START, *text_words(text)))


def digits(lanes: Lanes) -> str:
    """The hash as it is written.

    >>> digits((255, 2**64 - 1))
    '00000000000000ffffffffff'
    """
    return f"{lanes[0]:016x}{lanes[1]:016x}"[:DIGITS]


def _spread(word: int) -> int:
    word &= _ONES
    word = (word ^ word >> 33) * FINAL[0] & _ONES
    word = (word ^ word >> 33) * FINAL[1] & _ONES
    return word ^ word >> 33
