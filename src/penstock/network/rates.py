"""How many events a second come from each source, and composites from each detector: measured, and told if new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from penstock.events.table import EventTable
from penstock.network.directory import Rates

Key = tuple[str, str]
"""A source and a type."""
WEIGHT = 0.2
"""What the last while counts for in an average; the rest is what was before."""
FACTOR = 3.0
"""A rate is told again when it is so many times as much, or as little, as was told."""
LEAST = 0.01
"""What is rarer than this, a second, is as good as nothing."""


def counted(table: EventTable) -> Counter[Key]:
    """How many events of a table are of each source and type.

    >>> from penstock.events.records import from_dicts
    >>> dict(counted(from_dicts([{"type": "Open", "source": "door-1", "time": at} for at in (5, 6)])))
    {('door-1', 'Open'): 2}
    """
    sources, types = table.field("source"), table.field("type")
    if len(sources.dictionary) == len(types.dictionary) == 1:
        return Counter({(sources.dictionary[0].as_py(), types.dictionary[0].as_py()): len(table)})
    both = np.asarray(sources.indices).astype(np.int64) * len(types.dictionary) + np.asarray(types.indices)
    pairs, counts = np.unique(both, return_counts=True)
    names, kinds = sources.dictionary.to_pylist(), types.dictionary.to_pylist()
    return Counter(
        {
            (names[pair // len(kinds)], kinds[pair % len(kinds)]): count
            for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
        }
    )


class Meter:
    """Averages of rates, from totals that several count of the same; the one who has counted most is right.

    >>> meter = Meter()
    >>> meter.measure([Counter()], 10.0), meter.measure([Counter({("door-1", "Open"): 20})], 10.0)
    ((), (Rates(name='door-1', rates={'Open': 2.0}),))
    >>> meter.measure([Counter({("door-1", "Open"): 41})], 10.0)
    ()
    """

    def __init__(self) -> None:
        self._before: dict[Key, int] = {}
        self._average: dict[Key, float] = {}
        self._told: dict[Key, float] = {}

    def measure(self, totals: Iterable[Mapping[Key, int]], seconds: float) -> tuple[Rates, ...]:
        """So many seconds are over; returns the rates of all sources of which some rate is another one now."""
        every: dict[Key, int] = {}
        for key, count in (pair for one in totals for pair in one.items()):
            every[key] = max(count, every.get(key, 0))
        for key in every.keys() | self._average.keys():
            rate = max(every.get(key, 0) - self._before.get(key, 0), 0) / seconds
            known = self._average.get(key)
            self._average[key] = rate if known is None else (1 - WEIGHT) * known + WEIGHT * rate
        self._before = every
        news = {key[0] for key, rate in self._average.items() if _is_other(self._told.get(key), rate)}
        told = {key: rate for key, rate in self._average.items() if key[0] in news}
        self._told |= told
        return tuple(Rates(source, _of(source, told)) for source in sorted(news))


def _of(source: str, rates: Mapping[Key, float]) -> dict[str, float]:
    return {type: round(rate, 3) for (name, type), rate in sorted(rates.items()) if name == source}


def _is_other(told: float | None, rate: float) -> bool:
    if told is None:
        return True
    less, more = sorted((max(told, LEAST), max(rate, LEAST)))
    return more > FACTOR * less
