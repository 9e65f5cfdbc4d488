"""Whether subscribers live: each says so every now and then, and the nodes count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.network.directory import Subscription


class Leases:
    """Counts how often a node has looked at subscribers that had said nothing since the time before.

    Looks are counted and not seconds: a node that was held up itself has not looked, and removes nobody's subscription.
    ``beat`` is how many seconds are between two looks.

    >>> leases = Leases(beat=1.0)
    >>> leased = Subscription("s", "[A]", "office", client="c", lease=2_000_000)
    >>> durable = Subscription("t", "[A]", "office")
    >>> [[one.name for one in leases.over([leased, durable], {"c": 7})] for _ in range(3)]
    [[], [], ['s']]
    >>> leases.over([leased, durable], {"c": 8})
    []
    """

    def __init__(self, beat: float) -> None:
        self._beat = beat
        self._seen: dict[str, tuple[int, int]] = {}

    def over(self, subscriptions: Iterable[Subscription], heard: Mapping[str, int]) -> list[Subscription]:
        """Looks once; the subscriptions whose clients have been silent for longer than their lease.

        ``heard`` has a number for each client, another one whenever it has said something.
        """
        leased = [one for one in subscriptions if one.lease > 0]
        seen: dict[str, tuple[int, int]] = {}
        for client in {one.client for one in leased}:
            number = heard.get(client, 0)
            before, looks = self._seen.get(client, (-1, 0))
            seen[client] = (number, looks + 1 if before == number else 0)
        self._seen = seen
        return [one for one in leased if seen[one.client][1] * self._beat * 1_000_000 >= one.lease]
