"""Events that were packed and unpacked are the same events."""

import pyarrow as pa
import pytest

from penstock import DataError, parse
from penstock.events.arrow import from_arrow
from penstock.events.identity import with_ids
from penstock.events.stamp import Stamp
from penstock.spark.coding import Coding
from penstock.spark.keys import buckets_of
from penstock.spark.packing import Packer, Progress, Recipe
from penstock.spark.split import split
from penstock.spark.unpacking import Unpacked, unpack

PATTERN = parse("[A(k = $k)] ; [B(k = $k)] ; [All]")
TABLE = pa.table(
    {
        "type": ["A", "B", "All", "Other", "A", "A"],
        "time": [1, 2, 3, 9, 5, 5],
        "source": ["s", "s", "t", "u", "s", "s"],
        "k": ["x", "y", None, "x", None, "x"],
        "extra": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    }
)


def packer(buckets: int = 4, **more: object) -> Packer:
    return Packer(Recipe(split([PATTERN]), buckets, types=frozenset({"A", "B", "All"}), **more))  # type: ignore[arg-type]


def test_each_bucket_gets_what_concerns_it_once() -> None:
    rows = packer().pack(TABLE)
    by_bucket = {
        bucket: unpack([blob])
        for bucket, blob in zip(rows["bucket"].to_pylist(), rows["blob"].to_pylist(), strict=True)
    }
    ids = with_ids(from_arrow(TABLE)).field("id").to_pylist()
    x, y = buckets_of(from_arrow(TABLE), ["k"], 4)[[0, 1]].tolist()
    expected: dict[int, set[str]] = {bucket: {ids[2]} for bucket in range(4)}
    expected[x] |= {ids[0], ids[5]}
    expected[y] |= {ids[1]}
    assert {bucket: set(table.field("id").to_pylist()) for bucket, table in by_bucket.items()} == expected


def test_attributes_that_nobody_needs_stay_behind() -> None:
    rows = packer(attributes=frozenset({"k"})).pack(TABLE)
    assert unpack(rows["blob"].to_pylist()).attributes.column_names == ["k"]


def test_ids_that_are_made_say_all_that_an_event_says_and_are_numbered_where_they_meet() -> None:
    met = TABLE.take([0, 1, 2, 5])
    packed = [packer(1, attributes=frozenset({"k"})).pack(met) for _ in range(2)]
    ids = unpack([blob for rows in packed for blob in rows["blob"].to_pylist()]).field("id").to_pylist()
    assert sorted(ids) == sorted(with_ids(from_arrow(pa.concat_tables([met, met]))).field("id").to_pylist())


def test_fields_that_say_nothing_come_back_as_nothing() -> None:
    table = pa.table({"type": ["A", "B"], "time": [1, 2], "id": ["1", "2"], "k": [1, 1]})
    other = pa.table({"type": ["A"], "lo": [1], "hi": [3], "source": ["s"], "id": ["3"], "seq": [7], "k": [1]})
    blobs = [blob for one in (table, other) for blob in packer(1).pack(one)["blob"].to_pylist()]
    found = {event.id: event for event in unpack(blobs).to_events()}
    assert (found["1"].source, found["1"].seq, found["1"].stamp) == ("", None, Stamp(1, 1))
    assert (found["3"].source, found["3"].seq, found["3"].stamp) == ("s", 7, Stamp(1, 3))


def test_progress_counts_all_events_and_goes_to_every_bucket() -> None:
    one = packer()
    one.pack(TABLE)
    rows = one.finish()
    assert rows["bucket"].to_pylist() == [0, 1, 2, 3]
    unpacked = Unpacked()
    unpacked.take(rows.slice(2, 1))
    assert unpacked.progress == Progress({"s": (5, 4), "t": (3, 1), "u": (9, 1)}, unpacked.progress.types)
    assert unpacked.progress.last == 9
    assert unpacked.progress.types["Other"] == 1


