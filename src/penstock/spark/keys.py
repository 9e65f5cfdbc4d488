"""The bucket of each event: hashes of values that are equal where the engine calls the values equal.

1 and 1.0 are equal, and the same on every machine; what is null, or no number, is in no bucket.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.algebra.conditions import FIELDS
from penstock.engine import vm
from penstock.engine.sharing import HIGH, buckets_of_numbers
from penstock.engine.texts import Values
from penstock.events.table import EventTable
from penstock.events.texts import Words, hashed, mixed

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
NOWHERE = -1
"""The bucket of an event that belongs to no instance."""

_SEEDS = {vm.BOOLEAN: 1, vm.INTEGER: 2, vm.FLOAT: 3, vm.TEXT: 4, vm.TIME: 5}
_LARGEST = 2.0**62
"""Floats that are whole and smaller than this are integers to the engine."""


def buckets_of(table: EventTable, attributes: Sequence[str], buckets: int, rows: Ints | None = None) -> Ints:
    """The bucket of each event, or of those in some rows, by the values of some attributes or fields.

    >>> from penstock.events.table import make_table
    >>> fields = {"type": ["A"] * 3, "lo": [1, 2, 3], "hi": [1, 2, 3]}
    >>> whole = buckets_of(make_table(fields, {"k": pa.array([7, 8, None])}), ["k"], 1000)
    >>> whole.tolist() == buckets_of(make_table(fields, {"k": pa.array([7.0, 8.0, None])}), ["k"], 1000).tolist()
    True
    >>> whole[2] == NOWHERE
    np.True_
    """
    columns = [_column(table, name) for name in attributes]
    if rows is not None:
        columns = [column.take(pa.array(rows)) for column in columns]
    if len(columns) == 1 and columns[0].type == pa.int64() and not columns[0].null_count:
        return buckets_of_numbers(np.asarray(columns[0]), _SEEDS[vm.INTEGER], buckets)
    return _bucket([_hashed_column(column) for column in columns], buckets)


def buckets_of_values(values: Sequence[Values], buckets: int) -> Ints:
    """The same for values that the engine gave, one for each attribute."""
    return _bucket([_hashed_values(one) for one in values], buckets)


def _bucket(columns: Sequence[tuple[Words, Bools | None]], buckets: int) -> Ints:
    whole = columns[0][0]
    for numbers, _ in columns[1:]:
        whole = mixed(whole, numbers)
    found = ((whole >> HIGH) % np.uint64(buckets)).astype(np.int64)
    for _, absent in columns:
        if absent is not None:
            found[absent] = NOWHERE
    return found


def _column(table: EventTable, name: str) -> pa.Array:
    if name in FIELDS:
        return table.field(name)
    if name in table.attributes.column_names:
        return table.attribute(name)
    return pa.nulls(len(table))


def _mixed(kind: int, bits: Words) -> Words:
    return mixed(np.full(len(bits), _SEEDS[kind], np.uint64), bits)


def _hashed_column(column: pa.Array) -> tuple[Words, Bools | None]:
    """A number for each value, and which values are absent, if any is."""
    absent = np.asarray(column.is_null()) if column.null_count else None
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column), np.uint64), np.ones(len(column), bool)
    if pa.types.is_dictionary(kind):
        numbers, _ = _hashed_column(column.dictionary.fill_null(""))
        codes = np.asarray(column.indices.fill_null(0))
        return (numbers[codes] if len(numbers) else np.zeros(len(codes), np.uint64)), absent
    if pa.types.is_string(kind):
        return _mixed(vm.TEXT, hashed(column.fill_null("") if column.null_count else column)), absent
    if pa.types.is_floating(kind):
        return _hashed_floats(np.asarray(column.fill_null(np.nan)))
    plain = column.cast(pa.int64())
    bits = np.asarray(plain.fill_null(0) if column.null_count else plain).view(np.uint64)
    if pa.types.is_boolean(kind):
        return _mixed(vm.BOOLEAN, bits), absent
    return _mixed(vm.TIME if pa.types.is_timestamp(kind) else vm.INTEGER, bits), absent


def _hashed_floats(values: npt.NDArray[np.float64]) -> tuple[Words, Bools | None]:
    whole = (np.floor(values) == values) & (np.abs(values) < _LARGEST)
    integers = np.where(whole, values, 0).astype(np.int64).view(np.uint64)
    others = np.where(whole, 0, values).view(np.uint64)
    absent = np.isnan(values)
    numbers = np.where(whole, _mixed(vm.INTEGER, integers), _mixed(vm.FLOAT, others))
    return numbers, absent if absent.any() else None


def _hashed_values(values: Values) -> tuple[Words, Bools | None]:
    numbers, absent = np.zeros(len(values), np.uint64), values.kinds == vm.NULL
    for kind in values.there:
        rows = np.flatnonzero(values.kinds == kind)
        bits = values.bits[rows]
        if kind == vm.TEXT:
            texts, places = np.unique(bits, return_inverse=True)
            numbers[rows] = _mixed(vm.TEXT, hashed(values.texts.take(pa.array(texts))))[places.reshape(-1)]
        elif kind == vm.FLOAT:
            numbers[rows], _ = _hashed_floats(bits.view(np.float64))
        else:
            numbers[rows] = _mixed(kind, bits.view(np.uint64))
    return numbers, absent if absent.any() else None
