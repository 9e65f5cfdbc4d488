"""Hashes of source and id: equal for equal names, wherever they stand in their buffers."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.ordering.names import text_hashes

texts = st.lists(st.text(max_size=40), max_size=12)


@given(texts=texts, before=texts, after=texts)
def test_a_hash_depends_on_the_text_alone(texts: list[str], before: list[str], after: list[str]) -> None:
    whole = pa.array([*before, *texts, *after], pa.string())
    part = whole.slice(len(before), len(texts))
    assert text_hashes(part).tolist() == text_hashes(pa.array(texts, pa.string())).tolist()


@given(texts=texts)
def test_different_texts_have_different_hashes(texts: list[str]) -> None:
    assert len(set(text_hashes(pa.array(texts, pa.string())).tolist())) == len(set(texts))


def test_near_texts_do_not_collide() -> None:
    near = [f"{number:0{width}}" for width in (1, 7, 8, 9, 16) for number in range(20_000)]
    assert len(np.unique(text_hashes(pa.array(near)))) == len(set(near))
