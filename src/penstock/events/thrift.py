"""Thrift's compact protocol as far as headers in Parquet files need it: structs as dicts, by the numbers of fields."""

from __future__ import annotations

from typing import Any

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_WHOLE = (4, 5, 6)
_LISTS = (9, 10)
_LONG = 15
"""The length of a list that does not fit beside the kind of what is in it."""
Fields = dict[int, Any]


def read_struct(data: bytes, place: int = 0) -> tuple[Fields, int]:
    """The fields of the struct at a place, and the place behind it; beyond the bytes there is an `IndexError`.

    What is in lists is left out. There are many headers in a file, so this is one loop, in which most numbers take one
    byte or two.

    >>> read_struct(bytes([0x15, 0x02, 0x18, 0x01, 0x41, 0x00]))
    ({1: 1, 2: b'A'}, 6)
    """
    fields: Fields = {}
    number = 0
    while head := data[place]:
        place += 1
        step, kind = head >> 4, head & 15
        if step:
            number += step
        else:
            number, place = _whole(data, place)
        if kind in _WHOLE:
            byte = data[place]
            if byte < 128:
                fields[number], place = (byte >> 1) ^ -(byte & 1), place + 1
            else:
                fields[number], place = _whole(data, place)
        elif kind == _BINARY:
            length, place = _number(data, place)
            fields[number], place = data[place : place + length], place + length
        elif kind in (_TRUE, _FALSE):
            fields[number] = kind == _TRUE
        else:
            fields[number], place = _other(data, place, kind)
    return fields, place + 1


def _other(data: bytes, place: int, kind: int) -> tuple[Any, int]:
    """A value that few headers have many of."""
    if kind == _STRUCT:
        return read_struct(data, place)
    if kind in _LISTS:
        return None, _behind_list(data, place)
    if kind in (_BYTE, _DOUBLE):
        return None, place + (1 if kind == _BYTE else 8)
    raise IndexError(f"there is no kind {kind}")


def _behind_list(data: bytes, place: int) -> int:
    head = data[place]
    kind, length, place = head & 15, head >> 4, place + 1
    if length == _LONG:
        length, place = _number(data, place)
    for _ in range(length):
        if kind in _WHOLE or kind == _BINARY:
            size, place = _number(data, place)
            place += size if kind == _BINARY else 0
        else:
            place = place + 1 if kind in (_TRUE, _FALSE) else _other(data, place, kind)[1]
    return place


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number with seven bits in each byte, and the place behind it."""
    found = shift = 0
    while (byte := data[place]) & 128:
        found |= (byte & 127) << shift
        shift += 7
        place += 1
    return found | byte << shift, place + 1


def _whole(data: bytes, place: int) -> tuple[int, int]:
    """The same for one that may be negative."""
    number, place = _number(data, place)
    return (number >> 1) ^ -(number & 1), place
