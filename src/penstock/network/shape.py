"""What a detector's record means: which definitions it detects itself, and what it must hear."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from penstock.algebra.conditions import Condition, Or
from penstock.algebra.expressions import DescribableSet
from penstock.algebra.names import primitive_types, uses_any_type
from penstock.algebra.node import walk
from penstock.algebra.pattern import Pattern
from penstock.engine.division import Division
from penstock.filters.split import split
from penstock.languages.core.parser import parse_syntax
from penstock.languages.core.printer import print_condition
from penstock.network.decomposition import Decomposition, units
from penstock.network.directory import Detector, Directory, EventInput

KNOWN = 1 << 14
"""Of so many patterns it is remembered what they mean."""


@lru_cache(KNOWN)
def pattern_of(text: str) -> Pattern:
    """A detector's pattern; it was checked when its subscription was planned."""
    return parse_syntax(text)


def division_of(detector: Detector) -> Division:
    """How the engine of a detector divides its pattern.

    >>> from penstock.network.directory import PartInput
    >>> text = "Met := [A] ; [B]\\n[Met] ; [C]"
    >>> division_of(Detector("d", text, ("composite",), "n", parts=(PartInput("Met", "e"),))).elsewhere
    frozenset({'Met'})
    """
    every = {one.name for one in pattern_of(detector.pattern).definitions}
    return Division(frozenset(every - {*own_of(detector)}), frozenset(detector.inlined), publishes=True)


def own_of(detector: Detector) -> tuple[str, ...]:
    """The definitions that a detector detects itself."""
    return _own(detector.pattern, detector.gives, tuple(one.definition for one in detector.parts))


@lru_cache(KNOWN)
def _own(text: str, gives: tuple[str, ...], parts: tuple[str, ...]) -> tuple[str, ...]:
    [unit, *_] = units(Decomposition(pattern_of(text)), [gives, *([one] for one in parts)])
    return unit.own


def events_of(text: str, own: tuple[str, ...], directory: Directory) -> tuple[EventInput, ...]:
    """What of the input the definitions that a detector detects itself can meet, and who publishes it."""
    heard = _heard(text, own)
    if heard is None:
        return tuple(EventInput(type, directory.publishers(type)) for type in directory.published)
    return tuple(EventInput(type, directory.publishers(type), condition) for type, condition in heard)


@lru_cache(KNOWN)
def _heard(text: str, own: tuple[str, ...]) -> tuple[tuple[str, str | None], ...] | None:
    """Types and filters; None for all types."""
    pattern = pattern_of(text)
    found = Pattern(tuple(one for one in pattern.definitions if one.name in own))
    if any(uses_any_type(one) for one in found.definitions):
        return None
    types = primitive_types(found) - {one.name for one in pattern.definitions}
    return tuple((type, _filter(found, type)) for type in sorted(types))


def _filter(pattern: Pattern, type: str) -> str | None:
    """What all events of a type fulfil that can be met, as far as one event decides; None if that is nothing."""
    plain = [split(one.filter).plain for one in _sets(pattern) if one.type == type]
    wanted: list[Condition] = list(dict.fromkeys(one for one in plain if one is not None))
    if len([one for one in plain if one is None]) or not wanted:
        return None
    return print_condition(wanted[0] if len(wanted) == 1 else Or(tuple(wanted)))


def _sets(pattern: Pattern) -> Iterator[DescribableSet]:
    for definition in pattern.definitions:
        yield from (one for one in walk(definition) if isinstance(one, DescribableSet))
