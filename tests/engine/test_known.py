"""Symbols: their identities stay, whatever numbers they have."""

import numpy as np

from penstock.engine.known import Symbols


def test_identities_stay_when_symbols_are_forgotten() -> None:
    nothing = np.zeros((0, 0), np.int64)
    symbols = Symbols(0)
    assert symbols.add_next(3) == 0
    symbols.add(np.array([1, 0]), (np.zeros((2, 0), np.int64),) * 2)
    assert symbols.add_next(4) == 5
    symbols.keep(np.array([1, 3, 6, 8]))
    assert symbols.add_next(2) == 9
    assert symbols.count == 6
    assert symbols.identities.column.tolist() == [1, 4, 6, 8, 9, 10]
    symbols.add(np.zeros(0, np.int64), (nothing, nothing))
    assert symbols.met == 11
