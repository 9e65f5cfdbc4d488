"""The engine finds what the reference finds, whatever the pattern, the trace and the batches."""

from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from penstock.algebra.pattern import Pattern
from penstock.errors import PatternError
from penstock.events.event import Event
from penstock.languages.core.printer import print_pattern
from penstock.testing.reference import reference
from penstock.testing.strategies import meaningful_patterns, traces
from tests.engine.conftest import engine_detect, table_of


def value(given: Any) -> Any:
    return (type(given).__name__, given) if isinstance(given, bool | str) else ("number", float(given))


def canonical(symbol: Any) -> Any:
    """A composite as plain data: type, stamp, attributes, parts with labels."""
    if isinstance(symbol, Event):
        return symbol.source, symbol.id
    attributes = sorted((name, value(one)) for name, one in symbol.attributes.items() if one is not None)
    parts = [(canonical(part.symbol), sorted(part.labels)) for part in symbol.parts]
    return symbol.type, symbol.lo, symbol.hi, attributes, parts


@settings(max_examples=6 * settings.default.max_examples)
@given(
    pattern=meaningful_patterns(),
    trace=traces(),
    restart=st.booleans(),
    cuts=st.lists(st.integers(0, 7), max_size=3),
)
def test_the_engine_finds_what_the_reference_finds(
    pattern: Pattern, trace: list[Event], restart: bool, cuts: list[int]
) -> None:
    try:
        found = engine_detect(pattern, trace, restart=restart, cuts=cuts)
    except PatternError as error:
        event(f"refused: {error.message}")
        return
    wanted = reference(pattern, table_of(trace).to_events(), restart=restart)
    event(f"composites: {min(len(wanted), 3)}")
    got = sorted(repr(canonical(one)) for one in found)
    assert got == sorted(repr(canonical(one)) for one in wanted), print_pattern(pattern)
