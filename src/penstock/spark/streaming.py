"""Detection over streaming DataFrames: buckets with state, which go on from one micro-batch to the next.

A micro-batch is packed where it is read, each bucket's blobs meet in one call of a stateful processor, and what it
finds is unpacked behind it. Everything that is remembered is in Spark's state store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

from penstock.detection.limits import Limits
from penstock.errors import PenstockError, StateError
from penstock.events.arrow import from_arrow
from penstock.events.mapping import Columns
from penstock.ordering.policies import Policy, guaranteed, parse_policy
from penstock.ordering.stage import MOST_HELD
from penstock.spark.batch import warn_of_one_bucket
from penstock.spark.columns import needed_columns, quoted
from penstock.spark.failures import WorkerError, raise_ours, telling
from penstock.spark.flow import FOUND, KEYED, Flow, packed_results, unpacked_results
from penstock.spark.planning import Patterns, mapping_of, patterns_of, plans_of, work_of
from penstock.spark.schema import result_schema
from penstock.spark.state import Pages

ARRIVAL = "arrival"
"""When a micro-batch began: it is in Spark's log, so that a micro-batch that is repeated has the same."""
STATE = "pages"
BUCKETS = 16
"""How many buckets a stream has unless it is said: more than most machines have processors, since it cannot change."""
CHANGES = ("refuse", "restart")


class Processor(StatefulProcessor):
    """Lets a bucket go on: its pages are a map in Spark's state store."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Called once for each task of a micro-batch."""
        self._pages = handle.getMapState(STATE, "name string", "body binary")
        self._numbers = {key: number for number, key in enumerate(self._flow.keys())}

    def handleInitialState(self, key: Any, initialState: Any, timerValues: TimerValues) -> None:  # noqa: N802, N803
        """One page that the stream begins with."""
        if key[0] not in self._numbers:
            raise WorkerError(
                StateError(
                    f"the state to begin with has a bucket {key[0]!r}, and this stream has none",
                    hint="give `backfill` the same pattern and options as `detect`",
                )
            )
        self._pages.updateValue((initialState["name"],), (initialState["body"],))

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        """All rows of a bucket in a micro-batch."""
        there = list(rows)
        given = ((row.kind, row.blob) for row in there)
        arrival = int(there[0][ARRIVAL].timestamp() * 1_000_000)
        try:
            tables = self._flow.advance(self._numbers[key[0]], given, arrival, Pages(self._pages))
            for blob in packed_results(tables):
                yield Row(blob=blob)
        except PenstockError as error:
            raise WorkerError(error) from None


def detect_stream(
    df: DataFrame,
    pattern: Patterns,
    *,
    policy: Policy | str | None,
    sources: Iterable[str],
    late: bool,
    status: bool,
    skip_bad: bool,
    changed: str,
    initial: DataFrame | None,
    **options: Any,
) -> DataFrame:
    """The composites of patterns over a streaming DataFrame; arguments are those of `penstock.spark.detect`."""
    flow = flow_of(
        df, pattern, policy=policy, sources=sources, late=late, status=status, skip_bad=skip_bad, changed=changed,
        **options,
    )  # fmt: skip
    warn_of_one_bucket(flow.work)
    return streamed(df, flow, initial)


def flow_of(
    df: DataFrame,
    pattern: Patterns,
    *,
    policy: Policy | str | None = None,
    sources: Iterable[str] = (),
    late: bool = False,
    status: bool = False,
    skip_bad: bool = False,
    changed: str = "refuse",
    buckets: int | None = None,
    columns: Mapping[str, str] | Columns | None = None,
    zone: str | None = None,
    time_unit: str | None = None,
    clock_error: int = 0,
    limits: Limits | None = None,
    only: Iterable[str] = (),
    **options: Any,
) -> Flow:
    """What workers must know to detect patterns in events with the columns of a DataFrame; checked as a whole."""
    if _is_detected(df):
        raise PenstockError(
            "this stream is what another `detect` found",
            hint="patterns over patterns are definitions in one text, such as `Pair := [A] ; [B]` and `[Pair] ; [C]`",
        )
    if changed not in CHANGES:
        raise PenstockError(f"`changed` is {changed!r}", hint=f"it is one of {', '.join(CHANGES)}")
    raise_ours()
    wanted = tuple(only)
    plans = plans_of(patterns_of(pattern), zone=zone, limits=limits, only=wanted, **options)
    mapping = mapping_of(columns, df.columns, zone, time_unit, clock_error)
    blank = from_arrow(to_arrow_schema(df.schema).empty_table(), mapping)
    work = work_of(plans, blank, mapping, buckets or BUCKETS)
    if late or status or skip_bad:
        schema = result_schema([plan.pattern for plan in plans], blank, wanted, is_tagged=True)
        work = replace(work, schema=schema)
    held = (limits or Limits()).held
    return Flow(
        work,
        parse_policy(policy) if isinstance(policy, str) else policy or guaranteed(),
        tuple(sources),
        held=MOST_HELD if held is None else held,
        late=late,
        status=status,
        skips=skip_bad,
        restarts=changed == "restart",
    )


def _is_detected(df: DataFrame) -> bool:
    """Whether a stream comes from here: what buckets found was unpacked for it."""
    plan = getattr(df, "_jdf", None)
    return plan is not None and f"{unpacked_results.__name__}(" in plan.queryExecution().logical().toString()


def packed_by(events: DataFrame, flow: Flow) -> DataFrame:
    """The events of a DataFrame in blobs for the buckets of a flow; columns that nobody needs are left behind."""
    names = needed_columns(events.schema, flow.work.recipe)
    reading = replace(flow, work=flow.work.reading(len(names) < len(events.columns)))
    chosen = events.select([quoted(name) for name in names])
    return chosen.mapInArrow(telling(reading.pack), from_arrow_schema(KEYED))


def streamed(events: DataFrame, flow: Flow, initial: DataFrame | None = None) -> DataFrame:
    """What a flow finds in a streaming DataFrame; ``initial`` has the pages of buckets to begin with."""
    packed = packed_by(events, flow).withColumn(ARRIVAL, f.current_timestamp())
    found = packed.groupBy("key").transformWithState(
        Processor(flow), from_arrow_schema(FOUND), "append", "none",
        initialState=None if initial is None else initial.groupBy("key"),
    )  # fmt: skip
    return found.mapInArrow(unpacked_results, from_arrow_schema(flow.work.schema))
