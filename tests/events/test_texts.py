from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.events.texts import hashed, is_rising

many = st.lists(st.text(max_size=20) | st.text("ab", max_size=3) | st.sampled_from(["x" * 8, "x" * 9]), max_size=30)


@given(many, st.integers(0, 5))
def test_hashes_are_equal_for_equal_texts_only(texts, start):
    numbers = hashed(pa.array(texts, pa.string()).slice(start)).tolist()
    for text, number in zip(texts[start:], numbers, strict=True):
        same = [other == number for other in numbers]
        assert same == [other == text for other in texts[start:]]


def test_a_hash_does_not_depend_on_what_stands_beside_it():
    texts = ["", "a", "abcdefgh", "abcdefghi", "é" * 9]
    together = hashed(pa.array(texts)).tolist()
    assert together == [hashed(pa.array([text]))[0] for text in texts]
    assert together == hashed(pa.array(texts * 20_000))[-5:].tolist()


def murmur(text: bytes) -> int:
    """MurmurHash64A, with zeros for what is missing of the last word."""
    most, factor = 2**64 - 1, 0xC6A4A7935BD1E995
    found = len(text) * factor & most
    for start in range(0, len(text), 8):
        word = int.from_bytes(text[start : start + 8], "little") * factor & most
        found = (found ^ (word ^ word >> 47) * factor & most) * factor & most
    found = (found ^ found >> 47) * factor & most
    return found ^ found >> 47


@given(many)
def test_hashes_are_murmur_hashes(texts):
    assert hashed(pa.array(texts, pa.string())).tolist() == [murmur(text.encode()) for text in texts]


@given(many, st.integers(0, 5))
def test_rising_is_longer_or_later(texts, start):
    keys = [(len(text.encode()), text.encode()) for text in texts[start:]]
    expected = all(one < two for one, two in pairwise(keys))
    assert is_rising(pa.array(texts, pa.string()).slice(start)) == expected


@given(st.integers(0, 10_000), st.integers(0, 300))
def test_counters_rise(first, length):
    assert is_rising(pa.array([str(number) for number in range(first, first + length)], pa.string()))


@given(st.integers(1, 9), st.lists(st.integers(0, 300), max_size=40), st.integers(0, 3))
def test_texts_of_one_length_rise_if_each_is_after_the_one_before(length, steps, start):
    numbers = np.cumsum([10 ** (length - 1), *steps])
    texts = [str(number)[-length:].zfill(length) for number in numbers.tolist()] + ["é" * (length // 2)] * (
        length % 2 == 0
    )
    expected = all(one.encode() < other.encode() for one, other in pairwise(texts[start:]))
    assert is_rising(pa.array(texts).slice(start)) == expected


def test_many_counters_rise_and_one_that_falls_is_seen_wherever_it_is():
    texts = [str(number) for number in range(980_000, 1_120_000)]
    assert is_rising(pa.array(texts))
    for place in (0, 1, 20_000, 32_768, 100_000, len(texts) - 2):
        swapped = [*texts[:place], texts[place + 1], texts[place], *texts[place + 2 :]]
        assert not is_rising(pa.array(swapped))
