"""The least of many places, kept while some of them move: a tree in two arrays, changed level by level."""

from __future__ import annotations

import numpy as np

from penstock.ordering.places import FAR, Ints


class Lowest:
    """The end and beginning of a stamp for each number, and the least of them.

    A change touches only the path from a number to the root, so that a million numbers cost as little as a few.

    >>> lowest = Lowest()
    >>> lowest.set(np.array([0, 1, 2]), np.array([7, 5, 5]), np.array([7, 4, 3]))
    >>> lowest.least()
    (5, 3)
    """

    def __init__(self) -> None:
        self.room = 1
        self._ends: Ints = np.full(2, FAR)
        self._beginnings: Ints = np.full(2, FAR)

    def set(self, numbers: Ints, ends: Ints, beginnings: Ints) -> None:
        """Changes some, which are all different."""
        if not len(numbers):
            return
        self._make_room(int(numbers.max()) + 1)
        self._ends[self.room + numbers], self._beginnings[self.room + numbers] = ends, beginnings
        self._settle(numbers + self.room)

    def drop(self, number: int) -> None:
        """Stands in nobody's way any more."""
        self.set(np.array([number]), np.array([FAR]), np.array([FAR]))

    def least(self) -> tuple[int, int]:
        """The least end, and the least beginning with that end."""
        return int(self._ends[1]), int(self._beginnings[1])

    def ends(self, numbers: Ints | slice) -> Ints:
        """The ends of some."""
        return self._ends[self.room :][numbers]

    def beginnings(self, numbers: Ints | slice) -> Ints:
        """The beginnings of some."""
        return self._beginnings[self.room :][numbers]

    def holding(self) -> Ints:
        """The numbers that are the least, found from the root down.

        >>> lowest = Lowest()
        >>> lowest.set(np.arange(4), np.array([2, 1, 3, 1]), np.array([0, 0, 0, 0]))
        >>> lowest.holding().tolist()
        [1, 3]
        """
        nodes = np.array([1])
        while nodes[0] < self.room:
            children = np.concatenate([2 * nodes, 2 * nodes + 1])
            least = (self._ends[children] == self._ends[1]) & (self._beginnings[children] == self._beginnings[1])
            nodes = children[least]
        return np.sort(nodes - self.room)

    def _settle(self, nodes: Ints) -> None:
        while len(nodes) and nodes[0] > 1:
            nodes = np.unique(nodes >> 1)
            left, right = 2 * nodes, 2 * nodes + 1
            ends, beginnings = self._ends, self._beginnings
            tied = ends[left] == ends[right]
            first = (ends[left] < ends[right]) | (tied & (beginnings[left] <= beginnings[right]))
            winner = np.where(first, left, right)
            ends[nodes], beginnings[nodes] = ends[winner], beginnings[winner]

    def _make_room(self, count: int) -> None:
        if count <= self.room:
            return
        room = 1 << (count - 1).bit_length()
        leaves = [self._ends[self.room :], self._beginnings[self.room :]]
        self._ends, self._beginnings = np.full(2 * room, FAR), np.full(2 * room, FAR)
        self._ends[room : room + self.room], self._beginnings[room : room + self.room] = leaves
        self.room = room
        self._settle(np.arange(room, 2 * room))
