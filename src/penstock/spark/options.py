"""The options of detection on Spark by their names and types; `penstock.spark.detect` says what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypedDict

from penstock.detection.limits import Limits
from penstock.events.mapping import Columns
from penstock.ordering.policies import Policy


class Options(TypedDict, total=False):
    """What can be said of tables and of streams."""

    context: str
    restart: bool
    zone: str | None
    carry: str | Iterable[str]
    only: Iterable[str]
    columns: Mapping[str, str] | Columns | None
    time_unit: str | None
    clock_error: int
    limits: Limits | None
    incomplete: bool
    buckets: int | None


class TableOptions(Options, total=False):
    """What can be said of tables."""

    until: int | str | datetime | None
    unique: bool


class StreamOptions(Options, total=False):
    """What can be said of streams."""

    policy: Policy | str | None
    sources: Iterable[str]
    late: bool
    status: bool
    skip_bad: bool
    changed: str
