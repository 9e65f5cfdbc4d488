"""Where the instances of a definition are kept: ranges of the hashes of their keys, a page for each range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.engine.memory import FAR, NONE, Ints

START, PAGE, TIMER, OVER, STALE, RUNS = range(6)
"""Of a range: its first hash, its page (0: none), when its next timer is due, when its first run is over, and half of
its runs, and how many runs of each detection it has."""
PER_PAGE = 256
"""So many instances are in a page, more or less, where few change at a time."""
LARGEST, WRITTEN = 8192, 8
"""Where many change, pages grow up to so many instances, so that it is about so many pages that are written."""


@dataclass(frozen=True)
class Chunk:
    """Instances that become one page: a stretch of them in the order of their hashes, and the page that they had."""

    start: int
    page: int
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first


class Directory:
    """The ranges of one definition in order, which of them are in memory, and which have changed there.

    >>> directory = Directory(detections=1)
    >>> chunks, rows, gone = directory.rewritten(np.arange(1000))
    >>> [len(chunk) for chunk in chunks], gone
    ([250, 250, 250, 250], [])
    """

    def __init__(self, detections: int, rows: Ints | None = None, next_page: int = 1, per_page: int = PER_PAGE) -> None:
        self.per_page = per_page
        self.width = RUNS + detections
        self.rows: Ints = self._empty() if rows is None else rows.reshape(-1, self.width)
        self.is_loaded: NDArray[np.bool_] = self.rows[:, PAGE] == 0
        self.is_changed: NDArray[np.bool_] = self.is_loaded.copy() if rows is None else np.zeros(len(self.rows), bool)
        self.next_page = next_page
        self.changes = 0

    def _empty(self) -> Ints:
        row = np.zeros((1, self.width), np.int64)
        row[0, [START, TIMER, OVER, STALE]] = NONE, FAR, FAR, FAR
        return row

    @property
    def is_whole(self) -> bool:
        """Whether all of it is in memory."""
        return bool(self.is_loaded.all())

    def of(self, hashes: Ints) -> Ints:
        """The ranges that hashes are in."""
        found: Ints = np.searchsorted(self.rows[:, START], hashes, side="right") - 1
        return found

    def note(self, hashes: Ints) -> None:
        """Instances with these hashes have changed."""
        self.is_changed[self.of(hashes)] = True
        self.changes += len(hashes)

    @property
    def wanted(self) -> int:
        """How many instances a page is to have that is written now."""
        return max(self.per_page, min(LARGEST, self.changes // WRITTEN))

    def elsewhere(self, detection: int) -> int:
        """How many runs of a detection are not in memory."""
        return int(self.rows[~self.is_loaded, RUNS + detection].sum())

    def rewritten(self, hashes: Ints) -> tuple[list[Chunk], list[int], list[int]]:
        """What the ranges become whose instances have these hashes, in order.

        Returns the chunks to be written, the ranges that stay as they are, and pages that are no longer needed. Ranges
        with too many instances are divided, those that have few join the one before if that is written as well.
        """
        bounds = np.append(np.searchsorted(hashes, self.rows[1:, START]), len(hashes))
        chunks: list[Chunk] = []
        same: list[int] = []
        gone: list[int] = []
        first, before = 0, -2
        for number, last in enumerate(bounds.tolist()):
            if not self.is_changed[number]:
                same.append(number)
            else:
                start, page = int(self.rows[number, START]), int(self.rows[number, PAGE])
                joins = before == number - 1 and len(chunks[-1]) + last - first <= self.wanted
                if joins or (number > 0 and first == last):
                    if page:
                        gone.append(page)
                    if joins:
                        chunks[-1] = Chunk(chunks[-1].start, chunks[-1].page, chunks[-1].first, last)
                        before = number
                else:
                    chunks += self._divided(hashes, Chunk(start, page, first, last))
                    before = number
            first = last
        return chunks, same, gone

    def _divided(self, hashes: Ints, whole: Chunk) -> list[Chunk]:
        """One chunk or more, with pages of their own; equal hashes stay together."""
        parts = 1 if len(whole) <= 2 * self.wanted else -(-len(whole) // self.wanted)
        places = whole.first + np.arange(parts + 1) * len(whole) // parts
        places[1:-1] = np.searchsorted(hashes, hashes[places[1:-1]])
        places = np.unique(places)
        if len(places) < 2:
            return [whole]
        starts = [whole.start, *hashes[places[1:-1]].tolist()]
        pages = [whole.page, *[0] * (len(starts) - 1)]
        return [Chunk(*one) for one in zip(starts, pages, places[:-1].tolist(), places[1:].tolist(), strict=True)]

    def new_page(self) -> int:
        """The number of a page that is not there yet."""
        self.next_page += 1
        return self.next_page - 1

    def put(self, rows: Ints, same: list[int]) -> None:
        """The ranges from now on: those that were written, and those that stay as they are."""
        is_loaded = np.concatenate([np.ones(len(rows), bool), self.is_loaded[same]])
        both = np.concatenate([rows.reshape(-1, self.width), self.rows[same]])
        order = np.argsort(both[:, START], kind="stable")
        self.rows, self.is_loaded = both[order], is_loaded[order]
        self.is_changed, self.changes = np.zeros(len(both), bool), 0
