"""Ids for events that come without one: a hash of what the event says.

Equal events get equal hashes on every machine, whatever the order and the names of files, and whether they
were JSON or tables: 1 and 1.0 are the same, an absent attribute says nothing, a time says its RFC 3339
text. Repeated ones are numbered, ``<hash>``, ``<hash>-2``, ``<hash>-3``.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.table import TIME, EventTable
from penstock.events.texts import Words, hashed
from penstock.events.times import format_time

_ROWS = 1 << 16
"""Rows whose content is written out together, because it takes much more room than they do."""
_PAIRS = np.array([f"{byte:02x}" for byte in range(256)], "S2")


def with_ids(table: EventTable, seen: MutableMapping[str, int] | None = None) -> EventTable:
    """The same events, each with an id; those that have one keep it.

    ``seen`` counts how often each hash was met before, for events that come in several batches.

    >>> from penstock.events.records import from_dicts
    >>> table = with_ids(from_dicts([{"type": "A", "time": 5}, {"type": "A", "time": 5}]))
    >>> first, second = table.field("id").to_pylist()
    >>> len(first), second == first + "-2"
    (16, True)
    """
    ids = table.field("id")
    if not ids.null_count:
        return table
    absent = ids.is_null()
    numbers = _numbers(table if ids.null_count == len(ids) else table.take(np.flatnonzero(np.asarray(absent))))
    made = _digits(numbers) if seen is None and not _has_equal(numbers) else numbered(_digits(numbers), seen)
    return table.replaced("id", made if len(made) == len(ids) else pc.replace_with_mask(ids, absent, made))


def _has_equal(numbers: Words) -> bool:
    ordered = np.sort(numbers)
    return bool((ordered[1:] == ordered[:-1]).any())


def numbered(names: pa.Array, seen: MutableMapping[str, int] | None = None) -> pa.Array:
    """Names of which equal ones are told apart by a number; ``seen`` is as in `with_ids`.

    >>> numbered(pa.array(["x", "y", "x"])).to_pylist()
    ['x', 'y', 'x-2']
    """
    seen = {} if seen is None else seen
    numbered = []
    for name in names.to_pylist():
        count = seen[name] = seen.get(name, 0) + 1
        numbered.append(name if count == 1 else f"{name}-{count}")
    return pa.array(numbered, pa.string())


def hashes(table: EventTable) -> list[str]:
    """The hash of each event's content, as 16 hexadecimal digits.

    >>> from penstock.events.records import from_dicts
    >>> one, two = from_dicts([{"type": "A", "time": 5}]), from_dicts([{"type": "A", "lo": 5, "hi": 5}])
    >>> hashes(one) == hashes(two)
    True
    """
    found: list[str] = unnumbered(table).to_pylist()
    return found


def unnumbered(table: EventTable) -> pa.Array:
    """The ids that events would get if no two said the same: `numbered` of those of all events makes ids of them.

    >>> from penstock.events.records import from_dicts
    >>> table = from_dicts([{"type": "A", "time": 5}, {"type": "A", "time": 5}])
    >>> with_ids(table).field("id") == numbered(unnumbered(table))
    True
    """
    return _digits(_numbers(table))


def _numbers(table: EventTable) -> Words:
    numbers = np.empty(len(table), np.uint64)
    for start in range(0, len(table), _ROWS):
        numbers[start : start + _ROWS] = hashed(content(table.slice(start, _ROWS)))
    return numbers


def _digits(numbers: Words) -> pa.Array:
    """Each number as 16 hexadecimal digits."""
    letters = _PAIRS[numbers.astype(">u8").view(np.uint8)]
    offsets = np.arange(len(numbers) + 1, dtype=np.int32) * np.int32(16)
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), pa.py_buffer(letters))


def content(table: EventTable) -> pa.Array:
    """What each event says, as bytes that are equal for equal events and only for them; ids do not count.

    >>> from penstock.events.records import from_dicts
    >>> content(from_dicts([{"type": "A", "time": 5, "data": {"v": 1.0}}])).to_pylist()
    [b'type=t1:A;source=t0:;lo=n5;hi=n5;1:v=n1']
    """
    names = ("type", "source", "seq", "lo", "hi", "parts", "arrival")
    fields = {name: table.field(name) for name in names}
    fields |= {name: _raised(table.field(name)) for name in ("uncertain", "retracted")}
    fields |= {f"{len(name.encode())}:{name}": table.attribute(name) for name in table.attributes.column_names}
    said = [_said(label, column) for label, column in fields.items() if column.null_count < len(column)]
    joined = pc.binary_join_element_wise(*said, ";", null_handling="skip") if said else pa.array([], pa.string())
    return joined.cast(pa.binary())


def _raised(column: pa.Array) -> pa.Array:
    """A flag where it is true; where it is false it says nothing."""
    return pc.if_else(column, column, pa.scalar(None, pa.bool_()))


def _said(label: str, column: pa.Array) -> pa.Array:
    """Each value in one form: what it is called, its kind, and the value; null where it is absent."""
    if pa.types.is_dictionary(column.type):
        return _text(label, column.dictionary).take(column.indices)
    if column.type == pa.string():
        return _text(label, column)
    if column.type == TIME:
        return _text(label, _distinct(column.cast(pa.int64()), format_time))
    if column.type == pa.float64():
        return _after(f"{label}=n", _distinct(column, _decimal))
    if column.type == pa.bool_():
        return _after(f"{label}=b", column.cast(pa.string()))
    return _after(f"{label}=n", column.cast(pa.string()))


def _text(label: str, column: pa.Array) -> pa.Array:
    length = pc.binary_length(column).cast(pa.string())
    return pc.binary_join_element_wise(f"{label}=t", length, ":", column, "")


def _after(beginning: str, column: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(beginning, column, "")


def _distinct(column: pa.Array, write: Callable[..., str]) -> pa.Array:
    """The values written out, each distinct one once."""
    coded = column.dictionary_encode()
    return pa.array([write(value) for value in coded.dictionary.to_pylist()], pa.string()).take(coded.indices)


def _decimal(value: float) -> str:
    """A float as its digits; one that is whole as the integer that it equals."""
    return str(int(value)) if value.is_integer() else repr(value)
