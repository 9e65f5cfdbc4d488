"""The one JSON form of a pattern: every node is an object whose ``is`` names its kind."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints
from typing import Literal as OneOf

from penstock.algebra import conditions, expressions, pattern
from penstock.algebra.node import Node
from penstock.algebra.pattern import Definition, Let, Pattern
from penstock.errors import ParseError, nearest

VERSION = 1


def to_json(whole: Pattern) -> dict[str, Any]:
    """The pattern as what ``json.dumps`` takes.

    >>> from penstock import parse
    >>> to_json(parse("[A]"))["items"][0]["body"]
    {'is': 'atom', 'label': [{'is': 'describable_set', 'type': 'A', 'filter': None}], 'domain': [], 'negated': False}
    """
    return {"penstock": VERSION, "items": [_write(item) for item in whole.items]}


def items_from_json(form: Any) -> tuple[Let | Definition, ...]:
    """The items of a pattern's JSON form; everything in it is checked."""
    if not isinstance(form, Mapping) or form.get("penstock") != VERSION:
        raise ParseError(
            'this is not a pattern\'s JSON form: `"penstock": 1` is missing',
            hint="penstock show PATTERN --as json writes one",
        )
    items: tuple[Let | Definition, ...] = _read(form.get("items"), tuple[Let | Definition, ...], "items")
    return items


def _write(value: Any) -> Any:
    if isinstance(value, Node):
        written = {item.name: _write(getattr(value, item.name)) for item in fields(value) if item.name != "span"}
        return {"is": _kind(type(value)), **written}
    return [_write(member) for member in value] if isinstance(value, tuple) else value


def _kind(node: type[Node]) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.__name__).lower()


@cache
def _kinds() -> dict[str, type[Node]]:
    modules = (conditions, expressions, pattern)
    classes = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    concrete = [node for node in classes if issubclass(node, Node) and len(fields(node)) > 1]
    return {_kind(node): node for node in concrete}


def _hints(node: type[Node]) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(node).items() if name != "span"}


def _read(value: Any, hint: Any, path: str) -> Any:
    """``value`` as ``hint`` wants it; ``path`` says where it stands."""
    origin = get_origin(hint)
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong(value, "a list", path)
        member = get_args(hint)[0]
        return tuple(_read(one, member, f"{path}[{index}]") for index, one in enumerate(value))
    if origin in (Union, types.UnionType):
        return _read_union(value, get_args(hint), path)
    if origin is OneOf:
        if value not in get_args(hint):
            raise _wrong(value, "one of " + " ".join(get_args(hint)), path)
        return value
    if issubclass(hint, Node):
        return _read_node(value, hint, path)
    if type(value) is not hint:
        raise _wrong(value, f"a {hint.__name__}", path)
    return value


def _read_union(value: Any, choices: tuple[Any, ...], path: str) -> Any:
    plain = [choice for choice in choices if not (isinstance(choice, type) and issubclass(choice, Node))]
    if type(value) in plain:
        return value
    for choice in choices:
        if choice not in plain and isinstance(value, Mapping):
            node = _kinds().get(str(value.get("is")))
            if node is not None and issubclass(node, choice):
                return _read_node(value, choice, path)
    expected = [_kind(one) if one not in plain else getattr(one, "__name__", str(one)) for one in choices]
    raise _wrong(value, " or ".join(expected), path)


def _read_node(value: Any, wanted: type[Node], path: str) -> Node:
    if not isinstance(value, Mapping):
        raise _wrong(value, f"an object that is a {_kind(wanted)}", path)
    kind = str(value.get("is"))
    node = _kinds().get(kind)
    if node is None or not issubclass(node, wanted):
        choices = [name for name, one in _kinds().items() if issubclass(one, wanted)]
        close = nearest(kind, choices)
        hint = f"did you mean `{close}`?" if close else f"expected one of {', '.join(choices)}"
        raise ParseError(f"{path}: `{kind}` is not a {_kind(wanted)}", hint=hint)
    hints = _hints(node)
    if set(value) != {"is", *hints}:
        odd = sorted(set(value) ^ {"is", *hints})
        raise ParseError(f"{path}: `{kind}` has the members {', '.join(hints)}; wrong: {', '.join(odd)}")
    members = {name: _read(value[name], hint, f"{path}.{name}") for name, hint in hints.items()}
    return node(**members)


def _wrong(value: Any, expected: str, path: str) -> ParseError:
    shown = repr(value)
    return ParseError(f"{path}: {shown[:60]} is not {expected}")
