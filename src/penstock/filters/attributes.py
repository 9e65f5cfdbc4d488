"""Do the attributes that a pattern reads exist? Asked of tables with fixed columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.algebra.conditions import FIELDS, Aggregate, Attribute, LabelRead, Parameter
from penstock.algebra.expressions import Atom, DescribableSet, Labelled, Selected, Timing
from penstock.algebra.node import Node, walk
from penstock.algebra.pattern import Definition, Let, Pattern
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
    for item in pattern.items:
        for read in _reads(_Names(pattern, item)):
            if read.name not in {*FIELDS, *columns, *read.computed}:
                raise _missing(pattern, read, columns)


def _missing(pattern: Pattern, read: _Read, columns: tuple[str, ...]) -> PatternError:
    more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
    shown = ", ".join(columns[:_SHOWN]) + more
    close = nearest(read.name, [*columns, *FIELDS])
    return pattern.error(
        f"the events have no attribute `{read.name}`, " + (f"only {shown}" if columns else "nor any other"),
        read.node,
        hint=f"did you mean `{close}`?" if close else None,
    )


@dataclass(frozen=True)
class _Read:
    """An attribute of events of which some are primitive; composites among them have ``computed`` ones."""

    name: str
    node: Node
    computed: frozenset[str]


class _Names:
    """What the names of types mean in one item of a pattern."""

    def __init__(self, pattern: Pattern, item: Let | Definition) -> None:
        self.item = item
        self.lets = {one.name: one.sets for one in pattern.lets}
        self.composites = {one.name: one for one in pattern.definitions}
        self.timers = {node.timer for node in walk(item) if isinstance(node, Timing)}

    def types(self, sets: Iterable[DescribableSet], within: frozenset[str]) -> Iterator[str | None]:
        """The types in the sets, ``None`` for a primitive event's; names of sets are followed."""
        for one in sets:
            if one.type is None:
                yield from (None, *self.composites)
            elif one.type in self.lets and one.type not in within:
                yield from self.types(self.lets[one.type], within | {one.type})
            elif one.type not in self.timers:
                yield one.type if one.type in self.composites else None

    def computed(self, sets: Iterable[DescribableSet]) -> frozenset[str] | None:
        """The attributes of the composites in the sets; ``None`` if there are no primitive events in them."""
        types = set(self.types(sets, frozenset()))
        if None not in types:
            return None
        bodies = (self.composites[name].body for name in types if name is not None)
        nodes = (node for body in bodies for node in walk(body))
        return frozenset(node.name for node in nodes if isinstance(node, Parameter | Selected))


def _reads(names: _Names) -> Iterator[_Read]:
    matched = _matched(names.item)
    for node in walk(names.item):
        match node:
            case DescribableSet(filter=condition) if condition is not None:
                computed = names.computed([node])
                found = [inner for inner in walk(condition) if isinstance(inner, Attribute)]
                if computed is not None:
                    yield from (_Read(inner.name, inner, computed) for inner in found)
            case LabelRead(label=label, attribute=name) | Aggregate(label=label, attribute=name):
                computed = names.computed(matched.get(label, ()))
                if computed is not None and name is not None:
                    yield _Read(name, node, computed)


def _matched(item: Let | Definition) -> dict[str, list[DescribableSet]]:
    """The sets from which the events of each label come."""
    found: dict[str, list[DescribableSet]] = {}
    for labelled in (node for node in walk(item) if isinstance(node, Labelled)):
        for atom in (node for node in walk(labelled.body) if isinstance(node, Atom)):
            found.setdefault(labelled.label, []).extend(atom.domain if atom.negated else atom.label)
    return found
