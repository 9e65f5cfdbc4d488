"""Patterns under names that everybody gives to the same: equal definitions are found by name and detected once.

A definition's shared name is made of a digest of its one form (`penstock.network.same`), in which parameters, labels
and timers are numbered and the definitions that it uses have their shared names. What a subscriber calls all of this is
kept beside (`penstock.network.plan.Names`), and put back where composites are delivered (`penstock.network.naming`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.names import evaluation_order, used_types, uses_any_type, without_lets
from penstock.algebra.node import Node, walk
from penstock.algebra.pattern import Definition, Pattern
from penstock.automaton.compile import parameters
from penstock.detection.kinds import kinds_of
from penstock.languages.core.printer import print_expression, print_pattern
from penstock.network.decomposition import Decomposition
from penstock.network.plan import Names
from penstock.network.same import rebuilt, same_expression

TRIED = 4
"""Of so many parameters all orders are tried, so that none depends on how a pattern was written."""
DIGITS = 16


@dataclass(frozen=True)
class Normal:
    """A pattern under shared names. ``names`` are these by the pattern's own, ``own`` says what it calls everything.

    >>> from penstock import parse
    >>> one = normal(parse("Met := [A(x = $a)] ; [B(y = $a AND v > 3)]"))
    >>> two = normal(parse("Pair := [A(x = $k)] ; [B(3 < v AND $k = y)]"))
    >>> one.names["Met"] == two.names["Pair"], two.own[two.names["Pair"]].attributes
    (True, {'p1': 'k'})
    """

    pattern: Pattern
    names: Mapping[str, str]
    own: Mapping[str, Names]

    @property
    def text(self) -> str:
        """The pattern as text."""
        return print_pattern(self.pattern)


@dataclass(frozen=True)
class _Renaming:
    """What things are called instead."""

    types: Mapping[str, str]
    attributes: Mapping[str, Mapping[str, str]]
    parameters: Mapping[str, str]
    labels: Mapping[str, str]

    def of(self, node: Any, type: str | None = None) -> Any:
        """A node with all names replaced; ``type`` is that of the set in whose filter it stands."""
        match node:
            case x.DescribableSet(type=name, filter=condition):
                inner = None if condition is None else self.of(condition, name or "")
                return replace(node, type=self.types.get(name or "", name), filter=inner)
            case c.Attribute(name=name):
                return replace(node, name=self.attributes.get(type or "", {}).get(name, name))
            case c.Parameter(name=name):
                return replace(node, name=self.parameters.get(name, name))
            case c.LabelRead(label=label) | c.Aggregate(label=label):
                return replace(node, label=self.labels.get(label, label))
            case x.Labelled(label=label, body=body):
                return replace(node, label=self.labels.get(label, label), body=self.of(body))
            case x.Timing(timer=timer):
                inner = rebuilt(node, self.of)
                return replace(inner, timer=self.types.get(timer, timer))
        return rebuilt(node, lambda child: self.of(child, type))


def normal(pattern: Pattern, context: str = "continuous") -> Normal:
    """The pattern under shared names."""
    plain = without_lets(pattern)
    if any(uses_any_type(one) for one in plain.definitions):
        return _as_it_is(plain)
    read = {one.attribute for one in _nodes(plain) if isinstance(one, c.LabelRead | c.Aggregate)}
    kinds = kinds_of(plain)
    items: list[Definition] = []
    names: dict[str, str] = {}
    attributes: dict[str, dict[str, str]] = {}
    own: dict[str, Names] = {}
    for definition in evaluation_order(plain):
        known = _Renaming(names, attributes, {}, {})
        kept = bool(read & set(parameters(definition.body)))
        body, numbered = _numbered(known.of(definition.body), context == "continuous", kept)
        name = _unused(f"c{_digest(print_expression(body))}", own)
        items.append(Definition(name, body))
        names[definition.name] = name
        attributes[definition.name] = dict(numbered.parameters)
        back = {shared: own_name for own_name, shared in numbered.parameters.items()}
        ordered = {numbered.parameters.get(one, one): one for one in kinds.names(definition.name)}
        labels = {shared: label for label, shared in numbered.labels.items()}
        own[name] = Names(definition.name, {one: back.get(one, one) for one in ordered}, labels)
    return Normal(Pattern(tuple(items)), names, own)


def _as_it_is(plain: Pattern) -> Normal:
    """What `*` means depends on the names of all definitions, so these are kept."""
    names = {one.name: one.name for one in plain.definitions}
    kinds = kinds_of(plain)
    own = {name: Names(name, {one: one for one in kinds.names(name)}, _labels(plain)) for name in names}
    return Normal(plain, names, own)


def _labels(pattern: Pattern) -> dict[str, str]:
    return {one.label: one.label for one in _nodes(pattern) if isinstance(one, x.Labelled)}


def shared_name(part: Definition, context: str = "continuous") -> str:
    """The name that a part which was factored out of a pattern under shared names has for everybody."""
    return _part(part, context)[0]


def _part(part: Definition, context: str) -> tuple[str, x.Expression, _Renaming]:
    """A part's labels are those of the whole, so they stay."""
    body, renaming = _numbered(part.body, context == "continuous", kept=False, labelled=True)
    return f"c{_digest(print_expression(body))}", body, renaming


