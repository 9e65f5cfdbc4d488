"""Texts and times over columns are what they are one by one."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.pool import Pool
from penstock.engine.texts import Texts, text_hashes, time_texts
from penstock.events.digest import text_lanes
from penstock.events.times import EARLIEST, LATEST, format_time

instants = (
    st.integers(EARLIEST, LATEST) | st.integers(-3, 3).map(lambda n: n * 1_000) | st.sampled_from([EARLIEST, LATEST])
)


@given(st.lists(instants | st.none()))
def test_times_are_written_in_one_way(values: list[int | None]) -> None:
    expected = [None if value is None else format_time(value) for value in values]
    assert time_texts(pa.array(values, pa.int64())).to_pylist() == expected


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20)), st.integers(0, 3))
def test_compiled_hashes_are_as_they_are_defined(texts: list[str], start: int) -> None:
    first, second = text_hashes(pa.array(["left out"] * start + texts, pa.string()).slice(start))
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [text_lanes(text) for text in texts]


def test_texts_follow_the_pool() -> None:
    pool = Pool()
    texts = Texts(pool)
    for number, text in enumerate(["x", "", "Büro"]):
        assert pool.number(text) == number
        assert texts.all().to_pylist() == pool.texts().to_pylist()
