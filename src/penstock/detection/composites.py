"""What detection gives: composites as an Arrow table, and as events for those who want objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pyarrow as pa

from penstock.detection.columns import attribute_name, column_values
from penstock.detection.display import html_table, lines_of
from penstock.detection.gathering import Gathering
from penstock.detection.kinds import Kinds
from penstock.detection.parts import PartWriter, nested
from penstock.detection.selection import Selection
from penstock.detection.values import present
from penstock.errors import PenstockError
from penstock.events.event import Event

_FIRST = ("type", "lo", "hi")
_LAST = ("id", "parts")
_SHOWN = 20


@dataclass(frozen=True)
class Pending:
    """Composites of which no table has been made yet; ``kinds`` are those of the columns."""

    selection: Selection
    kinds: Kinds
    writer: PartWriter

    def __len__(self) -> int:
        return len(self.selection)

    def table(self) -> pa.Table:
        """The table."""
        return composites_table(self.selection, self.kinds, self.writer)


class Composites:
    """The composites that were detected, in order: by the end of their stamp, its beginning, type, and parts.

    Attributes:
        table: Columns ``type``, ``lo``, ``hi``, one for each parameter and selected value, ``id``, ``parts``.
        repeated: How many events were left out because one with the same source and id was there before; only events
            of types that the pattern can meet are looked at.
        dropped: How many runs were dropped at a limit.
        incomplete: The runs that came to nothing, if they were asked for.
        late: From a `penstock.Detector`: the events that came too late, why, and by how many microseconds.
        published: From a detector that publishes: the same composites as records for other detectors.

    Anything that takes Arrow takes it as it is. Of what a `penstock.Detector` gives, tables are made when they are
    first asked for: most batches give nothing, and nothing is made of them.

    >>> from penstock import detect
    >>> events = [{"type": "A", "id": "1", "time": 5}, {"type": "B", "id": "2", "time": 9}]
    >>> found = detect(events, "[A] ; [B]")
    >>> found.table.column_names
    ['type', 'lo', 'hi', 'id', 'parts']
    >>> [[part.type for part in composite.parts] for composite in found]
    [['A', 'B']]
    """

    thing = "composite"
    """What a row is."""

    def __init__(
        self,
        table: pa.Table | Pending,
        repeated: int = 0,
        *,
        dropped: int = 0,
        incomplete: Composites | None = None,
        late: pa.Table | Callable[[], pa.Table] | None = None,
        published: Sequence[dict[str, Any]] = (),
    ) -> None:
        self._table = table
        self.repeated = repeated
        self.dropped = dropped
        self.incomplete = incomplete
        self._late = late
        self.published = published

    @property
    def table(self) -> pa.Table:
        """The composites, a row each."""
        if isinstance(self._table, Pending):
            self._table = self._table.table()
        return self._table

    @property
    def late(self) -> pa.Table | None:
        """The events that came too late."""
        if callable(self._late):
            self._late = self._late()
        return self._late

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Event]:
        return self._events(self.table)

    def head(self, count: int) -> list[Event]:
        """The first composites as events.

        >>> from penstock import detect
        >>> detect([{"type": "A", "id": "1", "time": 5}], "[A]").head(1)[0].source
        'penstock/composite'
        """
        return list(self._events(self.table.slice(0, count)))

    @staticmethod
    def _events(table: pa.Table) -> Iterator[Event]:
        middle = [field for field in table.schema if field.name not in (*_FIRST, *_LAST)]
        names = [attribute_name(field.name) for field in middle]
        own = [table["type"], table["lo"].cast(pa.int64()), table["hi"].cast(pa.int64()), table["id"]]
        values = [column_values(field, table[field.name]) for field in middle]
        fields = [column.to_pylist() for column in own]
        for row, (type, lo, hi, id) in enumerate(zip(*fields, strict=True)):
            attributes = present({name: column[row] for name, column in zip(names, values, strict=True)})
            parts = nested(table["parts"][row].as_py())
            yield Event(type, f"penstock/{type}", id, lo, hi, attributes=attributes, parts=parts)

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows of the table as dicts.

        >>> from penstock import detect
        >>> [row["type"] for row in detect([{"type": "A", "id": "1", "time": 5}], "[A]").to_pylist()]
        ['composite']
        """
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows

    def to_pandas(self) -> Any:
        """A pandas ``DataFrame``; pandas must be installed.

        >>> from penstock import detect
        >>> detect([{"type": "A", "id": "1", "time": 5}], "[A]").to_pandas().shape  # doctest: +SKIP
        (1, 5)
        """
        _required("pandas")
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """A polars ``DataFrame``; polars must be installed.

        >>> from penstock import detect
        >>> detect([{"type": "A", "id": "1", "time": 5}], "[A]").to_polars().shape  # doctest: +SKIP
        (1, 5)
        """
        return _required("polars").from_arrow(self.table)

    def __repr__(self) -> str:
        counts = Counter(self.table["type"].to_pylist())
        types = ", ".join(f"{type} {count}" for type, count in sorted(counts.items()))
        head = f"<{len(self)} {self.thing}{'' if len(self) == 1 else 's'}{': ' if types else ''}{types}>"
        shown = [f"  {line}" for line in lines_of(self.head(_SHOWN))]
        return "\n".join([head, *shown, *self._more()])

    def _repr_html_(self) -> str:
        return html_table(self.head(_SHOWN), "".join(self._more()))

    def _more(self) -> list[str]:
        left = len(self) - _SHOWN
        return [f"  … and {left} more"] if left > 0 else []


def _required(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise PenstockError(f"{package} is not installed", hint=f"pip install {package}") from None


def composites_table(selection: Selection, kinds: Kinds, writer: PartWriter) -> pa.Table:
    """The table of the composites that were selected; ``kinds`` are those of the columns.

    >>> from penstock import parse
    >>> from penstock.detection.kinds import kinds_of
    >>> from penstock.engine.engine import Engine
    >>> from penstock.events.table import concat
    >>> pattern = parse("Pair := [Open(door = $d)] ; [Close(door = $d)]")
    >>> kinds = kinds_of(pattern)
    >>> selection = Selection(Engine(pattern).feed(concat([]), until=0), kinds.attributes)
    >>> composites_table(selection, kinds, PartWriter(kinds, None)).column_names
    ['type', 'lo', 'hi', 'd', 'id', 'parts']
    """
    rows = Gathering(kinds, writer)
    rows.add(selection)
    return rows.table()
