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
        if len(numbers) == 1:
            self.set_one(int(numbers[0]), int(ends[0]), int(beginnings[0]))
            return
        self._make_room(int(numbers.max()) + 1)
        self._ends[self.room + numbers], self._beginnings[self.room + numbers] = ends, beginnings
        self._settle(numbers + self.room)

    def set_one(self, number: int, end: int, beginning: int) -> None:
        """Changes one; it stops where the least of a part of the tree stays what it is."""
        self._make_room(number + 1)
        all_ends, all_beginnings = self._ends, self._beginnings
        node = self.room + number
        all_ends[node], all_beginnings[node] = end, beginning
        while node > 1:
            other = node ^ 1
            here = all_ends.item(node), all_beginnings.item(node)
            there = all_ends.item(other), all_beginnings.item(other)
            node >>= 1
            least = min(here, there)
            if least == (all_ends.item(node), all_beginnings.item(node)):
                break
            all_ends[node], all_beginnings[node] = least

    def at(self, number: int) -> tuple[int, int]:
        """The end and beginning of one."""
        return self._ends.item(self.room + number), self._beginnings.item(self.room + number)

    def drop(self, number: int) -> None:
        """Stands in nobody's way any more."""
        self.set_one(number, FAR, FAR)

    def least(self) -> tuple[int, int]:
        """The least end, and the least beginning with that end."""
        return self._ends.item(1), self._beginnings.item(1)

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
        nodes = np.array([self._only_holding()])
        while nodes[0] < self.room:
            children = np.concatenate([2 * nodes, 2 * nodes + 1])
            least = (self._ends[children] == self._ends[1]) & (self._beginnings[children] == self._beginnings[1])
            nodes = children[least]
        return np.sort(nodes - self.room)

    def _only_holding(self) -> int:
        """The lowest node of the tree that has all that are the least below it; mostly there is one."""
        node, least = 1, self.least()
        while node < self.room:
            left, right = (
                (self._ends.item(child), self._beginnings.item(child)) == least for child in (2 * node, 2 * node + 1)
            )
            if left and right:
                break
            node = 2 * node + right
        return node

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
