"""Texts that nothing says any more are forgotten: no key, no symbol that a run holds, no composite that is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.engine import vm
from penstock.engine.composed import Composed
from penstock.engine.definition import DefinitionEngine
from penstock.engine.kept import Kept
from penstock.engine.memory import Ints
from penstock.engine.texts import Texts

Values = tuple[NDArray[Any], Ints]
"""Kinds and bits."""
MANY = 1 << 16
"""So many texts are kept without asking whether anything says them."""


class Wording:
    """The texts of a pool, with all that says them."""

    def __init__(self, texts: Texts, engines: Sequence[DefinitionEngine], stores: Sequence[Kept[Composed]]) -> None:
        self._texts = texts
        self._engines = engines
        self._stores = stores
        self.enough = MANY

    def reclaim(self) -> None:
        """Forgets texts, if so many came since some were forgotten that it is worth looking at all values again."""
        if len(self._texts) <= self.enough:
            return
        own: list[Values] = [values for engine in self._engines for values in engine.said()]
        every = own + [(piece.kinds, piece.bits) for store in self._stores for piece in store.pieces]
        is_said = np.zeros(len(self._texts), bool)
        for kinds, bits in every:
            is_said[bits[kinds == vm.TEXT]] = True
        self._texts.keep(np.flatnonzero(is_said))
        self._renumber(np.cumsum(is_said) - 1, own)
        self.enough = 2 * len(self._texts) + sum(len(kinds) for kinds, _ in every) // 4 + MANY

    def _renumber(self, numbers: Ints, own: Iterable[Values]) -> None:
        """Gives texts the numbers that they have from now on; composites in results stay as they are."""
        for kinds, bits in own:
            bits[:] = _renumbered(kinds, bits, numbers)
        for store in self._stores:
            store.change(lambda piece: replace(piece, bits=_renumbered(piece.kinds, piece.bits, numbers)))
        for engine in self._engines:
            engine.instances.rehash()


def _renumbered(kinds: NDArray[Any], bits: Ints, numbers: Ints) -> Ints:
    """Bits with other numbers for texts."""
    is_text = kinds == vm.TEXT
    renumbered = bits.copy()
    renumbered[is_text] = numbers[bits[is_text]]
    return renumbered
