"""Shares of a detection, put together, are the detection."""

from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.conftest import rows

import penstock as ps
from penstock.algebra.pattern import Pattern
from penstock.detection.merging import merged
from penstock.errors import DataError, PatternError
from penstock.events.event import Event
from penstock.testing.strategies import choices, meaningful_patterns, traces


@given(pattern=meaningful_patterns(), trace=traces(), options=choices(), random=st.randoms(use_true_random=False))
def test_rows_of_shares_come_in_the_order_of_results(
    pattern: Pattern, trace: list[Event], options: dict[str, Any], random: Random
) -> None:
    more = {name: value for name, value in options.items() if name in ("context", "restart")}
    try:
        found = ps.detect(rows(trace), pattern, incomplete=True, **more)
    except (PatternError, DataError, MemoryError):
        return
    names = [one.name for one in pattern.definitions]
    assert found.incomplete is not None
    for table in (found.table, found.incomplete.table):
        shares = [random.randrange(3) for _ in range(len(table))]
        pieces = [[row for row, at in enumerate(shares) if at == share] for share in range(3)]
        assert merged([table.take(pa.array(piece, pa.int64())) for piece in pieces], names).equals(table)


def test_a_column_has_the_type_that_fits_all_shares() -> None:
    def found(value: Any) -> Any:
        events = [{"type": "A", "id": str(value), "time": 5, "data": {"v": value}}]
        return ps.detect(events, "[A(v = $v)]").table

    def values(*given: Any) -> list[Any]:
        column: list[Any] = merged([found(value) for value in given], ["composite"])["v"].to_pylist()
        return column

    assert values(1, 2) == [1, 2]
    assert values(1, 2.5) == [1.0, 2.5]
    assert values(1, "x") == ["1", '"x"']
    assert values("x", True, 1) == ["1", "true", '"x"']