def with_shared_parts(whole: Decomposition, context: str = "continuous") -> Decomposition:
    """A divided pattern under shared names, whose inlined parts get theirs; equal parts become one.

    >>> from penstock import parse
    >>> from penstock.network.decomposition import decompose
    >>> texts = ["[A(v = $a)] ; [B(v = $a)] ; [C]", "[A(v = $z)] ; [B(v = $z)] ; [D]"]
    >>> one, two = (with_shared_parts(decompose(normal(parse(text)).pattern)) for text in texts)
    >>> one.inlined == two.inlined
    True
    """
    types: dict[str, str] = {}
    attributes: dict[str, Mapping[str, str]] = {}
    items: dict[str, Definition] = {}
    inlined: dict[str, None] = {}
    for definition in whole.pattern.definitions:
        known = replace(definition, body=_Renaming(types, attributes, {}, {}).of(definition.body))
        if definition.name not in whole.inlined:
            items[definition.name] = known
            continue
        undivided = replace(definition, body=whole.undivided[definition.name])
        name, _, renaming = _part(undivided, context)
        own = replace(renaming, types={**renaming.types, **types}, attributes=attributes)
        items.setdefault(name, Definition(name, own.of(definition.body)))
        types[definition.name], attributes[definition.name] = name, renaming.parameters
        inlined[name] = None
    return replace(whole, pattern=Pattern(tuple(items.values())), inlined=tuple(inlined), undivided={})


def _nodes(pattern: Pattern) -> Iterator[Node]:
    for definition in pattern.definitions:
        yield from walk(definition)


def _numbered(body: x.Expression, reorder: bool, kept: bool, labelled: bool = False) -> tuple[x.Expression, _Renaming]:
    """A body in its one form, with its own names numbered; of all ways, the one whose text comes first."""
    given = parameters(body)
    found: list[tuple[str, x.Expression, _Renaming]] = []
    selected = {one.name for one in walk(body) if isinstance(one, x.Selected)}
    for renaming in _ways(given, kept, _free("p", selected)):
        first = same_expression(renaming.of(body), reorder)
        second = _with_numbers(first, renaming, labelled)
        changed = same_expression(second.of(body), reorder)
        found.append((print_expression(changed), changed, second))
    _, whole, renaming = min(found, key=lambda one: one[0])
    return whole, renaming


def _free(letter: str, taken: Iterable[str]) -> str:
    """The beginning of names none of which is taken."""
    names = set(taken)
    while any(one.startswith(letter) and one[len(letter) :].isdigit() for one in names):
        letter += "_"
    return letter


def _ways(given: tuple[str, ...], kept: bool, prefix: str) -> Iterator[_Renaming]:
    """Numbers for parameters, in all orders if there are few."""
    if kept:
        yield _Renaming({}, {}, {one: one for one in given}, {})
        return
    for order in permutations(given) if len(given) <= TRIED else (given,):
        yield _Renaming({}, {}, {one: f"{prefix}{number}" for number, one in enumerate(order, 1)}, {})


def _with_numbers(body: x.Expression, renaming: _Renaming, labelled: bool) -> _Renaming:
    """Labels and timers numbered as they come in a body whose parts are in order; ``labelled`` keeps labels."""
    labels = dict.fromkeys(one.label for one in walk(body) if isinstance(one, x.Labelled))
    timers = dict.fromkeys(one.timer for one in walk(body) if isinstance(one, x.Timing))
    prefix = _free("T", used_types(body) - timers.keys())
    return replace(
        renaming,
        types={one: f"{prefix}{number}" for number, one in enumerate(timers, 1)},
        labels={one: one if labelled else f"x{number}" for number, one in enumerate(labels, 1)},
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number behind it where one pattern has two equal definitions: they are types of their own."""
    number = 1
    while (found := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return found
