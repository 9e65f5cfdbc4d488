"""Detection over streaming DataFrames: buckets with state, which go on from one micro-batch to the next.

A micro-batch is packed where it is read, each bucket's blobs meet in one call of a stateful processor, and what it
finds is unpacked behind it. Everything that is remembered is in Spark's state store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Unpack

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

from penstock.detection.limits import Limits
from penstock.errors import PenstockError, StateError
from penstock.events.arrow import from_arrow
from penstock.ordering.policies import Policy, delay, guaranteed, parse_policy
from penstock.ordering.stage import MOST_HELD
from penstock.spark.columns import Frame, needed_columns
from penstock.spark.failures import WorkerError, raise_ours, telling
from penstock.spark.flow import FOUND, Flow, packed_results, unpacked_results
from penstock.spark.groups import KEY, KEYED
from penstock.spark.options import StreamOptions
from penstock.spark.planning import (
    Patterns,
    common_options,
    mapping_of,
    patterns_of,
    plans_of,
    warn_of_one_bucket,
    work_of,
)
from penstock.spark.schema import result_schema
from penstock.spark.session import prepare_for_streams
from penstock.spark.state import Pages

ARRIVAL = "arrival"
"""When a micro-batch began: it is in Spark's log, so that a micro-batch that is repeated has the same."""
STATE = "pages"
BUCKETS = 16
"""How many buckets a stream has unless it is said: more than most machines have processors, since it cannot change."""
CHANGES = ("refuse", "restart")
WATERMARK = "watermark"
"""The policy that waits as long as the watermark of the DataFrame says."""


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
        try:
            for blob in packed_results(self._advanced(key[0], list(rows), Pages(self._pages))):
                yield Row(blob=blob)
        except PenstockError as error:
            raise WorkerError(error) from None

    def _advanced(self, key: str, rows: list[Row], pages: Pages) -> Iterator[pa.Table]:
        if key == KEY:
            return self._flow.check(pages)
        given = ((row.kind, row.blob) for row in rows)
        arrival = int(rows[0][ARRIVAL].timestamp() * 1_000_000)
        return self._flow.advance(self._numbers[key], given, arrival, pages)


def detect_stream(
    df: DataFrame, pattern: Patterns, initial: DataFrame | None, **options: Unpack[StreamOptions]
) -> DataFrame:
    """The composites of patterns over a streaming DataFrame; arguments are those of `penstock.spark.detect`."""
    flow = flow_of(df, pattern, **options)
    warn_of_one_bucket(flow.work)
    prepare_for_streams(df.sparkSession, flow.work.recipe.total)
    return streamed(df, flow, initial)


def flow_of(df: DataFrame, pattern: Patterns, **options: Unpack[StreamOptions]) -> Flow:
    """What workers must know to detect patterns in events with the columns of a DataFrame; checked as a whole."""
    if _is_detected(df):
        raise PenstockError(
            "this stream is what another `detect` found",
            hint="patterns over patterns are definitions in one text, such as `Pair := [A] ; [B]` and `[Pair] ; [C]`",
        )
    changed = options.get("changed", CHANGES[0])
    if changed not in CHANGES:
        raise PenstockError(f"`changed` is {changed!r}", hint=f"it is one of {', '.join(CHANGES)}")
    raise_ours()
    common = common_options(options, StreamOptions)
    plans = plans_of(patterns_of(pattern), **common)
    mapping = mapping_of(df.columns, **common)
    blank = from_arrow(to_arrow_schema(df.schema, timezone="UTC").empty_table(), mapping)
    work = work_of(plans, blank, mapping, options.get("buckets") or BUCKETS)
    if any(options.get(name) for name in ("late", "status", "skip_bad")):
        patterns, wanted = [plan.pattern for plan in plans], tuple(common.get("only", ()))
        work = replace(work, schema=result_schema(patterns, blank, wanted, is_tagged=True))
    held = (options.get("limits") or Limits()).held
    return Flow(
        work,
        _policy(df, options.get("policy")),
        tuple(options.get("sources", ())),
        held=MOST_HELD if held is None else held,
        late=options.get("late", False),
        status=options.get("status", False),
        skips=options.get("skip_bad", False),
        restarts=changed == "restart",
    )


def _policy(df: DataFrame, given: Policy | str | None) -> Policy:
    """The policy that was given, in whatever way."""
    if given == WATERMARK:
        return delay(_watermark(df))
    return parse_policy(given) if isinstance(given, str) else given or guaranteed()


def _watermark(df: DataFrame) -> int:
    """How long Spark is told to wait for what is behind, in microseconds."""
    waiting = [] if not hasattr(df, "_jdf") else [df._jdf.queryExecution().analyzed()]
    while waiting:
        node = waiting.pop()
        if node.nodeName() == "EventTimeWatermark":
            return int(node.getDelayMs(node.delay())) * 1000
        children = node.children()
        waiting += [children.apply(number) for number in range(children.size())]
    raise PenstockError("this DataFrame has no watermark", hint="give it one: df.withWatermark('time', '10 seconds')")


def _is_detected(df: DataFrame) -> bool:
    """Whether a stream comes from here: what buckets found was unpacked for it."""
    plan = getattr(df, "_jdf", None)
    return plan is not None and f"{unpacked_results.__name__}(" in plan.queryExecution().logical().toString()


def chosen_by(events: DataFrame, flow: Flow) -> tuple[DataFrame, Flow]:
    """The columns of a DataFrame that a flow needs, and the flow over these."""
    frame = Frame.of(events)
    names = needed_columns(frame.schema, flow.work.recipe)
    reading = replace(flow, work=flow.work.reading(names, len(names) < len(events.columns)))
    return frame.select(names), reading


def streamed(events: DataFrame, flow: Flow, initial: DataFrame | None = None) -> DataFrame:
    """What a flow finds in a streaming DataFrame; ``initial`` has the pages of buckets to begin with."""
    chosen, reading = chosen_by(events, flow)
    packed = chosen.mapInArrow(telling(reading.pack_batch), from_arrow_schema(KEYED))
    packed = packed.withColumn(ARRIVAL, f.current_timestamp())
    found = packed.groupBy("key").transformWithState(
        Processor(flow), from_arrow_schema(FOUND), "append", "none",
        initialState=None if initial is None else initial.groupBy("key"),
    )  # fmt: skip
    return found.mapInArrow(unpacked_results, from_arrow_schema(flow.work.schema))
