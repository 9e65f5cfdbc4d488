"""The checksum: equal for equal matches in any order, and changed by every part of them."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.bench.matches import Matches, of_columns

LISTS = st.lists(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**50)), min_size=1, max_size=4), min_size=1)
Found = list[list[tuple[int, int]]]


def matches(found: Found) -> Matches:
    parts = [part for match in found for part in match]
    ids, stamps = (np.array([part[n] for part in parts], np.int64) for n in (0, 1))
    return Matches(np.cumsum([0, *map(len, found)]), ids, stamps)


@given(LISTS, st.randoms(use_true_random=False))
def test_the_order_of_matches_does_not_count(found: Found, random: st.random_module) -> None:
    shuffled = random.sample(found, len(found))  # type: ignore[attr-defined]
    assert matches(shuffled).checksum() == matches(found).checksum()


@given(LISTS, st.data())
def test_every_id_and_every_stamp_counts(found: Found, data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(found) - 1))
    place = data.draw(st.integers(0, len(found[row]) - 1))
    id, stamp = found[row][place]
    for other in ((id + 1, stamp), (id, stamp + 1)):
        changed = [list(match) for match in found]
        changed[row][place] = other
        assert matches(changed).checksum() != matches(found).checksum()


def test_parts_change_places() -> None:
    assert matches([[(1, 5), (2, 5)]]).checksum() != matches([[(2, 5), (1, 5)]]).checksum()
    assert matches([[(1, 5)], [(2, 5)]]).checksum() != matches([[(1, 5), (2, 5)]]).checksum()


def test_columns_of_lists_stand_between_others() -> None:
    table = pa.table(
        {
            "id_0": ["1", "5"],
            "time_0": [10, 50],
            "id_1": [["2", "3"], ["6"]],
            "time_1": [[20, 30], [60]],
            "id_2": ["4", "7"],
            "time_2": [40, 70],
        }
    )
    found = of_columns(table)
    assert (found.offsets.tolist(), found.ids.tolist()) == ([0, 4, 7], [1, 2, 3, 4, 5, 6, 7])
    assert found.stamps.tolist() == [10, 20, 30, 40, 50, 60, 70]


def test_no_matches() -> None:
    found = of_columns(pa.table({"id_0": pa.array([], pa.string()), "time_0": pa.array([], pa.int64())}))
    assert (len(found), found.checksum()) == (0, 0)
