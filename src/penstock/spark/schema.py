"""The columns of results, which follow from the patterns and from the columns of the events.

In one process a column has the type that fits the values in it. Spark must know types before it has seen a value, so
here they follow from what is written: a parameter has the type of the attributes that it is equated with, a selected
value that of its expression. Whole numbers and others together are floats; any other mixture is JSON text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from penstock.algebra import conditions as c
from penstock.algebra.expressions import Atom, DescribableSet, Labelled, Select
from penstock.algebra.names import evaluation_order, without_lets
from penstock.algebra.node import walk
from penstock.algebra.pattern import Definition, Pattern
from penstock.automaton.compile import parameters
from penstock.detection.columns import MIXED, column_name
from penstock.detection.json_columns import json_column
from penstock.detection.kinds import kinds_of
from penstock.detection.parts import PARTS
from penstock.events.table import TIME, EventTable

Types = frozenset[pa.DataType]
NONE: Types = frozenset()
INTEGER: Types = frozenset({pa.int64()})
FLOAT: Types = frozenset({pa.float64()})
TEXT: Types = frozenset({pa.string()})
NUMBERS = INTEGER | FLOAT
TAGS = (pa.field("kind", pa.string()), pa.field("reason", pa.string()), pa.field("at", TIME))
"""Columns that stand after the stamp where there are other rows than composites: which they are, and why and when."""
_ALWAYS = ("type", "source", "id", "lo", "hi")
_PART = pa.struct([one.with_nullable(one.name not in _ALWAYS) for one in PARTS.value_type])
SURE_PARTS = pa.list_(pa.field("item", _PART, nullable=False))
"""Parts of which it is said what is never null: Spark asks of each value of all else whether it is."""
_FIRST = (pa.field("type", pa.string()), pa.field("lo", TIME), pa.field("hi", TIME))
_ID = pa.field("id", pa.string())
_FIELDS = {"source": TEXT, "id": TEXT, "lo": INTEGER, "hi": INTEGER}
_COUNTS = ("count", "distinct")


def result_schema(
    patterns: Sequence[Pattern], blank: EventTable, only: Sequence[str] = (), *, is_tagged: bool = False
) -> pa.Schema:
    """The columns that results of patterns have over events with the attributes of a table.

    >>> from penstock import parse
    >>> from penstock.events.table import make_table
    >>> blank = make_table({"type": [], "lo": [], "hi": []}, {"door": pa.array([], pa.int64())}, fixed=True)
    >>> pattern = parse("x: [Open(door = $d)]+ ; [Close(door = $d)] select share = count(x) / 2")
    >>> [(field.name, str(field.type)) for field in result_schema([pattern], blank)][3:5]
    [('d', 'int64'), ('share', 'double')]
    """
    types: dict[str, Types] = {}
    for pattern in patterns:
        known = _Typing(blank).of_pattern(pattern)
        kinds = kinds_of(pattern)
        wanted = kinds.only([name for name in only if name in kinds.attributes]) if only else kinds
        for name in wanted.order:
            own = [known[type][name] for type, names in wanted.attributes.items() if name in names]
            types[name] = types.get(name, NONE).union(*own)
    attributes = [_field(attribute_column(name, is_tagged), found) for name, found in types.items()]
    if is_tagged:  # rows that are no composites may have none of these
        first, last = [*_FIRST, *TAGS], [_ID, pa.field("parts", PARTS)]
    else:
        first, last = [*map(_sure, _FIRST)], [_sure(_ID), _sure(pa.field("parts", SURE_PARTS))]
    return pa.schema([*first, *attributes, *last])


def attribute_column(name: str, is_tagged: bool) -> str:
    """The column for an attribute, which has an underscore more if its name is taken.

    >>> attribute_column("room", True), attribute_column("reason", True), attribute_column("reason", False)
    ('room', 'reason_', 'reason')
    """
    taken = is_tagged and name.rstrip("_") in {tag.name for tag in TAGS}
    return f"{name}_" if taken else column_name(name)


def _sure(field: pa.Field) -> pa.Field:
    """A column that is never null."""
    return field.with_nullable(False)


def _field(name: str, types: Types) -> pa.Field:
    if not types:
        return pa.field(name, pa.string())
    if len(types) == 1:
        return pa.field(name, next(iter(types)))
    return pa.field(name, pa.float64()) if types == NUMBERS else pa.field(name, pa.string(), metadata=MIXED)


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table of results with the columns of a schema; those that it does not have are null.

    >>> schema = pa.schema([("d", pa.float64()), ("n", pa.int64())])
    >>> fitted(pa.table({"d": [1]}), schema).to_pylist()
    [{'d': 1.0, 'n': None}]
    """
    return pa.table([_fitted(table, field) for field in schema], schema=schema)


