"""One table of what several batches gave; a column has the type that fits its values in all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from penstock.detection.columns import column_name, typed_column
from penstock.detection.kinds import Kinds
from penstock.detection.parts import PARTS, PartWriter
from penstock.detection.selection import Selection
from penstock.engine import vm
from penstock.engine.kept import joined
from penstock.engine.texts import Values
from penstock.events.table import TIME

_OWN = (
    *(pa.field("type", pa.string()), pa.field("lo", TIME), pa.field("hi", TIME)),
    *(pa.field("id", pa.string()), pa.field("parts", PARTS)),
)
_BEFORE = 3
"""How many of these stand before the attributes."""


class Gathering:
    """The rows of selections one after the other; ``kinds`` are those of the columns.

    All that is kept of a batch are the rows of the table, so that its events need not be held.
    """

    def __init__(self, kinds: Kinds, writer: PartWriter) -> None:
        self._kinds = kinds
        self._writer = writer
        self._own: list[list[pa.Array]] = [[] for _ in _OWN]
        self._values: list[list[Values]] = [[] for _ in kinds.order]

    def add(self, selection: Selection) -> None:
        """More rows; what was selected comes from the same engine as what was before."""
        if not len(selection):
            return
        lo, hi = selection.instants("lo"), selection.instants("hi")
        columns = (selection.types(), lo, hi, selection.ids(), self._writer.column(selection))
        for pieces, column in zip(self._own, columns, strict=True):
            pieces.append(column)
        for some, name in zip(self._values, self._kinds.order, strict=True):
            some.append(selection.values(name))

    def table(self) -> pa.Table:
        """All rows, in the order in which they came."""
        own = [(field, _column(pieces, field.type)) for field, pieces in zip(_OWN, self._own, strict=True)]
        attributes = [
            typed_column(column_name(name), _all(values))
            for name, values in zip(self._kinds.order, self._values, strict=True)
        ]
        columns = [*own[:_BEFORE], *attributes, *own[_BEFORE:]]
        return pa.table([column for _, column in columns], schema=pa.schema([field for field, _ in columns]))


def _column(pieces: Sequence[pa.Array], kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return pieces[0] if len(pieces) == 1 else pa.chunked_array(pieces, kind)


def _all(some: Sequence[Values]) -> Values:
    """The values of all, with the texts of all."""
    if len(some) == 1:
        return some[0]
    kinds = joined([values.kinds for values in some]).astype(np.int8)
    bits = joined([values.bits for values in some])
    if not (kinds == vm.TEXT).any():
        return Values(kinds, bits, pa.array([], pa.string()))
    texts, firsts = _texts([values.texts for values in some])
    if len(texts) == 1:
        return Values(kinds, bits, texts[0])
    moved = np.repeat(firsts, [len(values) for values in some])
    return Values(kinds, np.where(kinds == vm.TEXT, bits + moved, bits), pa.concat_arrays(texts))


def _texts(known: Sequence[pa.Array]) -> tuple[list[pa.Array], list[int]]:
    """Texts that were known one time after the other, as columns to be joined, and where those of each time begin.

    Mostly those of one time have those before among them, with the same numbers, unless some were forgotten between.

    >>> [texts.to_pylist() for texts in _texts([pa.array(["a"]), pa.array(["a", "b"]), pa.array(["b", "c"])])[0]]
    [['a', 'b'], ['b', 'c']]
    """
    columns, firsts = [known[0]], [0]
    for texts in known[1:]:
        if texts is columns[-1] or texts.slice(0, len(columns[-1])).equals(columns[-1]):
            columns[-1] = texts
            firsts.append(firsts[-1])
        else:
            firsts.append(firsts[-1] + len(columns[-1]))
            columns.append(texts)
    return columns, firsts
