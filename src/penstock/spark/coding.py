"""Types by number: a byte crosses from Spark's side to Python sooner than a text.

Rows whose type has no number are those that may be no events, which are told of with all that they say. In these rows
the type stands before the id, so that types need no column of their own: one that says nothing in nearly all rows takes
a fourteenth of what rows take to cross. Where ids are no texts, types have that column. Nothing here knows Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

NOTHING = "-"
"""What stands for a text that is missing; others stand as digits of their bytes, with a space between two."""


@dataclass(frozen=True)
class Coding:
    """Which types stand by number in a column before all others.

    Attributes:
        types: The types, by their numbers.
        column: The name of the column of types.
        bearer: The name of the column of ids that say the type too where it has no number; None if types have a column.
    """

    types: tuple[str, ...]
    column: str
    bearer: str | None = None

    def crossing(self, names: Sequence[str]) -> list[str]:
        """Which of these columns cross beside the numbers."""
        return [name for name in names if self.bearer is None or name != self.column]

    def decoded(self, rows: pa.Table, names: Sequence[str]) -> pa.Table:
        """Rows as they crossed, with these columns.

        >>> coding = Coding(("A", "B"), "type", "id")
        >>> crossed = pa.table([pa.array([1, None], pa.int8()), ["7", "4143 39"]], ["code", "c0"])
        >>> coding.decoded(crossed, ["id", "type"]).to_pydict()
        {'id': ['7', '9'], 'type': ['B', 'AC']}
        """
        codes = rows.column(0).combine_chunks()
        rows = rows.remove_column(0).rename_columns(self.crossing(names))
        types = pa.DictionaryArray.from_arrays(codes, pa.array(self.types, pa.string()), safe=False)
        if codes.null_count:
            types, rows = self._told(types.cast(pa.string()), codes.is_null(), rows)
        place = names.index(self.column)
        if self.bearer is None:
            return rows.set_column(place, self.column, types)
        return rows.add_column(place, self.column, types)

    def _told(self, types: pa.Array, are_told: pa.Array, rows: pa.Table) -> tuple[pa.Array, pa.Table]:
        """The types, with those that have no number, and the rows, with ids that do not say them."""
        if self.bearer is None:
            return pc.coalesce(types, rows[self.column].combine_chunks().cast(pa.string())), rows
        place, ids = rows.column_names.index(self.bearer), rows[self.bearer].combine_chunks()
        pairs = [text.split(" ") for text in ids.filter(are_told).to_pylist()]
        said, own = (pa.array([_read(pair[half]) for pair in pairs], pa.string()) for half in (0, 1))
        ids = pc.replace_with_mask(ids, are_told, own.cast(ids.type))
        return pc.replace_with_mask(types, are_told, said), rows.set_column(place, self.bearer, ids)


def _read(digits: str) -> str | None:
    return None if digits == NOTHING else bytes.fromhex(digits).decode(errors="replace")
