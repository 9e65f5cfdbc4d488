"""Composites as tables of events, for the definitions that use them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine import vm
from penstock.engine.composed import Composed
from penstock.engine.kept import Ints
from penstock.engine.texts import Values
from penstock.events.table import EventTable, make_table

_ALIKE = np.array([vm.NULL, vm.BOOLEAN, vm.FLOAT, vm.FLOAT, vm.TEXT, vm.TIME], np.int8)
"""Kinds that one column can hold: numbers are alike."""


def pieces_of(name: str, attributes: list[str], composites: Composed, texts: pa.Array) -> list[tuple[EventTable, Ints]]:
    """Tables that have all composites, and which ones each has."""
    groups = _groups(_ALIKE[composites.kinds])
    return [(_table(name, attributes, composites, group, texts), group) for group in groups]


def _groups(kinds: NDArray[np.int8]) -> list[Ints]:
    """Rows whose values are of the same kinds, so that a table can hold them."""
    if all(len(set(np.unique(column).tolist()) - {vm.NULL}) < 2 for column in kinds.T):
        return [np.arange(len(kinds))]
    _, codes = np.unique(kinds, axis=0, return_inverse=True)
    codes = codes.reshape(-1)
    return [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]


def _table(name: str, attributes: list[str], composites: Composed, rows: Ints, texts: pa.Array) -> EventTable:
    columns = {
        attribute: Values(composites.kinds[rows, number], composites.bits[rows, number], texts).column()
        for number, attribute in enumerate(attributes)
    }
    fields = {
        "type": _constant(name, len(rows)),
        "source": _constant(f"penstock/{name}", len(rows)),
        "id": composites.ids().take(pa.array(rows)),
        "lo": pa.array(composites.lo[rows]),
        "hi": pa.array(composites.hi[rows]),
    }
    return make_table(fields, columns)


def _constant(text: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([text], pa.string()))