def test_a_row_that_is_no_event_is_an_error() -> None:
    with pytest.raises(DataError, match=r"row .*: field 'time': is missing"):
        packer().pack(pa.table({"type": ["A", "A"], "time": [1, None], "k": [1, 1]}))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array([1, 2**53, -3, None]), pa.array([1.0, 2.0**53, -3.0, None])),
        (pa.array([0.0, 1.5, None]), pa.array([-0.0, 1.5, float("nan")])),
        (pa.array(["x", "y", None]), pa.array(["x", "y", None]).dictionary_encode()),
        (pa.array([True, False]), pa.array([True, False])),
    ],
)
def test_equal_values_have_the_same_bucket(one: pa.Array, other: pa.Array) -> None:
    def buckets(column: pa.Array) -> list[int]:
        times = pa.array(range(len(column)))
        table = pa.table({"type": pa.repeat("A", len(column)), "time": times, "k": column})
        found: list[int] = buckets_of(from_arrow(table), ["k"], 1000).tolist()
        return found

    assert buckets(one) == buckets(other)


def test_blobs_are_small() -> None:
    count = 50_000
    table = pa.table({"type": ["A"] * count, "time": range(count), "id": [f"{n:099}" for n in range(count)]})
    packed = Packer(Recipe(split([parse("[A] ; [B]")]), 1)).pack(table)
    sizes = pa.compute.binary_length(packed["blob"])
    assert len(packed) > 1
    assert pa.compute.max(sizes).as_py() < 1 << 18
    assert unpack(packed["blob"].to_pylist()).field("id").to_pylist() == table["id"].to_pylist()


def test_types_by_number_are_types_again() -> None:
    recipe = Recipe(split([PATTERN]), 1, names=("type", "time"), coding=Coding(("A", "B"), "type"))
    rows = pa.table({"code": pa.array([1, 0, 1], pa.int8()), "c0": pa.nulls(3, pa.string()), "c1": [1, 2, 3]})
    assert recipe.named(rows).to_pydict() == {"type": ["B", "A", "B"], "time": [1, 2, 3]}


def test_a_row_whose_type_has_no_number_says_its_type() -> None:
    recipe = Recipe(split([PATTERN]), 1, names=("time", "type"), coding=Coding(("A", "B"), "type"))
    rows = pa.table({"code": pa.array([0, None, None], pa.int8()), "c0": [1, None, 3], "c1": [None, "C", None]})
    named = recipe.named(rows)
    assert named.to_pydict() == {"time": [1, None, 3], "type": ["A", "C", None]}
    with pytest.raises(DataError, match=r"row \{'type': 'C'\}: field 'time': is missing"):
        Packer(recipe).pack(named.slice(1, 1))


def test_a_type_without_a_number_stands_before_the_id() -> None:
    recipe = Recipe(split([PATTERN]), 1, names=("id", "time", "type"), coding=Coding(("A", "B"), "type", "id"))
    told = ["x 1", "- -", "c3a9 78", "20 -", " 2d"]
    rows = pa.table({"code": pa.array([0, *[None] * 4], pa.int8()), "c0": told, "c1": range(5)})
    named = recipe.named(rows)
    assert named.column_names == ["id", "time", "type"]
    assert named["id"].to_pylist() == ["x 1", None, "x", None, "-"]
    assert named["type"].to_pylist() == ["A", None, "é", " ", ""]


def test_what_is_far_apart_in_a_batch_is_narrow_in_its_blobs() -> None:
    rows = 60_000
    table = pa.table(
        {"type": ["A"] * rows, "id": [str(n) for n in range(rows)], "time": [n * 300_000 for n in range(rows)]}
    )
    recipe = Recipe(split([parse("[A] ; [A]")]), 4, types=frozenset({"A"}))
    blobs = Packer(recipe).pack(table)["blob"].to_pylist()
    kinds = [str(pa.ipc.open_stream(blob).schema.field("hi").type) for blob in blobs]
    assert len(blobs) > 1
    assert set(kinds) == {"uint32"}
    assert unpack(blobs).numbers("hi").tolist() == table["time"].to_pylist()
