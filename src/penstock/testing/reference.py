"""The meaning of the core language as a program to read.

Written from the language's description alone, slow and plain, sharing no code with the automaton or any
engine. A pattern stands for all its instances, so each definition is run over the whole input once for
each instance; a run keeps everything it has matched; what may come next is found anew at each move
(`penstock.testing.meaning`, `penstock.testing.stepping`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from penstock.algebra.names import evaluation_order, without_lets
from penstock.algebra.pattern import Pattern
from penstock.events.event import Event
from penstock.events.found import Composite, Part
from penstock.testing.meaning import Choices, Meaning
from penstock.testing.runs import Incomplete, Place
from penstock.testing.stepping import Detector


@dataclass(frozen=True)
class Outcome:
    """What becomes of a pattern's runs."""

    composites: list[Composite]
    incomplete: list[Incomplete]


def reference(
    pattern: Pattern, events: Iterable[Event], *, until: int | None = None, **choices: Any
) -> list[Composite]:
    """All composites of a pattern over a bounded input; the choices are those of `penstock.testing.meaning.Choices`.

    >>> from penstock import parse
    >>> trace = [Event("A", "s", "1", 1, 1), Event("A", "s", "2", 2, 2), Event("B", "s", "3", 3, 3)]
    >>> [(c.lo, c.hi) for c in reference(parse("[A] ; [B]"), trace)]
    [(1, 3), (2, 3)]
    >>> [(c.lo, c.hi) for c in reference(parse("[A] ; [B]"), trace, context="chronicle")]
    [(1, 3)]
    """
    return outcome(pattern, events, until=until, **choices).composites


def incomplete(
    pattern: Pattern, events: Iterable[Event], *, until: int | None = None, **choices: Any
) -> list[Incomplete]:
    """The runs of the pattern's definitions that had matched something and came to nothing.

    >>> from penstock import parse
    >>> trace = [Event("A", "s", "1", 1, 1), Event("C", "s", "2", 2, 2)]
    >>> [(run.reason, run.at) for run in incomplete(parse("[A] ; [B in {B, C}]"), trace)]
    [('failed', 2)]
    """
    return outcome(pattern, events, until=until, **choices).incomplete


def outcome(pattern: Pattern, events: Iterable[Event], *, until: int | None = None, **choices: Any) -> Outcome:
    """Composites and incomplete runs."""
    chosen = Choices(**choices)
    ordered: dict[tuple[str, str], Event] = {}
    for event in sorted(events, key=lambda event: event.weak_key):
        ordered.setdefault((event.source, event.id), event)
    rank = {id(event): index for index, event in enumerate(ordered.values())}
    places = [Place((event.hi, 0, index), (event,)) for index, event in enumerate(ordered.values())]
    end = max([place.key[0] for place in places] + ([until] if until is not None else []), default=0)
    names = frozenset(definition.name for definition in pattern.definitions)
    ranks = count()
    composites: list[Composite] = []
    ended: dict[Incomplete, None] = {}

    def by_stamp(one: Composite | Incomplete) -> tuple[Any, ...]:
        return one.hi, one.lo, one.type.encode(), [rank[id(leaf)] for leaf in leaves(one.parts)]

    for definition in evaluation_order(without_lets(pattern)):
        meaning = Meaning(definition, names, chosen, ranks)
        made: dict[tuple[int, ...], list[Composite]] = {}
        order = {id(symbol): n for n, symbol in enumerate(symbol for place in places for symbol in place.symbols)}
        for instance in meaning.instances(places):
            detector = Detector(meaning, instance, order)
            for key, composite in detector.detect(places, end):
                made.setdefault(key, []).append(composite)
                composites.append(composite)
            ended |= dict.fromkeys(detector.ended)
        known = {place.key: place.symbols for place in places}
        known |= {key: (*known.get(key, ()), *sorted(found, key=by_stamp)) for key, found in made.items()}
        places = [Place(key, known[key]) for key in sorted(known)]
    return Outcome(sorted(composites, key=by_stamp), sorted(ended, key=lambda one: (one.at, by_stamp(one))))


def leaves(parts: Iterable[Part]) -> Iterator[Event]:
    """The primitive events that parts are made of."""
    for part in parts:
        yield from part.symbol.leaves() if isinstance(part.symbol, Composite) else (part.symbol,)
