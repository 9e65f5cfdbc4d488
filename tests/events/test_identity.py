from datetime import UTC, datetime
from random import Random
from unittest import mock

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.events.arrow import from_arrow
from penstock.events.identity import content, hashes, with_ids
from penstock.events.records import from_dicts

records = st.fixed_dictionaries(
    {"type": st.sampled_from(["A", "B"]), "time": st.integers(0, 2)},
    optional={
        "source": st.sampled_from(["", "s"]),
        "seq": st.integers(0, 1),
        "data": st.dictionaries(st.sampled_from(["x", "y"]), st.none() | st.integers(0, 1)),
    },
)


def hash_of(record):
    return hashes(from_dicts([record]))[0]


@given(st.lists(records, min_size=1, max_size=12), st.randoms())
def test_ids_do_not_depend_on_the_order_of_records(many, random: Random):
    table = with_ids(from_dicts(many))
    shuffled = random.sample(many, len(many))
    again = with_ids(from_dicts(shuffled))
    assert sorted(table.to_events(), key=str) == sorted(again.to_events(), key=str)
    assert len(set(table.field("id").to_pylist())) == len(many)


@given(records, records)
def test_hashes_are_equal_for_equal_events_only(a, b):
    one, two = from_dicts([a]).record(0), from_dicts([b]).record(0)
    assert (hash_of(a) == hash_of(b)) == (one == two)


def test_hashes_are_stable():
    record = {
        "type": "Open",
        "source": "door-1",
        "time": 5,
        "seq": 2,
        "data": {"door": "D1", "n": 1, "f": 0.5, "b": True},
    }
    assert content(from_dicts([record])).to_pylist() == [
        b"type=t4:Open;source=t6:door-1;seq=n2;lo=n5;hi=n5;1:b=btrue;4:door=t2:D1;1:f=n0.5;1:n=n1"
    ]
    assert hash_of(record) == "2df140f26412f004"


def test_identical_records_are_numbered():
    first, *others = with_ids(from_dicts([{"type": "A", "time": 1}] * 3)).field("id").to_pylist()
    assert len(first) == 16
    assert others == [f"{first}-2", f"{first}-3"]


def test_numbers_go_on_over_batches():
    seen = {}
    batch = from_dicts([{"type": "A", "time": 1}])
    ids = [with_ids(batch, seen).field("id")[0].as_py() for _ in range(2)]
    assert ids[1] == f"{ids[0]}-2"


def test_an_id_that_is_there_is_kept():
    ids = with_ids(from_dicts([{"type": "A", "id": "7", "time": 1}, {"type": "A", "time": 1}])).field("id").to_pylist()
    assert ids[0] == "7"
    assert len(ids[1]) == 16


def test_values_are_compared_by_what_they_say():
    def with_value(value, **more):
        return hash_of({"type": "A", "time": 0, "data": {"v": value, **more}})

    assert with_value(1) == with_value(1.0) != with_value("1")
    assert with_value(True) != with_value(1) != with_value("true")
    assert with_value(1, w=None) == with_value(1) != with_value(1, w=1)
    assert with_value(datetime(2026, 3, 1, tzinfo=UTC)) == with_value("2026-03-01T00:00:00Z")
    assert with_value("x;1:w=n1") != with_value("x", w=1)
    assert with_value(-0.0) == with_value(0)


def test_ids_are_the_same_from_a_table_and_from_json():
    table = from_arrow(pa.table({"type": ["A"], "time": [5], "v": [1], "w": [None], "x": ["é"]}))
    assert hashes(table) == [
        hash_of({"type": "A", "time": "1970-01-01T00:00:00.000005Z", "data": {"v": 1.0, "x": "é"}})
    ]


def test_ids_do_not_depend_on_how_much_is_hashed_at_once():
    table = from_dicts([{"type": "A", "time": n // 2, "data": {"v": n // 2}} for n in range(50)])
    with mock.patch("penstock.events.identity._ROWS", 7):
        few = with_ids(table).field("id").to_pylist()
    assert few == with_ids(table).field("id").to_pylist()
    assert sum("-2" in id for id in few) == 25
