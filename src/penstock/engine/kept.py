"""Rows that have numbers and are kept only while something needs them, in pieces as they came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
PIECES = 64
"""So many pieces are kept as they came."""


class Rows(Protocol):
    """Columns of equal length."""

    def __len__(self) -> int: ...

    def take(self, indices: Ints) -> Self:
        """Some of the rows."""


T = TypeVar("T", bound=Rows)


class Kept(Generic[T]):
    """Rows by number. Numbers rise, and those of rows that were let go are not used again.

    ``join`` makes fewer pieces of some that follow each other, where it can.
    """

    def __init__(self, join: Callable[[list[T]], list[T]]) -> None:
        self.pieces: list[T] = []
        self.end = 0
        self._join = join
        self._numbers: list[Ints | None] = []
        self._starts: list[int] = []
        self._count = 0
        self._most = PIECES

    def __len__(self) -> int:
        return self._count

    def add(self, piece: T) -> None:
        """More rows, with the next numbers."""
        if len(piece):
            self._append(piece, None, self.end)
            self.end += len(piece)
            self._count += len(piece)

    def drop(self, piece: T) -> None:
        """Lets the rows go that were added last."""
        if self.pieces and self.pieces[-1] is piece:
            for some in (self.pieces, self._numbers, self._starts):
                some.pop()
            self._count -= len(piece)

    def settle(self) -> None:
        """Where there are many pieces, the short ones at the end become one, so that each row is copied a few times."""
        if len(self.pieces) <= self._most:
            return
        first, length = len(self.pieces) - 1, len(self.pieces[-1])
        while first and len(self.pieces[first - 1]) <= 2 * length:
            first -= 1
            length += len(self.pieces[first])
        numbers = np.concatenate([self._numbers_of(owner) for owner in range(first, len(self.pieces))])
        fewer = self._join(self.pieces[first:])
        ends = np.cumsum([len(piece) for piece in fewer])
        self.pieces[first:] = fewer
        self._numbers[first:] = np.split(numbers, ends[:-1])
        self._starts[first:] = [int(some[0]) for some in np.split(numbers, ends[:-1])]
        self._most = max(PIECES, 2 * len(self.pieces))

    def _numbers_of(self, owner: int) -> Ints:
        known = self._numbers[owner]
        start = self._starts[owner]
        return np.arange(start, start + len(self.pieces[owner])) if known is None else known

    def since(self, number: int) -> list[T]:
        """The pieces that were added when ``number`` was the next one, and later."""
        first = np.searchsorted(self._starts, number) if self._starts else 0
        return self.pieces[int(first) :]

    def locate(self, numbers: Ints) -> Iterator[tuple[T, Ints, Ints]]:
        """Where rows are: for each piece that has some, which of ``numbers`` these are, and their rows there."""
        if len(self.pieces) == 1:
            yield self.pieces[0], np.arange(len(numbers)), self._rows(0, numbers)
            return
        starts = np.asarray(self._starts)
        owners = np.searchsorted(starts, numbers, side="right") - 1
        for owner in np.flatnonzero(np.bincount(owners)).tolist():
            where = np.flatnonzero(owners == owner)
            yield self.pieces[owner], where, self._rows(owner, numbers[where])

    def keep(self, numbers: Ints) -> None:
        """Lets all rows go but these, whose numbers rise."""
        found = [(piece, numbers[where], rows) for piece, where, rows in self.locate(numbers)] if len(numbers) else []
        self.pieces = self._join([piece.take(rows) for piece, _, rows in found])
        ends = np.cumsum([len(piece) for piece in self.pieces])
        self._numbers = list(np.split(numbers, ends[:-1])) if self.pieces else []
        self._starts = [int(some[0]) for some in self._numbers if some is not None]
        self._count = len(numbers)

    def change(self, changed: Callable[[T], T]) -> None:
        """Puts others with the same rows in the place of all pieces."""
        self.pieces = [changed(piece) for piece in self.pieces]

    def put(self, pieces: Sequence[tuple[Ints, T]], end: int) -> None:
        """Rows with their numbers, as they were saved; the next one will be ``end``."""
        self.end = end
        self.merge(pieces, end)

    def merge(self, pieces: Sequence[tuple[Ints, T]], before: int) -> None:
        """More rows with their numbers, all less than ``before``; some may be there already.

        Pieces that were added when ``before`` was the next number, and later, stay as they are.
        """
        if not sum(len(some) for some, _ in pieces):
            return
        first = int(np.searchsorted(self._starts, before))
        after, numbers, starts = self.pieces[first:], self._numbers[first:], self._starts[first:]
        old = [(self._numbers_of(number), self.pieces[number]) for number in range(first)]
        both = [(some, piece) for some, piece in [*old, *pieces] if len(some)]
        self._lay([some for some, _ in both], self._join([piece for _, piece in both]))
        self.pieces, self._numbers, self._starts = self.pieces + after, self._numbers + numbers, self._starts + starts
        self._count = sum(map(len, self.pieces))

    def _lay(self, numbers: Sequence[Ints], pieces: list[T]) -> None:
        """Puts rows into the order of their numbers: one piece for each stretch whose rows come from one."""
        every, order = np.unique(np.concatenate(numbers), return_index=True)
        ends = np.cumsum([len(piece) for piece in pieces])
        sources = np.searchsorted(ends, order, side="right")
        cuts = np.flatnonzero(np.diff(sources)) + 1
        self.pieces, self._numbers = [], []
        for some in np.split(np.arange(len(order)), cuts):
            source = int(sources[some[0]])
            begin = int(ends[source]) - len(pieces[source])
            self.pieces.append(pieces[source].take(order[some] - begin))
            self._numbers.append(every[some])
        self._starts = [int(some[0]) for some in self._numbers if some is not None]

    def as_it_is(self) -> Kept[T]:
        """The rows that are kept now, whatever is added or let go later."""
        same: Kept[T] = Kept(self._join)
        same.pieces, same._numbers, same._starts = [*self.pieces], [*self._numbers], [*self._starts]
        same.end, same._count = self.end, self._count
        return same

    def _append(self, piece: T, numbers: Ints | None, start: int) -> None:
        self.pieces.append(piece)
        self._numbers.append(numbers)
        self._starts.append(start)

    def _rows(self, owner: int, numbers: Ints) -> Ints:
        known, start = self._numbers[owner], self._starts[owner]
        if known is None:
            return numbers - start if start else numbers
        return np.searchsorted(known, numbers)


def by_owner(owners: Ints) -> Iterator[tuple[int, Ints]]:
    """Each owner with the places where it stands; the lowest owner is -2.

    >>> [(owner, places.tolist()) for owner, places in by_owner(np.array([0, -1, 0]))]
    [(-1, [1]), (0, [0, 2])]
    """
    for owner in (np.flatnonzero(np.bincount(owners + 2)) - 2).tolist():
        is_there = owners == owner
        yield owner, np.arange(len(owners)) if is_there.all() else np.flatnonzero(is_there)


def ranges(starts: Ints, counts: Ints) -> Ints:
    """The numbers from each start on, as many as counted, one after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    numbers: Ints = np.arange(total) + np.repeat(starts - (ends - counts), counts)
    return numbers


def joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Arrays one after the other, without a copy if there is only one."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
