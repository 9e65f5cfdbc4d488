"""What was found, in shares: cut only between instants, and together what it was."""

import numpy as np
import pytest

from penstock import detect, parse
from penstock.engine import engine as engine_module
from penstock.engine import found as found_module
from penstock.engine.composed import Composed, Composer
from penstock.engine.engine import Engine
from penstock.engine.found import apart
from penstock.events.table import make_table


def composer() -> Composer:
    return Engine(parse("[A]")).composers[0]


def ending(*hi: int) -> Composed:
    """Composites without parts that end at these instants."""
    return composer().nothing().take(np.zeros(0, np.int64)) if not hi else _ending(np.array(hi, np.int64))


def _ending(hi: np.ndarray) -> Composed:
    count, none = len(hi), np.zeros(0, np.int64)
    kinds, bits = np.zeros((count, 0), np.int8), np.zeros((count, 0), np.int64)
    return composer().from_columns(hi, hi, kinds, bits, np.zeros(count + 1, np.int64), none, none, none)


def test_shares_are_cut_between_instants() -> None:
    pieces = [ending(1, 2), ending(2, 3), ending(), ending(4), ending(5), ending(3, 6), ending(7)]
    assert [[one.hi.tolist() for one in some] for some in apart(pieces, 2)] == [
        [[1, 2], [2, 3]],
        [[4], [5], [3, 6]],
        [[7]],
    ]


@pytest.mark.parametrize("pattern", ["[A] ; [B]", "[A(k = $k)] ; [B(k = $k)]", "X := [A] ; [B]\nY := [X] ; [A]"])
def test_a_table_is_the_same_in_shares(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(7)
    count = 300
    at = np.sort(random.integers(0, 120, count))
    fields = {"type": random.choice(["A", "B"], count), "id": [str(one) for one in range(count)], "lo": at, "hi": at}
    events = make_table(fields, {"k": random.integers(0, 4, count)})
    whole = detect(events, pattern)
    monkeypatch.setattr(engine_module, "BATCH", 16)
    monkeypatch.setattr(engine_module, "batch_after", lambda events, symbols: 16)
    monkeypatch.setattr(found_module.apart, "__defaults__", (4,))
    shared = detect(events, pattern)
    assert shared.table.equals(whole.table)
    assert shared.table["id"].num_chunks > 1 or "Y" in pattern
