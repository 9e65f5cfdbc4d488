"""Columns of values as columns of JSON text: what `penstock.detection.values` says, for whole columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.detection.values import json_text, json_value
from penstock.engine.texts import Values, time_texts
from penstock.events.table import TIME

_ESCAPED = r'["\\\x00-\x1f]'


def json_column(column: pa.Array) -> pa.Array:
    """Each value as JSON text; null where there is none, or no number. Where values repeat, it is dictionary-coded.

    >>> json_column(pa.array([2.0, 0.5, None])).to_pylist(), json_column(pa.array(["R1"])).to_pylist()
    (['2', '0.5', None], ['"R1"'])
    """
    if pa.types.is_dictionary(column.type):
        return _mapped(column, json_column)
    if column.type == pa.string():
        return _mapped(column.dictionary_encode(), _escaped)
    if column.type == TIME:
        return _concatenated('"', time_texts(column), '"')
    if column.type == pa.float64():
        there = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        return _mapped(there.dictionary_encode(), _numbers)
    return _integers(column) if column.type == pa.int64() else column.cast(pa.string())


def json_values(values: Values) -> pa.Array:
    """The same for values of several kinds."""
    columns = [_plain(json_column(values.of(kind))) for kind in values.there]
    return pc.coalesce(*columns) if columns else pa.nulls(len(values), pa.string())


def data_column(texts: Mapping[str, pa.Array]) -> pa.Array:
    """Objects of JSON from the texts of their members, which are left out where they are null; null if none is there.

    >>> data_column({"a": pa.array(["1", None, None]), "b": pa.array(["2", "3", None])}).to_pylist()
    ['{"a": 1, "b": 2}', '{"b": 3}', None]
    """
    there = {name: column for name, column in texts.items() if column.null_count < len(column)}
    if not there:
        return pa.nulls(len(next(iter(texts.values()))), pa.string())
    if len(there) == 1:
        [(name, column)] = there.items()
        return _plain(_mapped(column, lambda text: _concatenated(f"{{{json_text(name)}: ", text, "}")))
    members = [_plain(_member(name, column)) for name, column in there.items()]
    # Arrow leaves out rows where there is nothing but nulls to join, so that each row has its bracket at least.
    inside = pc.binary_join_element_wise(*members, "}", "", null_handling="replace", null_replacement="")
    if any(column.null_count for column in there.values()):
        inside = pc.if_else(pc.equal(inside, "}"), pa.scalar(None, pa.string()), inside)
    return pc.binary_replace_slice(inside, 0, 2, "{")


def _member(name: str, column: pa.Array) -> pa.Array:
    return _mapped(column, lambda text: _concatenated(f", {json_text(name)}: ", text))


def _mapped(column: pa.Array, write: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """What is written of each value; of a dictionary's, once."""
    if not pa.types.is_dictionary(column.type):
        return write(column)
    return pa.DictionaryArray.from_arrays(column.indices, _plain(write(column.dictionary)))


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary.take(column.indices) if pa.types.is_dictionary(column.type) else column


def _concatenated(*pieces: Any) -> pa.Array:
    return pc.binary_join_element_wise(*pieces, "")


def _integers(column: pa.Array) -> pa.Array:
    """Numbers that are close together are written once each."""
    low, high = pc.min_max(column).values()
    if column.null_count == len(column) or high.as_py() - low.as_py() > len(column) // 2:
        return column.cast(pa.string())
    distances = np.arange(high.as_py() - low.as_py() + 1, dtype=np.int64)
    written = pa.array(distances + low.as_py()).cast(pa.string())
    return pa.DictionaryArray.from_arrays(pc.subtract(column, low).cast(pa.int32()), written)


def _numbers(distinct: pa.Array) -> pa.Array:
    return pa.array([json_text(json_value(one)) for one in distinct.to_pylist()], pa.string())


def _escaped(texts: pa.Array) -> pa.Array:
    special = pc.match_substring_regex(texts, _ESCAPED)
    plain = _concatenated('"', texts, '"')
    if not pc.any(special).as_py():
        return plain
    written = pa.array([json_text(text) for text in texts.filter(special).to_pylist()], pa.string())
    return pc.replace_with_mask(plain, special, written)
