"""The meaning of the core language as a program to read.

Written from the language's description alone, slow and plain, sharing no code with the automaton or any
engine. A pattern stands for all its instances, so each definition is run over the whole input once for
each instance; a run keeps everything it has matched; what may come next is found anew at each move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, product
from typing import Any

from penstock.algebra import expressions as x
from penstock.algebra.conditions import bindings
from penstock.algebra.names import evaluation_order, without_lets
from penstock.algebra.node import walk, walk_inside_first
from penstock.algebra.pattern import BARE, Definition, Pattern
from penstock.events.event import Event
from penstock.events.found import Composite, Part
from penstock.events.times import next_clock_time, zone_of
from penstock.testing.truth import Context, evaluate, kind

Instance = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Tree:
    """An expression with repetitions written out; every occurrence of an atom is a tree of its own."""

    expression: x.Expression
    parent: Tree | None
    children: list[Tree] = field(default_factory=list)

    def above(self) -> Iterator[Tree]:
        """This tree and all around it."""
        yield self
        if self.parent:
            yield from self.parent.above()

    def inside(self, other: Tree) -> bool:
        """Whether it is part of the other."""
        return other in self.above()


@dataclass(frozen=True)
class Option:
    """An atom or a ``||`` that a run waits for. ``entered``: the limits that it enters anew.

    Of a ``||``, ``remaining`` are the sides still waited for, ``base`` is the end of the stamp previous to the
    whole, and ``waiting`` says that one side is there.
    """

    tree: Tree
    strong: bool = False
    entered: frozenset[Tree] = frozenset()
    remaining: tuple[int, ...] = ()
    base: int | None = None
    waiting: bool = False


Alternatives = list[tuple[frozenset[Option], bool]]
"""Each a set of options, and whether the expression may end there."""


@dataclass(frozen=True)
class Run:
    """What a run knows: ``previous`` is the end of what it matched last, ``span`` the union of all stamps."""

    options: frozenset[Option]
    previous: int | None = None
    span: tuple[int, int] | None = None
    parts: tuple[Part, ...] = ()
    timers: frozenset[tuple[Tree, int]] = frozenset()
    limits: frozenset[tuple[Tree, tuple[int, int]]] = frozenset()


@dataclass(frozen=True)
class Place:
    """An event or a firing timer, with the composites of used definitions that it completes."""

    key: tuple[int, ...]
    symbols: tuple[Event | Composite, ...]


def reference(
    pattern: Pattern, events: Iterable[Event], *, restart: bool = False, until: int | None = None, zone: str = "UTC"
) -> list[Composite]:
    """All composites of a pattern over a bounded input.

    >>> from penstock import parse
    >>> trace = [Event("A", "s", "1", 1, 1), Event("B", "s", "2", 2, 2)]
    >>> [(c.lo, c.hi) for c in reference(parse("[A] ; [B]"), trace)]
    [(1, 2)]
    """
    ordered: dict[tuple[str, str], Event] = {}
    for event in sorted(events, key=lambda event: event.weak_key):
        ordered.setdefault((event.source, event.id), event)
    places = [Place((event.hi, 0, index), (event,)) for index, event in enumerate(ordered.values())]
    end = max([place.key[0] for place in places] + ([until] if until is not None else []), default=0)
    names = frozenset(definition.name for definition in pattern.definitions)
    ranks = count()
    composites: list[Composite] = []
    for definition in evaluation_order(without_lets(pattern)):
        meaning = Meaning(definition, names, zone, restart, ranks)
        made: dict[tuple[int, ...], list[Composite]] = {}
        for instance in meaning.instances(places):
            for key, composite in meaning.detect(instance, places, end):
                made.setdefault(key, []).append(composite)
                composites.append(composite)
        known = {place.key: place.symbols for place in places}
        known |= {key: (*known.get(key, ()), *found) for key, found in made.items()}
        places = [Place(key, known[key]) for key in sorted(known)]
    rank = {id(event): index for index, event in enumerate(ordered.values())}
    return sorted(composites, key=lambda c: (c.hi, c.lo, c.type.encode(), [rank[id(e)] for e in c.leaves()]))


class Meaning:
    """What one definition (or one side of a ``||``) means."""

    def __init__(
        self, definition: Definition, names: frozenset[str], zone: str, restart: bool, ranks: Iterator[int]
    ) -> None:
        self.name, self.names, self.zone, self.restart = definition.name, names, zone, restart
        self.tree = grow(definition.body, None)
        trees = list(within(self.tree))
        self.sides = {
            id(tree.expression): [
                Meaning(Definition("", side), names, zone, restart, ranks) for side in tree.expression.sides
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
        for place in places:
            for symbol, one in product(place.symbols, self.starting_sets()):
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
                holds = evaluate(condition, known) is True
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

    # Detection

    def detect(
        self, instance: Instance, places: Sequence[Place], end: int
    ) -> Iterator[tuple[tuple[int, ...], Composite]]:
        """The instance's composites over all places, each with the place that completes it."""
        detector = Detector(self, instance)
        last: tuple[int, ...] = ()
        for place in [*places, Place((end + 1,), ())]:
            while due := min(detector.pending(), default=None):
                key = (due[0], 1, 0, due[1])
                if key <= last:
                    key = (due[0], 1, last[2] + 1, due[1])
                if key > place.key:
                    break
                yield from ((key, composite) for composite in detector.step((), due))
                last = key
            yield from ((place.key, composite) for composite in detector.step(place.symbols, None))
            last = place.key

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
            scopes = (above.expression for above in tree.above())
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


