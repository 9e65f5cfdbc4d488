"""The table of results, against one that is made of objects, row by row, from what the reference finds."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.engine.conftest import table_of

import penstock as ps
from penstock.algebra.pattern import Pattern
from penstock.detection.kinds import kinds_of
from penstock.detection.parts import PARTS
from penstock.detection.values import data_text, json_text, json_value, present
from penstock.errors import PatternError
from penstock.events.event import Event
from penstock.events.found import Composite
from penstock.events.times import datetime_of
from penstock.testing.reference import reference
from penstock.testing.strategies import meaningful_patterns, traces

Row = dict[str, Any]


class Plain:
    """Writes composites as rows."""

    def __init__(self, pattern: Pattern, carry: list[str] | None) -> None:
        self.kinds = kinds_of(pattern)
        self.carry = carry

    def rows(self, found: list[Composite]) -> list[Row]:
        return [self.row(one) for one in sorted(found, key=order)]

    def row(self, one: Composite) -> Row:
        values = {name: one.attributes.get(name) for name in self.kinds.order}
        stamp = {"lo": datetime_of(one.lo), "hi": datetime_of(one.hi)}
        return {"type": one.type} | stamp | values | {"id": one.id, "parts": list(self.parts(one))}

    def parts(self, one: Composite) -> Iterator[Row]:
        for number, part in enumerate(one.parts):
            yield from self.leaves(part.symbol, number, ",".join(sorted(part.labels)) or None, [])

    def leaves(self, symbol: Event | Composite, number: int, label: str | None, path: list[Row]) -> Iterator[Row]:
        if isinstance(symbol, Event):
            kept = {name: symbol.attributes[name] for name in self.carried(symbol)}
            data = data_text(present(kept))
            yield named(symbol) | {"seq": symbol.seq, "label": label, "data": data, "path": path or None}
            return
        data = data_text(present(symbol.attributes, self.kinds.names(symbol.type)))
        around = [*path, named(symbol) | {"data": data, "part": number}]
        for place, part in enumerate(symbol.parts):
            yield from self.leaves(part.symbol, place, label, around)

    def carried(self, event: Event) -> list[str]:
        names = sorted(event.attributes) if self.carry is None else self.carry
        return [name for name in names if name in event.attributes]


def named(symbol: Event | Composite) -> Row:
    stamp = {"lo": datetime_of(symbol.lo), "hi": datetime_of(symbol.hi)}
    return {"type": symbol.type, "source": symbol.source, "id": symbol.id} | stamp


def order(one: Composite) -> tuple[object, ...]:
    return one.hi, one.lo, one.type.encode(), [leaf.weak_key for leaf in one.leaves()], one.id


def as_stored(rows: list[Row], name: str) -> list[Any]:
    """The values of a column as a table has them: numbers as floats if one is, mixtures as JSON text."""
    values = [row[name] for row in rows]
    kinds = {datetime if isinstance(value, datetime) else type(value) for value in values if value is not None}
    if len(kinds) > 1 and kinds != {int, float}:
        return [None if value is None else json_text(json_value(value)) for value in values]
    return values


@settings(max_examples=3 * settings.default.max_examples)
@given(pattern=meaningful_patterns(), trace=traces(), carry=st.sampled_from([None, [], ["v"], ["w", "v"]]))
def test_the_table_is_what_the_objects_say(pattern: Pattern, trace: list[Event], carry: list[str] | None) -> None:
    events = table_of(trace)
    try:
        table = ps.detect(events, pattern, carry="all" if carry is None else carry).table
    except PatternError:
        return
    writer = Plain(pattern, carry)
    rows = writer.rows(reference(pattern, events.to_events()))
    event(f"nested: {any(part['path'] for row in rows for part in row['parts'])}")
    assert table.schema.field("parts").type == PARTS
    assert table["parts"].to_pylist() == [
        [{field.name: part[field.name] for field in PARTS.value_type} for part in row["parts"]] for row in rows
    ]
    for name in ("type", "lo", "hi", "id", *writer.kinds.order):
        assert table[name].to_pylist() == as_stored(rows, name), name
    table.validate(full=True)


def test_rows_from_several_batches_of_different_kinds_stand_together() -> None:
    """An attribute may be of another kind in a later batch of a stream; parts say what each was."""
    from penstock.detection.composites import composites_table
    from penstock.detection.parts import PartWriter
    from penstock.detection.selection import Selection
    from penstock.engine.engine import Engine

    pattern = ps.parse("[A] ; [B] ; [C]")
    engine, kinds = Engine(pattern), kinds_of(pattern)
    batches = [Event("A", "s", "1", 1, 1, attributes={"v": 1}), Event("B", "s", "2", 2, 2, attributes={"v": "x"})]
    for one in batches:
        assert len(engine.feed(table_of([one]), one.hi)) == 0
    found = engine.feed(table_of([Event("C", "t", "3", 3, 3, 7)]), 4)
    table = composites_table(Selection(found, kinds.attributes), kinds, PartWriter(kinds, None))
    [parts] = table["parts"].to_pylist()
    assert [(part["id"], part["data"], part["seq"]) for part in parts] == [
        ("1", '{"v": 1}', None),
        ("2", '{"v": "x"}', None),
        ("3", None, 7),
    ]


def test_composites_that_were_read_are_leaves_of_those_that_are_made() -> None:
    inner = [{"type": "A", "source": "s", "id": "1", "time": 1, "data": {"v": 1}}]
    pair = {"type": "Pair", "source": "x", "id": "9", "lo": 1, "hi": 1, "data": {"w": 2, "parts": inner}}
    outer = {"type": "Outer", "source": "x", "id": "10", "lo": 1, "hi": 2, "data": {"parts": [pair, inner[0]]}}
    events = [outer, {"type": "C", "source": "s", "id": "3", "time": 3}]
    [_, whole] = ps.detect(events, "Seen := o: [Outer]\nx: [Seen] ; [C]").table["parts"].to_pylist()
    assert [(part["id"], part["label"], part["data"]) for part in whole] == [
        ("1", "x", '{"v": 1}'),
        ("1", "x", '{"v": 1}'),
        ("3", None, None),
    ]
    paths = [[(one["type"], one["part"], one["data"]) for one in part["path"] or ()] for part in whole]
    seen, read = ("Seen", 0, None), ("Outer", 0, None)
    assert paths == [[seen, read, ("Pair", 0, '{"w": 2}')], [seen, read], []]


def test_a_composite_that_was_read_is_named_as_when_it_was_made() -> None:
    events = [{"type": "A", "source": "s", "id": "1", "time": 1}, {"type": "B", "source": "s", "id": "2", "time": 2}]
    made = ps.detect(events, "M := [A]\n[M] ; [B]").table
    read = ps.detect([json.loads(one) for one in _lines(events[:1])] + events[1:], "[M] ; [B]").table
    assert read["id"].to_pylist() == made["id"].to_pylist()[1:]


def _lines(events: list[Row]) -> Iterator[str]:
    from penstock.detection.output import json_lines

    return json_lines(ps.detect(events, "M := [A]"))


def test_an_attribute_that_no_composite_has_is_a_column_of_nothing() -> None:
    found = ps.detect([{"type": "A", "id": "1", "time": 1}], "a: [A] select v = a.v").table
    assert found["v"].type == pa.string()
    assert found["v"].to_pylist() == [None]
