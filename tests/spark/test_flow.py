"""The work of a stream's workers without Spark: whatever the micro-batches, what the reference finds."""

from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import penstock as ps
from penstock.algebra.pattern import Pattern
from penstock.errors import DataError, PatternError
from penstock.events.event import Event
from penstock.events.mapping import Columns
from penstock.events.table import EventTable, make_table
from penstock.languages.core.printer import print_pattern
from penstock.ordering.policies import Policy, parse_policy
from penstock.spark.backfilling import left_by
from penstock.spark.flow import FINISH, HEARTBEAT, Flow, FlowPacker
from penstock.spark.groups import check_groups
from penstock.spark.planning import patterns_of, plans_of, work_of
from penstock.spark.schema import fitted
from penstock.spark.work import tagged
from penstock.testing.generate import choices, meaningful_pattern, trace
from tests.engine.conftest import table_of

Row = dict[str, Any]
TRIALS = 15


class Buckets:
    """The buckets of a flow, with stores that are dicts."""

    def __init__(self, pattern: Any, blank: EventTable, buckets: int = 3, **options: Any) -> None:
        policy = options.pop("policy", ps.guaranteed())
        names = ("sources", "late", "status", "skips", "restarts")
        beside = {name: options.pop(name) for name in names if name in options}
        plans = plans_of(patterns_of(pattern), **options)
        work = work_of(plans, blank, Columns(), buckets)
        self.policy: Policy = parse_policy(policy) if isinstance(policy, str) else policy
        self.flow = Flow(work, self.policy, **beside)
        self.stores: dict[int, dict[str, bytes]] = {}

    def backfill(self, *pieces: EventTable) -> list[Row]:
        """What is found in history; the stores are what it leaves."""
        found: list[Row] = []
        for bucket, some in self.packed(*pieces).items():
            for batch in left_by(self.flow, bucket, "", some, arrival=0):
                for row in batch.to_pylist():
                    if row["name"]:
                        self.stores.setdefault(bucket, {})[row["name"]] = row["body"]
                    else:
                        found += pa.ipc.open_stream(row["body"]).read_all().to_pylist()
        return found

    def packed(self, *pieces: EventTable) -> dict[int, list[tuple[str, bytes]]]:
        """What each bucket is sent, if each piece is read by one task."""
        rows: dict[int, list[tuple[str, bytes]]] = {}
        for piece in pieces:
            packer = FlowPacker(self.flow.work.recipe, skips=False)
            for packed in (packer.pack_events(packer.without_beats(piece)), packer.finish()):
                for row in packed.to_pylist():
                    rows.setdefault(row["bucket"], []).append((row["kind"], row["blob"]))
        return rows

    def feed(self, *pieces: EventTable, arrival: int = 0) -> list[Row]:
        """What is found in a micro-batch, of which each piece is read by one task."""
        found: list[Row] = []
        for bucket, some in self.packed(*pieces).items():
            store = self.stores.setdefault(bucket, {})
            found += [row for table in self.flow.advance(bucket, some, arrival, store) for row in table.to_pylist()]
        return found


def beats(sources: list[str], at: int, type: str = HEARTBEAT) -> EventTable:
    fields = {"type": [type] * len(sources), "source": sources, "id": [f"beat {s} {at}" for s in sources]}
    return make_table(fields | {"lo": [at] * len(sources), "hi": [at] * len(sources)}, {})


def micro_batches(table: EventTable, random: Random) -> list[list[EventTable]]:
    """Events cut into micro-batches in which each source keeps its order, and these into pieces."""
    sources = sorted(set(table.field("source").to_pylist()))
    waiting = {s: [row for row, other in enumerate(table.field("source").to_pylist()) if other == s] for s in sources}
    batches = []
    while any(waiting.values()):
        chosen = []
        for source in sources:
            count = random.randint(0, len(waiting[source]))
            chosen += waiting[source][:count]
            waiting[source] = waiting[source][count:]
        random.shuffle(chosen)
        pieces = random.randint(1, 2)
        batches.append([table.take(chosen[number::pieces]) for number in range(pieces)])
    return batches


def content(rows: list[Row]) -> Counter[str]:
    return Counter(repr({name: value for name, value in row.items() if value is not None}) for row in rows)


@pytest.mark.parametrize("seed", range(10))
def test_a_stream_finds_what_is_found_in_one_process(seed: int) -> None:
    for number in range(TRIALS):
        random = Random(f"stream {seed}:{number}")  # noqa: S311
        compared(meaningful_pattern(random.choice), trace(random.choice), choices(random.choice), random)