class Detector:
    """The runs of one instance of a definition or of a side."""

    def __init__(self, meaning: Meaning, instance: Instance) -> None:
        self.meaning, self.instance = meaning, instance
        self.runs: dict[Run, None] = {}
        self.made: set[Composite] = set()
        self.sides = {key: [Detector(side, instance) for side in sides] for key, sides in meaning.sides.items()}
        alternatives = meaning.first(meaning.tree, self.known(()))
        self.starts = [Run(options) for options, _ in alternatives if options]

    def known(self, parts: Iterable[Part]) -> Context:
        """What conditions can read after a match of these parts."""
        labels: dict[str, list[Event | Composite]] = {}
        for part in parts:
            for label in part.labels:
                labels.setdefault(label, []).append(part.symbol)
        return Context(self.instance, labels, self.meaning.zone)

    def pending(self) -> Iterator[tuple[int, int]]:
        """Instant and rank of each timer that is set."""
        for run in self.runs:
            yield from ((instant, self.meaning.ranks[id(tree.expression)]) for tree, instant in run.timers)
        for sides in self.sides.values():
            for side in sides:
                yield from side.pending()

    def step(self, symbols: Sequence[Event | Composite], due: tuple[int, int] | None) -> list[Composite]:
        """One place: every run moves, fails or ignores it. Returns the composites made."""
        there = {key: [side.step(symbols, due) for side in sides] for key, sides in self.sides.items()}
        kept: dict[Run, None] = {}
        starts: list[Run] = []
        made: dict[Composite, None] = {}
        for run in [*self.runs, *self.starts]:
            started = run.previous is not None
            moves, failed = self.meet(run, symbols, there, due)
            for move in moves:
                composites, runs = self.move(run, *move)
                made |= dict.fromkeys(composites)
                kept |= dict.fromkeys(runs)
            if not started and (not failed or self.meaning.restart):
                starts.append(run)
            elif not moves and not failed:
                kept[run] = None
        self.runs, self.starts = kept, starts
        fresh = [composite for composite in made if composite not in self.made]
        self.made.update(fresh)
        return fresh

    def meet(
        self, run: Run, symbols: Sequence[Any], there: Mapping[int, list[list[Composite]]], due: tuple[int, int] | None
    ) -> tuple[list[tuple[Option, dict[int, Any]]], bool]:
        """The moves that a run makes at a place, and whether it fails there."""
        meaning, known, started = self.meaning, self.known(run.parts), run.previous is not None
        for tree, instant in run.timers:
            if due == (instant, meaning.ranks[id(tree.expression)]):
                tick = Tick(tree.expression.timer, instant)  # type: ignore[attr-defined]
                inside = [option for option in run.options if option.tree.inside(tree.children[1])]
                ticked = [(option, {0: tick}) for option in inside if tick.moves(option.tree.expression)]
                return ticked, not ticked
        moves: list[tuple[Option, dict[int, Any]]] = []
        too_early = False
        for option in run.options:
            atom = option.tree.expression
            if isinstance(atom, x.Parallel):
                base = option.base if option.waiting else run.previous
                found = {side: there[id(atom)][side] for side in option.remaining}
            else:
                assert isinstance(atom, x.Atom)
                base = run.previous
                found = {0: [symbol for symbol in symbols if meaning.in_label(atom, symbol, known)]}
            strictly = option.strong and base is not None
            follow = {side: [s for s in all_ if not strictly or base < s.lo] for side, all_ in found.items()}  # type: ignore[operator]
            too_early |= follow != found
            sides = [side for side in follow if follow[side]]
            if sides:
                choices = product(*(follow[side] for side in sides))
                moves += [(option, dict(zip(sides, choice, strict=True))) for choice in choices]
        if moves or too_early:
            return moves, False
        weak = run.previous is None or not all(option.strong and not option.waiting for option in run.options)
        heard = [symbol for symbol in symbols if weak or run.previous < symbol.lo]
        fails = any(meaning.in_domain(o.tree, symbol, known, started) for o in run.options for symbol in heard)
        return [], fails

    def move(self, run: Run, option: Option, taken: Mapping[int, Any]) -> tuple[list[Composite], list[Run]]:
        """What becomes of a run that moves through an option."""
        tree = option.tree
        labels = frozenset(t.expression.label for t in tree.above() if isinstance(t.expression, x.Labelled))
        parts = [*run.parts]
        for symbol in taken.values():
            if isinstance(tree.expression, x.Parallel):
                parts += [Part(part.symbol, part.labels | labels) for part in symbol.parts]
            elif not isinstance(symbol, Tick):
                parts.append(Part(symbol, labels))
        lo, hi = min(symbol.lo for symbol in taken.values()), max(symbol.hi for symbol in taken.values())
        limits = {}
        for limit in (above for above in tree.above() if isinstance(above.expression, x.Within)):
            since = dict(run.limits).get(limit, (lo, hi)) if limit not in option.entered else (lo, hi)
            limits[limit] = (min(since[0], lo), hi)
            if hi - limits[limit][0] > limit.expression.microseconds:  # type: ignore[attr-defined]
                return [], []
        span = (min(lo, run.span[0]) if run.span else lo, hi)
        fired = {symbol.timer for symbol in taken.values() if isinstance(symbol, Tick)}
        timers = frozenset(one for one in run.timers if one[0].expression.timer not in fired)  # type: ignore[attr-defined]
        moved = Run(frozenset(), hi, span, tuple(parts), timers, frozenset(limits.items()))
        remaining = tuple(side for side in option.remaining if side not in taken)
        if isinstance(tree.expression, x.Parallel) and remaining:
            base = option.base if option.waiting else run.previous
            wait = replace(option, entered=frozenset(), remaining=remaining, base=base, waiting=True)
            return [], [self.timed(replace(moved, options=frozenset({wait})), tree)]
        alternatives = self.meaning.after(tree, self.known(parts))
        composites = [self.composite(moved)] if any(end for _, end in alternatives) else []
        return composites, [self.timed(replace(moved, options=o), tree) for o, _ in alternatives if o]

    def timed(self, run: Run, tree: Tree) -> Run:
        """The run with the timers that it has after a move through ``tree``."""
        timers = {}
        for timing in self.meaning.timings:
            first, second = timing.children
            if any(option.tree.inside(second) for option in run.options):
                if tree.inside(first):
                    timers[timing] = self.meaning.deadline(timing.expression.spec, run.previous or 0)  # type: ignore[attr-defined]
                elif timing in dict(run.timers):
                    timers[timing] = dict(run.timers)[timing]
        return replace(run, timers=frozenset(timers.items()))

    def composite(self, run: Run) -> Composite:
        """The composite that a run completes."""
        known = self.known(run.parts)
        selected = {one.name: evaluate(one.value, known) for one in self.meaning.selected}
        lo, hi = run.span or (0, 0)
        return Composite(self.meaning.name, lo, hi, dict(self.instance) | selected, run.parts)


