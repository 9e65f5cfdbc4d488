"""State as bytes: numbers and text as JSON, arrays as they are, tables as Arrow; with a version and a digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.errors import StateError

VERSION = 3
_DIGEST = 64
_LENGTH = 8


def pack(what: str, values: Mapping[str, Any]) -> bytes:
    """The bytes of named values: what JSON can say, arrays of numbers, and Arrow tables; ``what`` says whose they are.

    >>> unpack("example", pack("example", {"a": 1, "b": np.array([1, 2])}))
    {'a': 1, 'b': array([1, 2])}
    """
    plain: dict[str, Any] = {}
    sections: list[dict[str, Any]] = []
    bodies: list[bytes] = []
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            kind = value.dtype.newbyteorder("<")
            bodies.append(np.ascontiguousarray(value, kind).tobytes())
            shape = {"shape": list(value.shape)} if value.ndim > 1 else {}
            sections.append({"name": name, "array": kind.str, "length": len(bodies[-1])} | shape)
        elif isinstance(value, pa.Table):
            bodies.append(_written(value))
            sections.append({"name": name, "length": len(bodies[-1])})
        else:
            plain[name] = value
    header = json.dumps({"version": VERSION, "plain": plain, "sections": sections}).encode()
    rest = b"".join([len(header).to_bytes(_LENGTH, "little"), header, *bodies])
    return _magic(what) + sha256(rest).hexdigest().encode() + rest


def _magic(what: str) -> bytes:
    return f"penstock {what} ".encode()


def unpack(what: str, data: bytes) -> dict[str, Any]:
    """The values that were packed.

    >>> unpack("detector", b"something else")
    Traceback (most recent call last):
    penstock.errors.StateError: this is no saved state of a penstock detector
    hint: give the bytes as they were saved
    """
    magic = _magic(what)
    if not data.startswith(magic):
        raise StateError(f"this is no saved state of a penstock {what}", hint="give the bytes as they were saved")
    start = len(magic) + _DIGEST
    rest = data[start:]
    if sha256(rest).hexdigest().encode() != data[len(magic) : start]:
        raise StateError("this saved state is damaged", hint="it is cut short or was changed; take an earlier one")
    end = _LENGTH + int.from_bytes(rest[:_LENGTH], "little")
    header = json.loads(rest[_LENGTH:end])
    if header["version"] > VERSION:
        raise StateError(
            f"this state was saved by a later version (its format is {header['version']}, known is {VERSION})",
            hint="update penstock",
        )
    values: dict[str, Any] = dict(header["plain"])
    for section in header["sections"]:
        body, end = rest[end : end + section["length"]], end + section["length"]
        values[section["name"]] = _array(body, section) if "array" in section else _read(body)
    return values


def _array(body: bytes, section: Mapping[str, Any]) -> Any:
    dtype = np.dtype(section["array"])
    flat = np.frombuffer(body, dtype).astype(dtype.newbyteorder("="))
    return flat.reshape(section["shape"]) if "shape" in section else flat


def _written(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _read(body: bytes) -> pa.Table:
    with pa.ipc.open_stream(body) as reader:
        return reader.read_all()
