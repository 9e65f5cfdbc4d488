"""Events that came too late for their place, as a table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.events.table import TIME
from penstock.ordering.stage import Late

LATE_FIELDS = ("type", "source", "id", "seq", "lo", "hi", "reason", "lateness")


def late_table(late: Late) -> pa.Table:
    """Late events with the reason and by how much, in microseconds; an attribute called like a field has an underscore.

    >>> import numpy as np
    >>> from penstock.events.records import from_dicts
    >>> event = {"type": "A", "id": "1", "time": 5, "data": {"reason": "none", "reason_": 3}}
    >>> late_table(Late(from_dicts([event]), ["too late"], np.array([2]))).column_names[-4:]
    ['reason', 'lateness', 'reason_', 'reason__']
    """
    columns: dict[str, Any] = {name: late.table.field(name) for name in ("type", "source", "id", "seq", "lo", "hi")}
    columns |= {name: columns[name].cast(TIME) for name in ("lo", "hi")}
    columns |= {name: columns[name].cast(pa.string()) for name in ("type", "source")}
    columns |= {"reason": pa.array(late.reason, pa.string()), "lateness": pa.array(late.lateness, pa.int64())}
    for name in late.table.attributes.column_names:
        columns[f"{name}_" if name.rstrip("_") in LATE_FIELDS else name] = late.table.attribute(name)
    return pa.table(columns)
