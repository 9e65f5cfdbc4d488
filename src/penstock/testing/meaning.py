"""What a definition means to the reference: its instances, what may come first or next, and who is listened to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from typing import Any, Literal, get_args

from penstock.algebra import expressions as x
from penstock.algebra.conditions import Parameter, bindings
from penstock.algebra.node import walk, walk_inside_first
from penstock.algebra.pattern import BARE, Definition
from penstock.events.event import Event
from penstock.events.found import Composite
from penstock.events.times import next_clock_time, zone_of
from penstock.testing.runs import Place
from penstock.testing.trees import Alternatives, Option, Tree, grow, joined, led, within
from penstock.testing.truth import Context, evaluate, kind

Instance = Mapping[str, Any]
Using = Literal["continuous", "chronicle", "recent", "cumulative"]
USING: tuple[Using, ...] = get_args(Using)
"""The contexts: which runs a composite uses up."""


@dataclass(frozen=True)
class Choices:
    """How a pattern is detected. ``runs_per_instance`` and ``age`` (in microseconds) limit what is kept."""

    restart: bool = False
    zone: str = "UTC"
    context: Using = "continuous"
    runs_per_instance: int | None = None
    age: int | None = None


class Meaning:
    """What one definition (or one side of a ``||``) means."""

    def __init__(self, definition: Definition, names: frozenset[str], choices: Choices, ranks: Iterator[int]) -> None:
        self.name, self.names, self.choices, self.zone = definition.name, names, choices, choices.zone
        self.tree = grow(definition.body, None, count())
        trees = list(within(self.tree))
        self.sides = {
            id(tree.expression): [
                Meaning(Definition("", side), names, choices, ranks) for side in tree.expression.sides
            ]
            for tree in trees
            if isinstance(tree.expression, x.Parallel)
        }
        self.timings = [tree for tree in trees if isinstance(tree.expression, x.Timing)]
        self.ranks: dict[int, int] = {}
        own = {id(tree.expression) for tree in self.timings}
        for node in walk_inside_first(definition.body):
            if id(node) in own:
                self.ranks[id(node)] = next(ranks)
        self.timers = frozenset(tree.expression.timer for tree in self.timings)  # type: ignore[attr-defined]
        selects = [node for node in walk(definition.body) if isinstance(node, x.Select)]
        self.selected = [value for select in selects for value in select.values]

    # Instances

    def starting_sets(self) -> Iterator[x.DescribableSet]:
        """The sets that can start a match, those of a ``||``'s sides among them."""
        for options, _ in self.first(self.tree, Context({}, {}, self.zone)):
            for option in options:
                atom = option.tree.expression
                if isinstance(atom, x.Atom):
                    yield from atom.domain if atom.negated else atom.label
                else:
                    for side in self.sides[id(atom)]:
                        yield from side.starting_sets()

    def instances(self, places: Sequence[Place]) -> list[Instance]:
        """One for each combination of values that something in the input could start a match with."""
        found: dict[Any, Instance] = {}
        starting = list(self.starting_sets())
        for place in places:
            for symbol, one in product(place.symbols, starting):
                if one.type in (None, symbol.type):
                    bound = bindings(one.filter)
                    values = {name: Context.read(symbol, bound[name]) for name in sorted(bound)}
                    if None not in values.values():
                        found.setdefault(tuple((name, kind(v), v) for name, v in values.items()), values)
        return list(found.values())

    # What may come first, and what may follow

    def first(self, tree: Tree, known: Context) -> Alternatives:
        """What may come first in a part of the pattern; strengths are set by what leads to it."""
        match tree.expression:
            case x.Atom():
                return [(frozenset({Option(tree)}), False)]
            case x.Parallel(sides=sides):
                return [(frozenset({Option(tree, remaining=tuple(range(len(sides))))}), False)]
            case x.Alternation():
                return [one for child in tree.children for one in self.first(child, known)]
            case x.Repetition():
                return [(options, True) for options, _ in self.first(tree.children[0], known)]
            case x.Concatenation() | x.Sequence():
                whole: Alternatives = [(frozenset(), True)]
                for child in tree.children:
                    whole = joined(whole, self.first(child, known))
                return whole
            case x.Where(condition=condition):
                is_open = not known.parameters and any(isinstance(node, Parameter) for node in walk(condition))
                holds = is_open or evaluate(condition, known) is True  # open: in some instance it may hold
                return [(options, empty and holds) for options, empty in self.first(tree.children[0], known)]
            case x.Within():
                inner = self.first(tree.children[0], known)
                enter = frozenset({tree})
                return [(frozenset(replace(o, entered=o.entered | enter) for o in os), e) for os, e in inner]
            case _:
                return self.first(tree.children[0], known)

    def after(self, tree: Tree, known: Context) -> Alternatives:
        """What may follow a part of the pattern, found from the operators around it."""
        parent = tree.parent
        if parent is None:
            return [(frozenset(), True)]
        match parent.expression:
            case x.Concatenation() | x.Sequence() | x.Timing():
                strong = isinstance(parent.expression, x.Sequence)
                whole: Alternatives = [(frozenset(), True)]
                for sibling in parent.children[parent.children.index(tree) + 1 :]:
                    whole = joined(whole, led(self.first(sibling, known), strong))
                return joined(whole, self.after(parent, known))
            case x.Repetition(high=None):
                again = led(self.first(tree, known), strong=False)
                return joined([(options, True) for options, _ in again], self.after(parent, known))
            case x.Where(condition=condition) if evaluate(condition, known) is not True:
                return [(frozenset(), False)]
            case _:
                return self.after(parent, known)

    # Membership

    def contains(self, sets: Iterable[x.DescribableSet], symbol: Event | Composite, known: Context) -> bool:
        """Whether a symbol is in one of the sets. A defined name means composites, a timer's name no event."""
        return any(
            (one.type == symbol.type or (one.type is None and symbol.type != BARE))
            and (one.type not in self.names or isinstance(symbol, Composite))
            and one.type not in self.timers
            and (one.filter is None or evaluate(one.filter, known.at(symbol)) is True)
            for one in sets
        )

    def in_label(self, atom: x.Atom, symbol: Event | Composite, known: Context) -> bool:
        """Whether an atom matches a symbol."""
        inside = self.contains(atom.label, symbol, known)
        return self.contains(atom.domain, symbol, known) and not inside if atom.negated else inside

    def in_domain(self, tree: Tree, symbol: Event | Composite, known: Context, started: bool) -> bool:
        """Whether an option listens to a symbol: by its own domain or, once started, by a scope."""
        atom = tree.expression
        sets = [*atom.label, *atom.domain] if isinstance(atom, x.Atom) else []
        if isinstance(atom, x.Atom) and atom.negated:
            sets = list(atom.domain)
        if started:
            scopes = (above.expression for above in tree.above)
            sets += [one for scope in scopes if isinstance(scope, x.Scope) for one in scope.domain]
        return self.contains(sets, symbol, known)

    def deadline(self, spec: x.TimeSpec, hi: int) -> int:
        """When a timer fires that is set by something that ends at ``hi``."""
        match spec:
            case x.After(microseconds=duration):
                return hi + duration
            case x.AtInstant(microseconds=instant):
                return max(hi, instant)
            case x.AtClock(microseconds=clock):
                minutes, seconds = divmod(clock, 60_000_000)
                return next_clock_time(hi, minutes // 60, minutes % 60, seconds, zone_of(self.zone))
        raise TypeError(type(spec).__name__)
