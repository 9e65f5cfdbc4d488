"""The work of Spark's workers without Spark: whatever the partitions and buckets, the same as in one process."""

from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import penstock as ps
from penstock.algebra.pattern import Pattern
from penstock.errors import DataError
from penstock.events.event import Event
from penstock.events.table import EventTable
from penstock.spark.packing import Packer
from penstock.spark.planning import plans_of, work_of
from penstock.spark.schema import fitted
from penstock.spark.settling import NamePacker
from penstock.spark.work import Work, tagged
from penstock.testing.strategies import choices, meaningful_patterns, traces
from tests.engine.conftest import rows


def detected(work: Work, pieces: list[EventTable]) -> pa.Table:
    """What the workers find if each piece is read by one task."""
    at_once = packed(work.packer, pieces)
    shares = range(work.recipe.total, work.recipe.total + work.recipe.buckets)
    if not any(list(work.compare(of_bucket(at_once, share))) for share in shares):
        return found(work, at_once)
    return found(work, settled(work, pieces))


def packed(packer: Callable[[], Packer | NamePacker], pieces: list[EventTable]) -> pa.Table:
    packers = [packer() for _ in pieces]
    pairs = list(zip(packers, pieces, strict=True))
    return pa.Table.from_batches([batch for one, piece in pairs for batch in (one.pack_events(piece), one.finish())])


def settled(work: Work, pieces: list[EventTable]) -> pa.Table:
    by_name = packed(lambda: NamePacker(work.recipe), pieces)
    shares = [of_bucket(by_name, share) for share in range(work.recipe.buckets)]
    return pa.Table.from_batches([batch for share in shares for batch in work.settle(share)])


def found(work: Work, whole: pa.Table) -> pa.Table:
    batches = [batch for bucket in range(work.recipe.total) for batch in work.detect(of_bucket(whole, bucket))]
    return pa.Table.from_batches(batches, schema=work.schema)


def of_bucket(whole: pa.Table, bucket: int) -> list[pa.RecordBatch]:
    batches: list[pa.RecordBatch] = whole.filter(pa.compute.equal(whole["bucket"], bucket)).to_batches()
    return batches


def cut(table: EventTable, random: Random, pieces: int) -> list[EventTable]:
    """The rows in any order, in so many pieces."""
    order = list(range(len(table)))
    random.shuffle(order)
    return [table.take(order[number::pieces]) for number in range(pieces)]


def with_other_ids(table: EventTable, random: Random) -> EventTable:
    """The events with their ids, or with ids of which some are the same or absent."""
    choice = random.choice(["as they are", "repeated", "absent", "some absent", "as they are"])
    if choice == "as they are":
        return table
    ids = [
        random.choice(["1", "2", None]) if choice == "some absent" else random.choice("123") for _ in range(len(table))
    ]
    return table.replaced("id", pa.array(ids if choice != "absent" else [None] * len(table), pa.string()))


def content(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def same_as_local(pattern: Pattern, table: EventTable, random: Random, buckets: int, **options: Any) -> None:
    until = options.pop("until", None)
    plans = plans_of([pattern], **options)
    table = EventTable(table.fields, table.attributes, fixed=False)
    work = work_of(plans, table.slice(0, 0), ps.events.mapping.Columns(), buckets, until)
    table = with_other_ids(table, random)
    pieces = cut(table, random, random.randint(1, 3))
    local = ps.detect(table, pattern, until=until, **options)
    expected = content(pa.concat_tables([fitted(table, work.schema) for table in tables_of(local)]))
    assert content(detected(work, pieces)) == expected
    assert content(found(work, settled(work, pieces))) == expected


def tables_of(found: ps.Composites) -> list[pa.Table]:
    if found.incomplete is None:
        return [found.table]
    return [tagged(found.table, "composite"), tagged(found.incomplete.table, "incomplete")]


@given(
    pattern=meaningful_patterns(),
    trace=traces(),
    options=choices(),
    random=st.randoms(use_true_random=False),
    buckets=st.integers(1, 5),
    incomplete=st.booleans(),
)
def test_buckets_and_partitions_change_nothing(
    pattern: Pattern, trace: list[Event], options: dict[str, Any], random: Random, buckets: int, incomplete: bool
) -> None:
    limits = ps.Limits(runs_per_instance=options.get("runs_per_instance"), age=options.get("age") or None)
    more = {name: value for name, value in options.items() if name in ("context", "restart", "until")}
    try:
        table = rows(trace)
        same_as_local(pattern, table, random, buckets, limits=limits, incomplete=incomplete, **more)
    except (DataError, MemoryError):
        return
