"""Whether events that come in batches all have different names, which are their sources and ids."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.events.texts import Words, hashed, is_rising, mixed


def name_hashes(sources: pa.DictionaryArray, ids: pa.Array) -> Words:
    """A number for each event: equal for those with the same source and id, and hardly ever for others.

    >>> one, two = name_hashes(pa.array(["s", "t"]).dictionary_encode(), pa.array(["1", "1"])).tolist()
    >>> one == two
    False
    """
    return mixed(hashed(ids), hashed(sources.dictionary)[np.asarray(sources.indices)])


class Names:
    """The names of the events met so far, of which as little is kept as shows that they are different.

    Of ids that rise like a counter from one event to the next, the last one is enough. If the first batch has others,
    a number of 64 bits is kept for each event. Names that cannot be shown to be different count as repeated.

    >>> names = Names()
    >>> names.take(pa.array(["s", "s"]).dictionary_encode(), pa.array(["9", "10"]))
    >>> names.take(pa.array(["s"]).dictionary_encode(), pa.array(["9"]))
    >>> names.are_different()
    False
    """

    def __init__(self) -> None:
        self._last: pa.Array | None = None
        self._hashes: list[Words] | None = None
        self.is_known = True
        """Whether it can still be shown that they are different."""

    def take(self, sources: pa.DictionaryArray, ids: pa.Array) -> None:
        """Take the names of more events."""
        if not len(ids):
            return
        rises = self._hashes is None and is_rising(ids)
        if self._last is None and self._hashes is None and not rises:
            self._hashes = []
        if self._hashes is not None:
            self._hashes.append(name_hashes(sources, ids))
            return
        first, last = (pa.array([ids[row].as_py()], pa.string()) for row in (0, len(ids) - 1))
        joined = first if self._last is None else pa.concat_arrays([self._last, first])
        self.is_known = self.is_known and rises and is_rising(joined)
        self._last = last

    def are_different(self) -> bool:
        """Whether all names taken are known to be different."""
        if not self._hashes:
            return self.is_known
        numbers = np.concatenate(self._hashes)
        numbers.sort()
        return not bool((numbers[1:] == numbers[:-1]).any())
