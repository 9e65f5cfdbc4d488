"""Results of several detections that are shares of one, put together as one detection would give them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.detection.columns import MIXED
from penstock.detection.json_columns import json_column
from penstock.engine.memory import REASONS, Ints
from penstock.engine.sorting import Ordering, rows_in_order

_WORDS = 3
"""An id has so many words of eight characters."""
_LEAF = ("hi", "lo", "source", "seq", "id")
"""What the order of events depends on."""


def merged(tables: Sequence[pa.Table], defined: Collection[str]) -> pa.Table:
    """The rows of all tables in the order of results; ``defined`` are the types of composites that were detected.

    The tables are those of `penstock.Composites` or of its incomplete runs, with the same columns.

    >>> from penstock import detect
    >>> one, two = (detect([{"type": type, "id": "1", "time": 5}], "[*]").table for type in "BA")
    >>> [row["parts"][0]["type"] for row in merged([one, two], ["composite"]).to_pylist()]
    ['B', 'A']
    """
    names = tables[0].column_names
    columns = [
        _joined([table.schema.field(name) for table in tables], [table[name] for table in tables]) for name in names
    ]
    whole = pa.table([column for _, column in columns], schema=pa.schema([field for field, _ in columns]))
    return whole.take(pa.array(_order(whole, defined))).combine_chunks() if len(whole) > 1 else whole.combine_chunks()


def _joined(fields: Sequence[pa.Field], columns: Sequence[pa.ChunkedArray]) -> tuple[pa.Field, pa.ChunkedArray]:
    """One column of several, with the type that fits the values of all."""
    there = [(field, column) for field, column in zip(fields, columns, strict=True) if column.null_count < len(column)]
    types = {field.type for field, _ in there}
    if not there:
        field = fields[0]
    elif len(types) == 1 and len({field.metadata == MIXED for field, _ in there}) == 1:
        field = there[0][0]
    elif types == {pa.int64(), pa.float64()}:
        field = pa.field(fields[0].name, pa.float64())
    else:
        field = pa.field(fields[0].name, pa.string(), metadata=MIXED)
    chunks = [_cast(own, column, field) for own, column in zip(fields, columns, strict=True)]
    return field, pa.chunked_array([chunk for column in chunks for chunk in column.chunks], field.type)


def _cast(own: pa.Field, column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), field.type)])
    if field.metadata == MIXED and own.metadata != MIXED:
        texts = json_column(column.combine_chunks())
        return pa.chunked_array([texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts])
    return column if column.type == field.type else column.cast(field.type, safe=False)


def _order(table: pa.Table, defined: Collection[str]) -> Ints:
    keys = [np.asarray(table[name].cast(pa.int64())) for name in ("hi", "lo")]
    keys.append(np.asarray(pc.rank(table["type"], tiebreaker="dense")).astype(np.int64))
    last: list[np.typing.NDArray[np.uint64]] = _id_words(table["id"])
    if "reason" in table.column_names and "at" in table.column_names:
        keys = [np.asarray(table["at"].cast(pa.int64())), *keys]
        numbers = {name: number for number, name in REASONS.items()}
        last.append(np.array([numbers[reason] for reason in table["reason"].to_pylist()], np.uint64))
    ordering = Ordering(keys[0])
    for key in keys[1:]:
        ordering.refine(key)
    offsets, leaves = _leaves(table["parts"], np.sort(ordering.tied), defined)
    return rows_in_order(keys, offsets, leaves, last)


def _id_words(ids: pa.ChunkedArray) -> list[np.typing.NDArray[np.uint64]]:
    whole = ids.combine_chunks()
    text = np.frombuffer(whole.buffers()[2] or b"", np.uint8)[: len(whole) * _WORDS * 8]
    words = np.ascontiguousarray(text).view(np.uint64).reshape(-1, _WORDS)
    return [np.ascontiguousarray(words[:, number]) for number in range(_WORDS)]


def _leaves(parts: pa.ChunkedArray, rows: Ints, defined: Collection[str]) -> tuple[Ints, Ints]:
    """For some rows the events that they are made of, by their ranks in the order of the input; for others nothing."""
    counts = np.zeros(len(parts), np.int64)
    some = parts.take(pa.array(rows)).combine_chunks()
    counts[rows] = np.asarray(some.value_lengths())
    leaves = pa.table(dict(zip((field.name for field in some.type.value_type), some.flatten().flatten(), strict=True)))
    named = {name: leaves[name] for name in _LEAF}
    ranks = _ranks(pa.table(_as_given(named, leaves["path"], defined)))
    return np.concatenate([[0], np.cumsum(counts)]), ranks


def _as_given(
    leaves: dict[str, pa.ChunkedArray], paths: pa.ChunkedArray, defined: Collection[str]
) -> dict[str, pa.ChunkedArray]:
    """The events of the input that leaves are, or are inside of: composites that came as such are places of it."""
    if paths.null_count == len(paths):
        return leaves
    rows = pa.table(leaves).to_pylist()
    for row, path in zip(rows, paths.to_pylist(), strict=True):
        given = next((one for one in path or () if one["type"] not in defined), None)
        if given is not None:
            row.update({name: given.get(name) for name in _LEAF})
    schema = pa.schema([(name, column.type) for name, column in leaves.items()])
    table = pa.Table.from_pylist(rows, schema)
    return {name: table[name] for name in _LEAF}


def _ranks(leaves: pa.Table) -> Ints:
    """The rank of each event in the order of the input, equal for equal ones."""
    order = np.asarray(pc.sort_indices(leaves, sort_keys=[(name, "ascending", "at_start") for name in _LEAF]))
    ranks = np.zeros(len(order), np.int64)
    changes = np.zeros(len(order), bool)
    for column in leaves.columns:
        codes = np.asarray(column.combine_chunks().dictionary_encode(null_encoding="encode").indices)[order]
        changes[1:] |= codes[1:] != codes[:-1]
    ranks[order] = np.cumsum(changes)
    return ranks
