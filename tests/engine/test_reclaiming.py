"""What no run needs is let go, and what it needs is not."""

import pyarrow as pa
import pytest

import penstock as ps
from penstock.engine import engine as engines
from penstock.engine import known
from penstock.engine.engine import Engine
from penstock.engine.kept import PIECES
from penstock.events.table import EventTable, make_table
from tests.engine.conftest import composites_of

NESTED = "Pair := a: [A] ; [B]\nWhole := [Pair] ; [C]"


def batch(types: str, start: int) -> EventTable:
    at = pa.array(range(start, start + len(types)))
    ids = [str(one) for one in at.to_pylist()]
    return make_table({"type": list(types), "source": ids, "id": ids, "lo": at, "hi": at}, {})


def feed(engine: Engine, types: list[str]) -> list[tuple[str, list[str]]]:
    start, found = 0, []
    for some in types:
        found += composites_of(engine.feed(batch(some, start), start + len(some)))
        start += len(some)
    return [(one.type, [leaf.id for leaf in one.leaves()]) for one in found]


@pytest.fixture
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "RECLAIM", 0)


@pytest.mark.usefixtures("_eager")
def test_events_that_are_no_symbols_are_not_held() -> None:
    engine = Engine(ps.parse("[A] ; [B]"))
    assert feed(engine, ["A", *["N" * 50] * 100, "B"]) == [("composite", ["0", "5001"])]
    assert len(engine.events) < 200
    assert len(engine.events.pieces) < 5


@pytest.mark.usefixtures("_eager")
def test_composites_that_a_run_waits_with_are_held_with_what_they_are_made_of() -> None:
    engine = Engine(ps.parse(NESTED))
    found = feed(engine, ["A", "B", *["NN"] * 20, "C"])
    assert found == [("Pair", ["0", "1"]), ("Whole", ["0", "1", "42"])]
    engine.feed(batch("N", 50), 60)
    assert [len(store) for store in engine.stores] == [1, 0]


def test_many_small_batches_become_few_pieces() -> None:
    engine = Engine(ps.parse("[A] ; [B]"))
    feed(engine, ["A"] * 300)
    assert len(engine.events.pieces) <= PIECES + 2


def test_batches_of_which_nothing_is_met_are_not_held() -> None:
    engine = Engine(ps.parse("[A] ; [B]"))
    assert feed(engine, ["A", *["NN"] * 10, "B"]) == [("composite", ["0", "21"])]
    assert len(engine.events) == 2


@pytest.mark.usefixtures("_eager")
def test_symbols_that_no_run_holds_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MANY", 0)
    engine = Engine(ps.parse("[A] ; [B]"))
    assert feed(engine, ["A", *["BN"] * 10, "A", "B"])[0] == ("composite", ["0", "1"])
    assert engine.symbols[0].count <= 3
    assert engine.engines[0].symbols.count == engine.symbols[0].count
    assert len(engine.events) <= 4


def test_results_stay_when_what_they_are_made_of_is_let_go() -> None:
    engine = Engine(ps.parse(NESTED))
    first = engine.feed(batch("ABC", 0), 3)
    engine.bound = -1
    engine.feed(batch("NNN", 3), 6)
    assert [one.type for one in composites_of(first)] == ["Pair", "Whole"]
