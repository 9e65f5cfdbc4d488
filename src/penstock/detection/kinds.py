"""Which types of composites a pattern gives, and which attributes each has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.algebra.expressions import Select
from penstock.algebra.names import without_lets
from penstock.algebra.node import walk
from penstock.algebra.pattern import Definition, Pattern
from penstock.automaton.compile import parameters
from penstock.errors import PatternError, nearest


@dataclass(frozen=True)
class Kinds:
    """The attributes of each type of composite, and all of them in the order in which they always stand."""

    attributes: Mapping[str, frozenset[str]]
    order: tuple[str, ...]

    def names(self, type: str) -> list[str]:
        """The attributes of a type, in order."""
        return [name for name in self.order if name in self.attributes[type]]

    def only(self, wanted: Iterable[str]) -> Kinds:
        """The wanted types; all of them if none is named."""
        types = set(wanted)
        for name in sorted(types - self.attributes.keys()):
            raise self._unknown(name)
        kept = {type: own for type, own in self.attributes.items() if type in types or not types}
        return Kinds(kept, tuple(name for name in self.order if any(name in own for own in kept.values())))

    def _unknown(self, name: str) -> PatternError:
        close = nearest(name, self.attributes)
        listed = f"the pattern defines {', '.join(self.attributes)}"
        return PatternError(
            f"there is no definition `{name}`", hint=f"did you mean `{close}`? {listed}" if close else listed
        )


def kinds_of(pattern: Pattern) -> Kinds:
    """What a pattern's composites have: all definitions' parameters, then all selected values, as in the text.

    >>> from penstock import parse
    >>> kinds = kinds_of(parse("Pair := a: [Open(door = $d)] ; [Close(door = $d)] select by = a.person"))
    >>> kinds.names("Pair")
    ['d', 'by']
    """
    definitions = without_lets(pattern).definitions
    taken = {one.name: parameters(one.body) for one in definitions}
    selected = {one.name: _selected(one) for one in definitions}
    order = dict.fromkeys(name for names in (*taken.values(), *selected.values()) for name in names)
    return Kinds({name: frozenset((*taken[name], *selected[name])) for name in taken}, tuple(order))


def _selected(definition: Definition) -> tuple[str, ...]:
    selects = (node for node in walk(definition.body) if isinstance(node, Select))
    return tuple(one.name for select in selects for one in select.values)