POLICIES = ("best_effort", "guaranteed", "guaranteed(max_wait=10 s)", "probabilistic(0.99)", "delay(5 s)")
DOORS = "Pair := [A(k = $k)] ; [B(k = $k)]\nSilent := ([A(k = $k)], [T in {T, B(k = $k)}]){T = 3 s}"


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_finds_the_same_in_input_that_comes_in_order(policy: str) -> None:
    second, count = 1_000_000, 60
    random = Random(3)  # noqa: S311
    ends = [second * (number + 1) for number in range(count)]
    fields = {"type": random.choices("ABN", k=count), "source": ["s"] * count, "id": list(map(str, range(count)))}
    table = make_table(fields | {"lo": ends, "hi": ends}, {"k": pa.array(random.choices("xyz", k=count))})
    stream = Buckets(DOORS, table.slice(0, 0), policy=policy, sources=["s"])
    found = []
    for start in range(0, count, 10):
        found += stream.feed(table.slice(start, 10), arrival=ends[start + 9])
    found += stream.feed(beats(["s"], ends[-1] + 20 * second), arrival=ends[-1] + 40 * second)
    expected = ps.detect(table, DOORS, until=ends[-1] + 20 * second)
    assert Counter(row["id"] for row in found) == Counter(expected.table["id"].to_pylist())
    assert len(expected) > 10


def test_a_late_event_that_all_buckets_get_is_told_once() -> None:
    pattern = "[A(k = $k)] ; [C]"
    fields = {"type": ["A", "A", "C"], "source": ["s"] * 3, "id": ["1", "2", "3"], "lo": [5, 6, 2], "hi": [5, 6, 2]}
    table = make_table(fields, {"k": pa.array(["x", "y", None])})
    stream = Buckets(pattern, table.slice(0, 0), sources=["s"], late=True, incomplete=True)
    stream.feed(table.slice(0, 2), beats(["s"], 9))
    late = [row for row in stream.feed(table.slice(2)) if row["kind"] == "late"]
    assert [(row["type"], row["reason"]) for row in late] == [("C", "its source had shown a later stamp")]


def test_a_late_event_that_several_buckets_get_is_told_once() -> None:
    pattern, count = "One := [A(k = $k)] ; [C(k = $k)]\nOther := [A(j = $j)] ; [C(j = $j)]", 20
    ends = [50, *range(1, count)]
    fields = {"type": ["A", *"C" * (count - 1)], "source": ["s"] * count, "id": list(map(str, range(count)))}
    keys = {name: pa.array([f"{name}{number}" for number in range(count)]) for name in ("k", "j")}
    table = make_table(fields | {"lo": ends, "hi": ends}, keys)
    stream = Buckets(pattern, table.slice(0, 0), sources=["s"], late=True, incomplete=True)
    stream.feed(table.slice(0, 1), beats(["s"], 99))
    late = [row["id"] for row in stream.feed(table.slice(1)) if row["kind"] == "late"]
    assert sorted(late, key=int) == fields["id"][1:]


def test_a_stream_is_finished_on_request() -> None:
    fields = {"type": ["A", "A", "B"], "source": ["s", "s", "t"], "id": ["1", "2", "3"]}
    ends = [1_000_000, 4_000_000, 2_000_000]
    table = make_table(fields | {"lo": ends, "hi": ends}, {"k": pa.array(["x", "y", "x"])})
    stream = Buckets(DOORS, table.slice(0, 0), sources=["s", "t", "u"])
    assert stream.feed(table) == []
    found = stream.feed(beats([""], 7_000_000, FINISH))
    expected = ps.detect(table, DOORS, until=7_000_000)
    assert Counter(row["id"] for row in found) == Counter(expected.table["id"].to_pylist())
    assert Counter(row["type"] for row in found) == {"Pair": 1, "Silent": 1}


def test_what_comes_after_the_end_and_is_earlier_is_late() -> None:
    fields = {"type": ["A", "A", "B"], "source": ["s"] * 3, "id": ["1", "2", "3"]}
    ends = [1_000_000, 5_000_000, 8_000_000]
    table = make_table(fields | {"lo": ends, "hi": ends}, {"k": pa.array(["x"] * 3)})
    stream = Buckets(DOORS, table.slice(0, 0), sources=["s"], late=True, incomplete=True)
    stream.feed(table.slice(0, 1))
    stream.feed(beats([""], 7_000_000, FINISH))
    told = stream.feed(table.slice(1))
    assert [row["id"] for row in told if row["kind"] == "late"] == ["2"]


