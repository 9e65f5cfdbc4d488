"""Frozen dataclasses as JSON objects and back: what nodes tell each other is read with every member checked."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from penstock.errors import DataError, nearest

T = TypeVar("T")


def to_json(record: Any) -> Any:
    """A record as what ``json.dumps`` takes; members that have their default are left out.

    >>> from penstock.network.directory import Link
    >>> to_json(Link("office", "gateway", latency=500))
    {'one': 'office', 'other': 'gateway', 'latency': 500}
    """
    if is_dataclass(record) and not isinstance(record, type):
        written = ((one, getattr(record, one.name)) for one in fields(record))
        return {one.name: to_json(value) for one, value in written if not _is_default(one, value)}
    if isinstance(record, Mapping):
        return {str(name): to_json(value) for name, value in record.items()}
    return [to_json(member) for member in record] if isinstance(record, tuple) else record


def _is_default(one: Any, value: Any) -> bool:
    if one.default is not MISSING:
        return bool(value == one.default)
    return one.default_factory is not MISSING and bool(value == one.default_factory())


def from_json(kind: type[T], form: Any, path: str = "") -> T:
    """The record of a kind that a JSON form says; an error names the member that is wrong.

    >>> from penstock.network.directory import Link
    >>> from_json(Link, {"one": "office", "other": "gateway", "latency": "soon"})
    Traceback (most recent call last):
    penstock.errors.DataError: link.latency: 'soon' is not a whole number
    """
    where = path or kind.__name__.lower()
    if not isinstance(form, Mapping):
        raise DataError(f"{where}: {_shown(form)} is not an object")
    hints: dict[str, Any] = _hints(kind)  # type: ignore[arg-type]
    for name in form:
        if name not in hints:
            close = nearest(str(name), hints)
            raise DataError(f"{where}: there is no member {name!r}", hint=f"did you mean `{close}`?" if close else None)
    given = {name: _read(value, hints[name], f"{where}.{name}") for name, value in form.items()}
    for one in fields(kind):  # type: ignore[arg-type]
        if one.name not in given and one.default is MISSING and one.default_factory is MISSING:
            raise DataError(f"{where}: {one.name!r} is missing")
    return kind(**given)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(value: Any, hint: Any, path: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        choices = [one for one in get_args(hint) if one is not type(None)]
        if value is None and len(choices) < len(get_args(hint)):
            return None
        return _read(value, choices[0], path)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise DataError(f"{path}: {_shown(value)} is not a list")
        return tuple(_read(one, get_args(hint)[0], f"{path}[{index}]") for index, one in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise DataError(f"{path}: {_shown(value)} is not an object")
        return {str(name): _read(one, get_args(hint)[1], f"{path}.{name}") for name, one in value.items()}
    if is_dataclass(hint) and isinstance(hint, type):
        return from_json(hint, value, path)
    return _plain(value, hint, path)


def _plain(value: Any, hint: Any, path: str) -> Any:
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise DataError(f"{path}: {_shown(value)} is not {_WORDS[hint]}")
    return value


_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _shown(value: Any) -> str:
    return repr(value)[:60]