def _fitted(table: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    if field.name not in table.column_names:
        return pa.chunked_array([pa.nulls(len(table), field.type)])
    column, own = table[field.name], table.schema.field(field.name)
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(table), field.type)])
    if field.metadata == MIXED and own.metadata != MIXED:
        texts = json_column(column.combine_chunks())
        plain = texts.dictionary.take(texts.indices) if pa.types.is_dictionary(texts.type) else texts
        return pa.chunked_array([plain])
    if field.type == SURE_PARTS:
        return pa.chunked_array([*map(_sure_parts, column.chunks)], SURE_PARTS)
    return column if column.type == field.type else column.cast(field.type)


def _sure_parts(parts: pa.Array) -> pa.Array:
    structs = pa.StructArray.from_arrays(parts.values.flatten(), fields=list(_PART))
    return pa.ListArray.from_arrays(parts.offsets, structs, type=SURE_PARTS)


@dataclass(frozen=True)
class _Typing:
    """Finds the types of what composites have."""

    blank: EventTable

    def of_pattern(self, pattern: Pattern) -> dict[str, dict[str, Types]]:
        """By definition and attribute."""
        known: dict[str, dict[str, Types]] = {}
        for definition in evaluation_order(without_lets(pattern)):
            own = {name: self._parameter(definition, name, known) for name in parameters(definition.body)}
            labels = _labelled(definition)
            for select in (node for node in walk(definition.body) if isinstance(node, Select)):
                for one in select.values:
                    own[one.name] = self._value(one.value, labels, own, known)
            known[definition.name] = own
        return known

    def _parameter(self, definition: Definition, name: str, known: Mapping[str, Mapping[str, Types]]) -> Types:
        found: Types = NONE
        for one in (node for node in walk(definition) if isinstance(node, DescribableSet)):
            attribute = c.bindings(one.filter).get(name)
            if attribute is not None:
                found |= self._attribute(one.type, attribute, known)
        return found

    def _attribute(self, type: str | None, name: str, known: Mapping[str, Mapping[str, Types]]) -> Types:
        if name in _FIELDS:
            return _FIELDS[name]
        if type is not None and type in known:
            return known[type].get(name, NONE)
        there = self.blank.attributes
        own = frozenset({there.schema.field(name).type}) if name in there.column_names else NONE
        return own.union(*(one.get(name, NONE) for one in known.values())) if type is None else own

    def _value(
        self,
        value: c.Condition,
        labels: Mapping[str, set[str | None]],
        own: Mapping[str, Types],
        known: Mapping[str, Mapping[str, Types]],
    ) -> Types:
        def read(label: str, attribute: str) -> Types:
            return NONE.union(*(self._attribute(type, attribute, known) for type in labels.get(label, ())))

        match value:
            case c.Literal(value=bool()):
                return frozenset({pa.bool_()})
            case c.Literal(value=given):
                return TEXT if isinstance(given, str) else INTEGER if isinstance(given, int) else FLOAT
            case c.Parameter(name=name):
                return own.get(name, NONE)
            case c.LabelRead(label=label, attribute=attribute):
                return read(label, attribute)
            case c.Aggregate(function=function, label=label, attribute=attribute):
                if function in _COUNTS or attribute is None:
                    return INTEGER
                return FLOAT if function == "avg" else read(label, attribute)
            case c.Negative(operand=operand):
                return self._value(operand, labels, own, known) & NUMBERS
            case c.Arithmetic(operator=operator, left=left, right=right):
                both = self._value(left, labels, own, known) | self._value(right, labels, own, known)
                return FLOAT if operator == "/" else both & NUMBERS
        return frozenset({pa.bool_()})


def _labelled(definition: Definition) -> dict[str, set[str | None]]:
    """The types of the events that each label can have."""
    found: dict[str, set[str | None]] = {}
    for labelled in (node for node in walk(definition) if isinstance(node, Labelled)):
        found.setdefault(labelled.label, set()).update(_types(labelled))
    return found


def _types(labelled: Labelled) -> Iterator[str | None]:
    for atom in (node for node in walk(labelled.body) if isinstance(node, Atom)):
        sets: Iterable[DescribableSet] = atom.domain if atom.negated else atom.label
        yield from (one.type for one in sets)
