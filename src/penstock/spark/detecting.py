"""``detect`` for DataFrames of both kinds: those that are all there, and streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from pyspark.sql import DataFrame

from penstock.detection.arguments import check_options
from penstock.detection.limits import Limits
from penstock.errors import PenstockError
from penstock.events.mapping import Columns
from penstock.ordering.policies import Policy
from penstock.spark.batch import detect_table
from penstock.spark.options import Options
from penstock.spark.planning import Patterns
from penstock.spark.streaming import detect_stream


def detect(
    df: DataFrame,
    pattern: Patterns,
    *,
    context: str = "continuous",
    restart: bool = False,
    until: int | str | datetime | None = None,
    zone: str | None = None,
    carry: str | Iterable[str] = "all",
    only: Iterable[str] = (),
    columns: Mapping[str, str] | Columns | None = None,
    time_unit: str | None = None,
    clock_error: int = 0,
    limits: Limits | None = None,
    incomplete: bool = False,
    buckets: int | None = None,
    unique: bool = False,
    policy: Policy | str | None = None,
    sources: Iterable[str] = (),
    late: bool = False,
    status: bool = False,
    skip_bad: bool = False,
    changed: str = "refuse",
    initial: DataFrame | None = None,
) -> DataFrame:
    """The composites of patterns over a DataFrame of events, as a DataFrame; nothing is computed before it is needed.

    Columns, options and results are those of `penstock.detect`; rows have no order. The types of the columns follow
    from the patterns and the DataFrame. The result of a stream is a stream; it has composites once nothing can come any
    more that would change them, as the policy says.

    Args:
        df: Events, a row each. In a stream, rows of the type ``penstock.heartbeat`` say how far their source is.
        pattern: A pattern or its text; several of them; or several by names, which bare ones get as their type.
        incomplete: Whether the runs that came to nothing are wanted too. Then ``kind`` says what a row is,
            ``composite`` or ``incomplete``, and ``reason`` and ``at`` why and when a run ended. Parameters called so
            have an underscore more.
        buckets: How many shares the events are divided into. Results do not depend on it. Two for each processor
            unless it is given; of a stream 16, and there it cannot change once the stream has begun.
        unique: Whether it is known that no two events of a table have the same source and id. Then none is looked
            for, which saves a comparison of their hashes. Events whose ids are made are never looked at for this.
        policy: Of a stream, when an event may be consumed: ``penstock.guaranteed()`` unless another is given.
            ``"watermark"`` is ``penstock.delay`` by as long as the DataFrame's watermark says.
        sources: Of a stream, those that are waited for from the beginning; others are found by their events.
        late: Whether events of a stream that came too late are wanted too, as rows of the kind ``late``.
        status: Whether each bucket of a stream is to say after each micro-batch how it stands, as a row of the kind
            ``status``.
        skip_bad: Whether records of a stream that are no events are left out, and told of as rows of the kind
            ``skipped``, instead of being an error.
        changed: What becomes of definitions that are not those of the checkpoint: ``refuse`` says which they are and
            stops, ``restart`` lets them start anew. Runs of definitions that have not changed go on.
        initial: The state that a stream begins with, from `penstock.spark.backfill`.

    The other options are those of `penstock.detect`.

    >>> from penstock.spark.session import session
    >>> spark = session()  # doctest: +SKIP
    >>> rows = [("Open", 1, "D1"), ("Close", 2, "D1")]
    >>> df = spark.createDataFrame(rows, "type string, time long, door string")  # doctest: +SKIP
    >>> detect(df, "[Open(door = $d)] ; [Close(door = $d)]").select("d").collect()  # doctest: +SKIP
    [Row(d='D1')]
    """
    if not hasattr(df, "isStreaming"):
        raise PenstockError(f"this is a {type(df).__name__}", hint="give a DataFrame of Spark")
    check_options(
        patterns=pattern, unique=unique, policy=policy, sources=sources, late=late, status=status,
        skip_bad=skip_bad, changed=changed,
    )  # fmt: skip
    options: Options = {
        "context": context, "restart": restart, "zone": zone, "carry": carry, "only": only, "columns": columns,
        "time_unit": time_unit, "clock_error": clock_error, "limits": limits, "incomplete": incomplete,
        "buckets": buckets,
    }  # fmt: skip
    if df.isStreaming:
        if until is not None:
            raise PenstockError("`until` is of no use for a stream, which has no end", hint="leave it out")
        return detect_stream(
            df, pattern, initial, policy=policy, sources=sources, late=late, status=status, skip_bad=skip_bad,
            changed=changed, **options,
        )  # fmt: skip
    given = {"policy": policy, "sources": tuple(sources), "late": late, "status": status, "skip_bad": skip_bad}
    for name, value in (given | {"initial": initial}).items():
        if value:
            raise PenstockError(f"`{name}` is of use for streams only", hint="leave it out: all events are there")
    return detect_table(df, pattern, until=until, unique=unique, **options)
