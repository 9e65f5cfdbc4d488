"""Ids for events that come without one: a hash of what the event says.

Equal events get equal hashes on every machine, whatever the order and the names of files, and whether they
were JSON or tables: 1 and 1.0 are the same, an absent attribute says nothing, a time says its RFC 3339
text. Repeated ones are numbered, ``<hash>``, ``<hash>-2``, ``<hash>-3``.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.events.table import TIME, EventTable
from penstock.events.times import format_time


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
    rows = np.flatnonzero(np.asarray(ids.is_null()))
    if not len(rows):
        return table
    numbered = _numbered(hashes(table.take(rows)), {} if seen is None else seen)
    return table.replaced("id", pc.replace_with_mask(ids, ids.is_null(), pa.array(numbered, pa.string())))


def _numbered(names: list[str], seen: MutableMapping[str, int]) -> list[str]:
    numbered = []
    for name in names:
        count = seen[name] = seen.get(name, 0) + 1
        numbered.append(name if count == 1 else f"{name}-{count}")
    return numbered


def hashes(table: EventTable) -> list[str]:
    """The hash of each event's content, as 16 hexadecimal digits.

    >>> from penstock.events.records import from_dicts
    >>> one, two = from_dicts([{"type": "A", "time": 5}]), from_dicts([{"type": "A", "lo": 5, "hi": 5}])
    >>> hashes(one) == hashes(two)
    True
    """
    return [blake2b(text, digest_size=8).hexdigest() for text in content(table).to_pylist()]


def content(table: EventTable) -> pa.Array:
    """What each event says, as bytes that are equal for equal events and only for them; ids do not count.

    >>> from penstock.events.records import from_dicts
    >>> content(from_dicts([{"type": "A", "time": 5, "data": {"v": 1.0}}])).to_pylist()
    [b'type=t1:A;source=t0:;lo=n5;hi=n5;1:v=n1']
    """
    names = ("type", "source", "seq", "lo", "hi", "parts", "arrival")
    fields = [_labelled(name, table.field(name)) for name in names]
    fields += [_labelled(name, _raised(table.field(name))) for name in ("uncertain", "retracted")]
    attributes = [
        _labelled(f"{len(name.encode())}:{name}", table.attribute(name)) for name in table.attributes.column_names
    ]
    joined = pc.binary_join_element_wise(*fields, *attributes, ";", null_handling="skip")
    return joined.cast(pa.binary())


def _raised(column: pa.Array) -> pa.Array:
    """A flag where it is true; where it is false it says nothing."""
    return pc.if_else(column, column, pa.scalar(None, pa.bool_()))


def _labelled(label: str, column: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(pa.scalar(label), _said(column), "=")


def _said(column: pa.Array) -> pa.Array:
    """Each value in one form: its kind, and the value; null where it is absent."""
    if pa.types.is_dictionary(column.type):
        return _text(column.dictionary).take(column.indices)
    if column.type == pa.string():
        return _text(column)
    if column.type == TIME:
        return _text(_distinct(column.cast(pa.int64()), format_time))
    if column.type == pa.float64():
        return _number(_distinct(column, _decimal))
    if column.type == pa.bool_():
        return pc.binary_join_element_wise("b", column.cast(pa.string()), "")
    return _number(column.cast(pa.string()))


def _text(column: pa.Array) -> pa.Array:
    length = pc.binary_length(column).cast(pa.string())
    return pc.binary_join_element_wise("t", length, ":", column, "")


def _number(column: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise("n", column, "")


def _distinct(column: pa.Array, write: Callable[..., str]) -> pa.Array:
    """The values written out, each distinct one once."""
    coded = column.dictionary_encode()
    return pa.array([write(value) for value in coded.dictionary.to_pylist()], pa.string()).take(coded.indices)


def _decimal(value: float) -> str:
    """A float as its digits; one that is whole as the integer that it equals."""
    return str(int(value)) if value.is_integer() else repr(value)
