"""Columns of values for the kernel: a kind and 64 bits each, texts by their number in a pool."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra import conditions as c
from penstock.engine import vm
from penstock.engine.memory import Ints
from penstock.engine.pool import Pool
from penstock.events.times import datetime_of
from penstock.filters.arrow import Events, compile_filter
from penstock.filters.clock import clock


def read_column(condition: c.Condition, table: Events, zone: str, pool: Pool) -> tuple[Ints, Ints]:
    """Kinds and bits of what a condition over one event says of each row."""
    match condition:
        case c.Attribute(name=name) if name in c.FIELDS:
            return encode(table.field(name), pool)
        case c.Attribute(name=name):
            if name not in table.attributes.column_names:
                return np.zeros(len(table), np.int64), np.zeros(len(table), np.int64)
            return encode(table.attribute(name), pool)
        case c.ClockFunction(function=function):
            return encode(clock(function, table.field("hi"), zone), pool)
    return encode(compile_filter(condition, zone).mask(table), pool)


def has_texts(column: pa.Array) -> bool:
    """Whether what a column has are texts, in a dictionary or not."""
    return bool(pa.types.is_string(column.type) or pa.types.is_dictionary(column.type))


def encode(column: pa.Array, pool: Pool) -> tuple[Ints, Ints]:
    """Kinds and bits of a column."""
    kind = column.type
    if has_texts(column):
        return pool.column(column)
    there = np.asarray(column.is_valid())
    if pa.types.is_null(kind):
        return np.zeros(len(column), np.int64), np.zeros(len(column), np.int64)
    if pa.types.is_boolean(kind):
        bits = np.asarray(column.fill_null(False).cast(pa.int64()))
        return np.where(there, vm.BOOLEAN, vm.NULL), bits
    if pa.types.is_timestamp(kind):
        return np.where(there, vm.TIME, vm.NULL), np.asarray(column.cast(pa.int64()).fill_null(0))
    if pa.types.is_integer(kind):
        return np.where(there, vm.INTEGER, vm.NULL), np.asarray(column.fill_null(0))
    values = np.asarray(pc.fill_null(column, np.nan))
    there = ~np.isnan(values)
    return np.where(there, vm.FLOAT, vm.NULL), np.where(there, values, 0.0).view(np.int64)


def encode_key(column: pa.Array, pool: Pool) -> tuple[Ints | int, Ints]:
    """Kinds and bits of a column whose equal values have equal bits: whole floats are integers.

    A column in which all is of one kind has one for all.
    """
    if column.null_count == 0 and pa.types.is_integer(column.type):
        return vm.INTEGER, np.asarray(column)
    if column.null_count == 0 and has_texts(column):
        return vm.TEXT, pool.numbers(column, np.arange(len(column)))
    kinds, bits = encode(column, pool)
    if column.null_count == 0 and not pa.types.is_floating(column.type) and len(kinds):
        return int(kinds[0]), bits
    if not pa.types.is_floating(column.type):
        return kinds, bits
    values = bits.view(np.float64)
    whole = (kinds == vm.FLOAT) & (np.floor(values) == values) & (np.abs(values) < 2.0**62)
    integers = np.where(whole, values, 0).astype(np.int64)
    return np.where(whole, vm.INTEGER, kinds), np.where(whole, integers, bits)


def constant(value: c.Constant, pool: Pool) -> tuple[int, int]:
    """Kind and bits of a constant."""
    if isinstance(value, bool):
        return vm.BOOLEAN, int(value)
    if isinstance(value, str):
        return vm.TEXT, pool.number(value)
    if isinstance(value, int):
        return vm.INTEGER, value
    return vm.FLOAT, int(np.float64(value).view(np.int64))


def decode(kind: int, bits: int, pool: Pool) -> Any:
    """A value as a Python object; ``None`` for null."""
    if kind == vm.NULL:
        return None
    if kind == vm.BOOLEAN:
        return bool(bits)
    if kind == vm.TEXT:
        return pool.text(bits)
    if kind == vm.TIME:
        return datetime_of(bits)
    return float(np.int64(bits).view(np.float64)) if kind == vm.FLOAT else int(bits)
