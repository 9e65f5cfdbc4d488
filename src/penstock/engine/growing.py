"""Arrays that grow at their end, with room to spare, so that little batches cost little."""

from __future__ import annotations

import numpy as np

from penstock.engine.memory import Ints


class Growing:
    """Rows of integers; ``width`` of them each."""

    def __init__(self, width: int = 1, room: int = 64) -> None:
        self._rows: Ints = np.empty((room, width), np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> Ints:
        """All rows, as a view."""
        return self._rows[: self._count]

    @property
    def column(self) -> Ints:
        """The first number of all rows, as a view."""
        return self._rows[: self._count, 0]

    @property
    def address(self) -> int:
        """Where the rows are; good until the next change."""
        return int(self._rows.ctypes.data)

    def append(self, rows: Ints) -> None:
        """More rows; of width 1, numbers."""
        end = self._count + len(rows)
        self._make_room(end)
        self._rows[self._count : end] = rows.reshape(len(rows), self._rows.shape[1])
        self._count = end

    def append_range(self, first: int, last: int) -> None:
        """The numbers from the first one to the one before the last, of width 1."""
        end = self._count + last - first
        self._make_room(end)
        self._rows[self._count : end, 0] = np.arange(first, last)
        self._count = end

    def _make_room(self, end: int) -> None:
        if end > len(self._rows):
            wider: Ints = np.empty((2 * end, self._rows.shape[1]), np.int64)
            wider[: self._count] = self.rows
            self._rows = wider

    def keep(self, kept: Ints) -> None:
        """Forgets all rows but these."""
        some = self._rows[kept]
        self._rows = np.empty((max(64, 2 * len(kept)), some.shape[1]), np.int64)
        self._rows[: len(kept)] = some
        self._count = len(kept)
