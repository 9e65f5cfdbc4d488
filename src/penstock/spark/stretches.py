"""Stretches of ids that rise like a counter: they show that names are different with no number for each event.

A batch says of its events where their ids begin and end, in the order in which counters are written: shorter ones
first. Where no stretch meets another, no name is there twice across batches. Within a batch, ids that rise are
different. For others there are numbers, which are compared (`penstock.spark.names`), and also where a stretch has more
gaps than ids, so that another is likely to lie in these. Nothing here knows Spark.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.texts import is_rising

_FEW = 1 << 12
"""Of so many events numbers are compared in any case: that costs nothing, and it finds out more."""
_MOST_DIGITS = 18
_SCHEMA = pa.schema([("source", pa.string()), ("first", pa.string()), ("last", pa.string()), ("is_known", pa.bool_())])


@dataclass(frozen=True)
class Stretch:
    """Where the ids of a batch begin and end; ``is_known`` says that there are numbers for their names.

    The source is None if there are several.
    """

    source: str | None
    first: str
    last: str
    is_known: bool


def stretch_of(flat: pa.Table) -> Stretch:
    """The stretch of a batch that is not empty; the columns are those of blobs.

    >>> stretch_of(pa.table({"id": ["9", "10", "8"]}))
    Stretch(source='', first='8', last='10', is_known=True)
    """
    ids, source = flat["id"].combine_chunks(), _source(flat)
    if not is_rising(ids):
        return Stretch(source, *_ends(ids), is_known=True)
    first, last = ids[0].as_py(), ids[-1].as_py()
    is_alone = source is not None and len(ids) > _FEW and _is_dense(first, last, len(ids))
    return Stretch(source, first, last, is_known=not is_alone)


def _source(flat: pa.Table) -> str | None:
    """The source of all events; None if there are several."""
    if "source" not in flat.column_names:
        return ""
    column = flat["source"].combine_chunks()
    codes = pc.unique(column.indices)
    return column.dictionary[codes[0].as_py()].as_py() if len(codes) == 1 else None


def _ends(ids: pa.Array) -> tuple[str, str]:
    """The least and the largest id in the order of counters."""
    lengths = np.asarray(pc.binary_length(ids))
    shortest, longest = (ids.filter(pa.array(lengths == length)) for length in (lengths.min(), lengths.max()))
    return pc.min(shortest).as_py(), pc.max(longest).as_py()


def _is_dense(first: str, last: str, number: int) -> bool:
    """Whether so many ids are most of the numbers from one to another."""
    are_numbers = all(end.isdecimal() and end.isascii() and len(end) <= _MOST_DIGITS for end in (first, last))
    return are_numbers and int(last) - int(first) < 2 * number - 1


def to_table(stretch: Stretch) -> pa.Table:
    """As the table of a blob."""
    one = [[stretch.source], [stretch.first], [stretch.last], [stretch.is_known]]
    return pa.table(one, schema=_SCHEMA)


def from_table(table: pa.Table) -> Stretch:
    """From such a table."""
    return Stretch(**table.to_pylist()[0])


def may_meet(stretches: Iterable[Stretch]) -> bool:
    """Whether names may be there twice among batches of which one has no numbers for them.

    >>> one, two = Stretch("s", "1", "99", False), Stretch("s", "100", "199", False)
    >>> may_meet([two, one]), may_meet([one, two, Stretch("s", "150", "170", True)])
    (False, True)
    """
    by_source: dict[str | None, list[Stretch]] = {}
    for one in stretches:
        by_source.setdefault(one.source, []).append(one)
    if None in by_source:
        return _overlap([one for some in by_source.values() for one in some])
    return any(map(_overlap, by_source.values()))


def _overlap(stretches: Iterable[Stretch]) -> bool:
    """Whether two stretches have something in common of which one has no numbers."""
    reached, reached_alone = _place(""), _place("")
    for one in sorted(stretches, key=lambda stretch: _place(stretch.first)):
        if _place(one.first) <= (reached_alone if one.is_known else reached):
            return True
        reached = max(reached, _place(one.last))
        if not one.is_known:
            reached_alone = max(reached_alone, _place(one.last))
    return False


def _place(id: str) -> tuple[int, bytes]:
    """Where an id stands in the order of counters."""
    written = id.encode()
    return len(written), written