def test_a_pattern_that_was_left_out_begins_anew_when_it_comes_again() -> None:
    patterns = {"X": "[A(k = $k)] ; [B(k = $k)]", "Y": "[A(k = $k)] ; [C(k = $k) in {C(k = $k), D(k = $k)}]"}
    fields = {"type": ["A", "D", "C", "A", "C"], "source": ["s"] * 5, "id": list("12345")}
    table = make_table(fields | {"lo": [1, 2, 3, 4, 5], "hi": [1, 2, 3, 4, 5]}, {"k": pa.array(["x"] * 5)})
    both = Buckets(patterns, table.slice(0, 0), buckets=1, sources=["s"])
    only = Buckets({"X": patterns["X"]}, table.slice(0, 0), buckets=1, sources=["s"], restarts=True)
    only.stores = both.stores
    both.feed(table.slice(0, 1))
    assert any(name.startswith("1/") for name in both.stores[0])
    only.feed(table.slice(1, 1))
    assert not any(name.startswith("1/") for name in both.stores[0])
    found = both.feed(table.slice(2), beats(["s"], 9))
    assert [[part["id"] for part in row["parts"]] for row in found] == [["4", "5"]]


def test_a_pattern_that_is_left_out_is_refused() -> None:
    store: dict[str, bytes] = {}
    check_groups([["X", "Y"]], store, restarts=False)
    with pytest.raises(ps.StateError, match="has runs of `Y` that this query would leave behind"):
        check_groups([["X"]], store, restarts=False)
    assert check_groups([["X"]], store, restarts=True) == "`Y` is gone"


def test_a_bucket_refuses_what_is_left_out_in_the_same_words() -> None:
    fields = {"type": ["A", "B"], "source": ["s"] * 2, "id": ["1", "2"], "lo": [1, 2], "hi": [1, 2]}
    table = make_table(fields, {"k": pa.array(["x", "x"])})
    both, pair = (Buckets(text, table.slice(0, 0)) for text in (DOORS, DOORS.splitlines()[0]))
    both.feed(table)
    pair.stores = both.stores
    with pytest.raises(ps.StateError, match="has runs of `Silent` that this query would leave behind"):
        pair.feed(table)


def test_a_definition_that_is_shared_out_otherwise_is_refused() -> None:
    fields = {"type": ["A", "B"], "source": ["s"] * 2, "id": ["1", "2"], "lo": [1, 2], "hi": [1, 2]}
    table = make_table(fields, {"k": pa.array(["x", "x"]), "j": pa.array(["y", "y"])})
    pair = "Pair := [A(k = $k AND j = $j)] ; [B(k = $k AND j = $j)]"
    one, other = (Buckets(text, table.slice(0, 0)) for text in (pair, f"{pair}\nLong := [Pair(j = $j)] ; [A(j = $j)]"))
    one.feed(table)
    other.stores = one.stores
    with pytest.raises(ps.StateError, match="`Pair` is shared out by k, j, and now by j"):
        other.feed(table)


def compared(pattern: Pattern, events: list[Event], options: dict[str, Any], random: Random) -> None:
    """The stream and a detector in this process find the same."""
    limits = ps.Limits(runs_per_instance=options.get("runs_per_instance"), age=options.get("age") or None)
    more = {name: value for name, value in options.items() if name in ("context", "restart")} | {"limits": limits}
    incomplete = random.random() < 0.5
    try:
        table = table_of(events)
        sources = sorted(set(table.field("source").to_pylist()))
        more |= {"incomplete": incomplete, "sources": sources}
        stream = Buckets(pattern, table.slice(0, 0), random.randint(1, 4), **more)
        local = ps.Detector(pattern, **more)
    except (DataError, PatternError, MemoryError):
        return
    end = max(table.field("hi").to_pylist(), default=0) + random.randint(0, 9_000_000)
    batches = micro_batches(table, random)
    # History may come first: it leaves what its micro-batch would have left.
    found = stream.backfill(*batches.pop(0)) if batches and random.random() < 0.3 else []
    found += [row for pieces in batches for row in stream.feed(*pieces)]
    found += stream.feed(beats(sources, end)) if sources else []
    expected = local.feed(table, heartbeats=dict.fromkeys(sources, end))
    schema = stream.flow.work.schema
    rows = [row for some in told(expected, incomplete) for row in fitted(some, schema).to_pylist()]
    assert content(found) == content(rows), print_pattern(pattern)


def told(found: ps.Composites, incomplete: bool) -> list[pa.Table]:
    if not incomplete or found.incomplete is None:
        return [found.table]
    return [tagged(found.table, "composite"), tagged(found.incomplete.table, "incomplete")]
