"""Do the attributes that a pattern reads exist? Asked of tables with fixed columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.algebra.conditions import FIELDS, Aggregate, Attribute, LabelRead, Parameter
from penstock.algebra.expressions import Atom, DescribableSet, Labelled, Selected, Timing
from penstock.algebra.names import without_lets
from penstock.algebra.node import Node, walk
from penstock.algebra.pattern import Definition, Pattern
from penstock.errors import PatternError, nearest
from penstock.events.table import EventTable

_SHOWN = 10


def check_attributes(pattern: Pattern, table: EventTable) -> None:
    """Raise an error if a primitive event's attribute is read that a table with fixed columns does not have.

    >>> import pyarrow as pa
    >>> from penstock.events.table import make_table
    >>> from penstock.languages.core.parser import parse_syntax
    >>> table = make_table({"type": ["A"], "lo": [1], "hi": [1]}, {"room": pa.array(["R1"])}, fixed=True)
    >>> check_attributes(parse_syntax("[A(rom = 7)]"), table)
    Traceback (most recent call last):
    penstock.errors.PatternError: pattern, line 1, column 4: the events have no attribute `rom`, only room
      [A(rom = 7)]
         ^^^
    hint: did you mean `room`?
    """
    if not table.fixed:
        return
    columns = tuple(table.attributes.column_names)
    definitions = without_lets(pattern).definitions
    computed = {one.name: _computed(one) for one in definitions}
    for definition in definitions:
        for read in _reads(definition):
            if _is_missing(read, {*FIELDS, *columns}, computed):
                raise _missing(pattern, read, columns)


@dataclass(frozen=True)
class _Read:
    """An attribute that is read of events in one of the sets."""

    name: str
    node: Node
    types: frozenset[str | None]


def _is_missing(read: _Read, known: set[str], computed: dict[str, set[str]]) -> bool:
    """Whether primitive events are among those read, and none of the composites among them has it either."""
    if read.types <= computed.keys():
        return False
    composites = computed.keys() if None in read.types else read.types & computed.keys()
    return read.name not in known.union(*(computed[name] for name in composites if name is not None))


def _computed(definition: Definition) -> set[str]:
    """The attributes of a composite."""
    return {node.name for node in walk(definition.body) if isinstance(node, Parameter | Selected)}


def _reads(definition: Definition) -> Iterator[_Read]:
    matched = _matched(definition)
    timers = {node.timer for node in walk(definition) if isinstance(node, Timing)}
    for node in walk(definition):
        match node:
            case DescribableSet(type=kind, filter=condition) if condition is not None and kind not in timers:
                found = (inner for inner in walk(condition) if isinstance(inner, Attribute))
                yield from (_Read(inner.name, inner, frozenset([kind])) for inner in found)
            case LabelRead(label=label, attribute=str(name)) | Aggregate(label=label, attribute=str(name)):
                yield _Read(name, node, frozenset(_types(matched.get(label, ())) - timers))


def _types(sets: Iterable[DescribableSet]) -> set[str | None]:
    return {one.type for one in sets}


def _matched(definition: Definition) -> dict[str, list[DescribableSet]]:
    """The sets from which the events of each label come."""
    found: dict[str, list[DescribableSet]] = {}
    for labelled in (node for node in walk(definition) if isinstance(node, Labelled)):
        for atom in (node for node in walk(labelled.body) if isinstance(node, Atom)):
            found.setdefault(labelled.label, []).extend(atom.domain if atom.negated else atom.label)
    return found


def _missing(pattern: Pattern, read: _Read, columns: tuple[str, ...]) -> PatternError:
    more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    shown = ", ".join(columns[:_SHOWN]) + more
    close = nearest(read.name, [*columns, *FIELDS])
    return pattern.error(
        f"the events have no attribute `{read.name}`, " + (f"only {shown}" if columns else "nor any other"),
        read.node,
        hint=f"did you mean `{close}`?" if close else None,
    )
