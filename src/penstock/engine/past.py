"""What has come that instances yet to come must know, since it can start or end something of theirs."""

from __future__ import annotations

import numpy as np

from penstock.engine import memory as m
from penstock.engine.growing import Growing
from penstock.engine.memory import Ints
from penstock.engine.symbols import Keys


class Past:
    """Symbols for all instances, as the kernel takes them, and the kinds and numbers of their places."""

    def __init__(self) -> None:
        self._places = Growing(m.PLACE_WIDTH)
        self._keys = Growing(2)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def places(self) -> Ints:
        """The symbols, as a view."""
        return self._places.rows

    @property
    def symbols(self) -> Ints:
        """Their numbers, as a view."""
        numbers: Ints = self._places.rows[:, m.PLACE_SYMBOL]
        return numbers

    @property
    def keys(self) -> Keys:
        """Where they stand."""
        return Keys(self.places[:, m.INSTANT], *self._keys.rows.T)

    def add(self, places: Ints, keys: Keys) -> None:
        """More of them."""
        self.put(places, np.column_stack([keys.kind, keys.number]))

    def put(self, places: Ints, keys: Ints | None) -> None:
        """Symbols as they were saved; before keys were, the numbers of places said their order."""
        if keys is None:
            numbers = places[:, m.PLACE] - int(places[:, m.PLACE].max(initial=0)) - 1
            keys = np.column_stack([np.zeros(len(places), np.int64), numbers])
        self._places.append(places)
        self._keys.append(keys)

    @property
    def saved_keys(self) -> Ints:
        """The kinds and numbers of their places, a row each."""
        return self._keys.rows
