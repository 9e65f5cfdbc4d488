"""Whether events that come in batches all have different names, which are their sources and ids."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.events.texts import Words, hashed, is_rising, mixed

_REMEMBERED = 1 << 19
"""So many names are remembered in full, in case that the ids do not go on to rise."""


def name_hashes(sources: pa.DictionaryArray, ids: pa.Array) -> Words:
    """A number for each event: equal for those with the same source and id, and hardly ever for others.

    >>> one, two = name_hashes(pa.array(["s", "t"]).dictionary_encode(), pa.array(["1", "1"])).tolist()
    >>> one == two
    False
    """
    return mixed(hashed(ids), hashed(sources.dictionary)[np.asarray(sources.indices)])


class Names:
    """The names of the events met so far, of which as little is kept as shows that they are different.

    Of ids that rise like a counter from one event to the next, the last one is enough. Of others a number of 64 bits is
    kept for each event. Where ids cease to rise only after many events, it is no longer known what came before.

    >>> names = Names()
    >>> names.take(pa.array(["s", "s"]).dictionary_encode(), pa.array(["9", "10"]))
    >>> names.take(pa.array(["s"]).dictionary_encode(), pa.array(["9"]))
    >>> names.are_different()
    False
    """

    def __init__(self) -> None:
        self._last: pa.Array | None = None
        self._hashes: list[Words] | None = None
        self._first: list[tuple[pa.DictionaryArray, pa.Array]] | None = []
        self.is_known = True
        """Whether it can still be shown that they are different."""

    def take(self, sources: pa.DictionaryArray, ids: pa.Array) -> None:
        """Take the names of more events."""
        if not len(ids) or not self.is_known:
            return
        if self._hashes is None and not self._goes_on(ids):
            self.is_known = self._first is not None
            self._hashes = [name_hashes(*names) for names in self._first or ()]
        if self._hashes is None:
            self._remember(sources, ids)
        else:
            self._hashes.append(name_hashes(sources, ids))

    def _goes_on(self, ids: pa.Array) -> bool:
        """Whether these ids rise, from the last one met."""
        joined = [_copied(ids, 0)] if self._last is None else [self._last, _copied(ids, 0)]
        return is_rising(pa.concat_arrays(joined)) and is_rising(ids)

    def _remember(self, sources: pa.DictionaryArray, ids: pa.Array) -> None:
        self._last = _copied(ids, len(ids) - 1)
        if self._first is not None:
            self._first.append((sources, ids))
            if sum(len(taken) for _, taken in self._first) > _REMEMBERED:
                self._first = None

    def are_different(self) -> bool:
        """Whether all names taken are known to be different."""
        if not self._hashes:
            return self.is_known
        numbers = np.concatenate(self._hashes)
        numbers.sort()
        return self.is_known and not bool((numbers[1:] == numbers[:-1]).any())


def _copied(ids: pa.Array, row: int) -> pa.Array:
    """One of the ids, which does not keep the others in memory."""
    return pa.array([ids[row].as_py()], pa.string())
