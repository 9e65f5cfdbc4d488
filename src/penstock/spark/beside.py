"""What goes beside composites, as rows of the same columns: late events, how detection stands, records left out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pyarrow as pa

from penstock.detection.detector import Counters
from penstock.detection.json_columns import data_column, json_column
from penstock.detection.parts import PARTS
from penstock.events.table import TIME
from penstock.ordering.status import Status
from penstock.spark.schema import TAGS

COMPOSITE, INCOMPLETE, LATE, STATUS, SKIPPED = "composite", "incomplete", "late", "status", "skipped"
"""The kinds of rows."""
_FIELDS = ("type", "source", "id", "seq", "lo", "hi", "reason", "lateness")


def late_rows(late: pa.Table) -> pa.Table:
    """Late events: the reason, in ``at`` how far detection had come, and the event itself as the only part."""
    at = np.asarray(late["hi"].cast(pa.int64())) + np.asarray(late["lateness"])
    attributes = {name: json_column(late[name].combine_chunks()) for name in late.column_names if name not in _FIELDS}
    own = {name: late[name].combine_chunks() for name in ("type", "source", "id", "seq", "lo", "hi")}
    own["data"] = data_column(attributes) if attributes else pa.nulls(len(late), pa.string())
    fields = list(PARTS.value_type)
    parts = [own[one.name] if one.name in own else pa.nulls(len(late), one.type) for one in fields]
    structs = pa.StructArray.from_arrays(
        [part.cast(one.type) for part, one in zip(parts, fields, strict=True)], fields=fields
    )
    bounds = pa.array(np.arange(len(late) + 1, dtype=np.int32))
    rows = late.select(["type", "lo", "hi", "id", "reason"])
    rows = rows.append_column("at", pa.array(at).cast(TIME))
    rows = rows.append_column("parts", pa.ListArray.from_arrays(bounds, structs, type=PARTS))
    return rows.append_column(TAGS[0].name, pa.repeat(LATE, len(late)))


def status_rows(key: str, pattern: int, status: Status, counters: Counters) -> pa.Table:
    """How one detector of a bucket stands: ``hi`` is how far it has come, ``reason`` says the rest as JSON."""
    said = {"pattern": pattern, "held": status.held, "holding": list(status.holding), **asdict(counters)}
    has_begun = status.progress > -(2**62)
    progress = pa.array([status.progress if has_begun else None], pa.int64()).cast(TIME)
    now = pa.array([status.now if status.now > -(2**62) else None], pa.int64()).cast(TIME)
    return pa.table(
        {
            "type": ["penstock.status"],
            "lo": progress,
            "hi": progress,
            "id": [key],
            "reason": [json.dumps(said)],
            "at": now,
            TAGS[0].name: [STATUS],
        }
    )


def changed_rows(key: str, changes: str) -> pa.Table:
    """Which definitions of a bucket started anew, since they are not those of the checkpoint."""
    return pa.table({"type": ["penstock.changed"], "id": [key], "reason": [changes], TAGS[0].name: [STATUS]})


def skipped_rows(errors: Sequence[str]) -> pa.Table:
    """Records that are no events, and why."""
    count = len(errors)
    columns = {"type": pa.repeat("penstock.skipped", count), "reason": pa.array(errors, pa.string())}
    return pa.table(columns | {TAGS[0].name: pa.repeat(SKIPPED, count)})