@dataclass(frozen=True)
class Tick:
    """A time event."""

    timer: str
    instant: int

    @property
    def lo(self) -> int:
        """The instant."""
        return self.instant

    hi = lo

    def moves(self, atom: x.Expression) -> bool:
        """Whether an atom matches the time event."""
        if not isinstance(atom, x.Atom):
            return False
        label, domain = ([one.type for one in sets] for sets in (atom.label, atom.domain))
        return self.timer in domain and self.timer not in label if atom.negated else self.timer in label


def grow(expression: x.Expression, parent: Tree | None) -> Tree:
    """The tree of an expression, with repetitions written out."""
    expression = written_out(expression)
    tree = Tree(expression, parent)
    match expression:
        case x.Concatenation(parts=parts) | x.Sequence(parts=parts) | x.Alternation(choices=parts):
            children = parts
        case x.Timing(first=first, second=second):
            children = (first, second)
        case x.Atom() | x.Parallel():
            children = ()
        case _:
            children = (expression.body,)  # type: ignore[attr-defined]
    tree.children.extend(grow(child, tree) for child in children)
    return tree


def written_out(expression: x.Expression) -> x.Expression:
    """``C+``, ``C{n}`` and ``C{n,m}`` by concatenation, ``C*`` and ``C?``."""
    if not isinstance(expression, x.Repetition) or (expression.low, expression.high) in ((0, None), (0, 1)):
        return expression
    body, parts = expression.body, [expression.body] * expression.low
    more: x.Expression | None = x.Repetition(body, 0, None) if expression.high is None else None
    for _ in range((expression.high or 0) - expression.low):
        more = x.Repetition(x.Concatenation((body, more)) if more else body, 0, 1)
    return x.Concatenation((*parts, more) if more else tuple(parts))


def within(tree: Tree) -> Iterator[Tree]:
    """A tree and all trees inside it."""
    yield tree
    for child in tree.children:
        yield from within(child)


def led(alternatives: Alternatives, strong: bool) -> Alternatives:
    """The alternatives as an operator leads to them: it sets the strength of all their options."""
    return [(frozenset(replace(option, strong=strong) for option in options), e) for options, e in alternatives]


def joined(before: Alternatives, after: Alternatives) -> Alternatives:
    """Where what comes before may be empty, its options and those of each alternative after it are one set."""
    whole: Alternatives = []
    for options, empty in before:
        whole += [(weakest(options | more), end) for more, end in after] if empty else [(options, False)]
    return whole


def weakest(options: frozenset[Option]) -> frozenset[Option]:
    """Of an option reached both strongly and weakly, the weak one."""
    return frozenset(o for o in options if not o.strong or replace(o, strong=False) not in options)
