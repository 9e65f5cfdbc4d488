"""Events that are given in order, as most are: whether they stand so, and those that matter one behind the other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.detection.plan import Plan
from penstock.engine.selection import Picked
from penstock.engine.taking import WORD, copy_in_order, flat, stand_in_order
from penstock.events.buffers import column_over
from penstock.events.table import EventTable

FEW = 4
"""Where no more than one in so many events matters, these are copied: each is read several times, and reading takes
long where they are far apart."""


def standing(table: EventTable, plan: Plan) -> tuple[EventTable, Picked] | None:
    """The events with what is needed of them, and which of them matter; perhaps these alone.

    Nothing if those that matter do not come in order, or if some of them have no ids or might be repeated.

    >>> from penstock.checks.check import parse
    >>> from penstock.detection.plan import plan_of
    >>> from penstock.events.table import make_table
    >>> table = make_table({"type": ["A", *"NNNN", "B"], "id": list("123456"), "lo": range(6), "hi": range(6)}, {})
    >>> events, picked = standing(table, plan_of(parse("[A]")))
    >>> len(events), picked.rows.tolist()
    (1, [0])
    >>> standing(table.take([5, 0]), plan_of(parse("[A] ; [B]")))
    """
    ids, picked = table.given("id"), plan.picked(table)
    if ids.null_count:
        return None
    needed = plan.narrowed(table)
    if FEW * len(picked.rows) > len(table):
        stand = stand_in_order(picked.rows, table.numbers("hi"), *flat(ids))
        return (needed.taken_as_given("id"), picked) if stand else None
    alone = _alone(needed, picked)
    return None if alone is None else (alone, Picked(picked.wanted, np.arange(len(alone))))


def _alone(table: EventTable, picked: Picked) -> EventTable | None:
    """The events that matter without the others, if they stand in order."""
    bounds, letters = flat(table.given("id"))
    count = len(picked.rows)
    when, ends = np.empty(count, np.int64), np.empty(count + 1, np.int32)
    out = np.empty(len(letters) + WORD, np.uint8)  # memory is taken only as far as it is written
    fields = {} if table.are_points else {"lo": table.field("lo")}
    attributes = {name: table.attribute(name) for name in table.attributes.column_names}
    beside = [_Copy(column, count) for column in fields.values()]
    plain = {name: _Copy(column, count) for name, column in attributes.items() if _is_plain(column)}
    addresses = np.array([one.addresses for one in (*beside, *plain.values())], np.int64).ravel()
    length = copy_in_order(picked.rows, table.numbers("hi"), bounds, letters, when, ends, out, addresses)
    if length < 0:
        return None
    ids = pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(out[: length + WORD]))
    known = {name: one.column for name, one in zip(fields, beside, strict=True)}
    copied = {name: one.column for name, one in plain.items()}
    types = table.given("type")
    codes = pa.array(np.asarray(types.indices).take(picked.rows))
    known["type"] = pa.DictionaryArray.from_arrays(codes, types.dictionary, safe=False)
    return table.take(picked.rows, {"id": ids, "hi": column_over(when), **known}, copied)


def _is_plain(column: pa.Array) -> bool:
    """Whether each value of a column is 64 bits that are there."""
    kind = column.type
    return not column.null_count and (kind in (pa.int64(), pa.float64()) or pa.types.is_timestamp(kind))


class _Copy:
    """Room for some rows of a column of 64 bits each, and where these are."""

    def __init__(self, column: pa.Array, count: int) -> None:
        self._kind = column.type
        self._values: NDArray[np.int64] = np.empty(count, np.int64)
        self.addresses = column.buffers()[1].address + 8 * column.offset, self._values.ctypes.data

    @property
    def column(self) -> pa.Array:
        """The rows, when they have been copied."""
        return pa.Array.from_buffers(self._kind, len(self._values), [None, pa.py_buffer(self._values)])
