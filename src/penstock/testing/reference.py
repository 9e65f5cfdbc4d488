"""The meaning of the core language as a program to read.

Written from the language's description alone, slow and plain, sharing no code with the automaton or any
engine. A pattern stands for all its instances, so each definition is run over the whole input once for
each instance; a run keeps everything it has matched; what may come next is found anew at each move.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, product
from math import inf
from typing import Any, Literal, get_args

from penstock.algebra import expressions as x
from penstock.algebra.conditions import Parameter, bindings
from penstock.algebra.names import evaluation_order, without_lets
from penstock.algebra.node import walk, walk_inside_first
from penstock.algebra.pattern import BARE, Definition, Pattern
from penstock.events.event import Event
from penstock.events.found import Composite, Part
from penstock.events.times import next_clock_time, zone_of
from penstock.testing.trees import Alternatives, Option, Tree, grow, in_order, joined, led, within
from penstock.testing.truth import Context, evaluate, kind

Instance = Mapping[str, Any]
Due = tuple[int, int] | None
"""Instant and rank of the timing that fires at a place, if one does."""
Using = Literal["continuous", "chronicle", "recent", "cumulative"]
USING: tuple[Using, ...] = get_args(Using)
"""The contexts: which runs a composite uses up."""
Reason = Literal["failed", "expired", "dropped", "replaced", "open"]


@dataclass(frozen=True)
class Run:
    """What a run knows: ``previous`` is the end of what it matched last, ``span`` the union of all stamps.

    ``began`` is the instant of its first move.
    """

    options: tuple[Option, ...]
    previous: int | None = None
    span: tuple[int, int] = (0, 0)
    parts: tuple[Part, ...] = ()
    timers: frozenset[tuple[Tree, int]] = frozenset()
    limits: frozenset[tuple[Tree, tuple[int, int]]] = frozenset()
    began: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Place:
    """An event or a firing timer, with the composites of used definitions that it completes."""

    key: tuple[int, ...]
    symbols: tuple[Event | Composite, ...]


@dataclass(frozen=True)
class Choices:
    """How a pattern is detected. ``runs_per_instance`` and ``age`` (in microseconds) limit what is kept."""

    restart: bool = False
    zone: str = "UTC"
    context: Using = "continuous"
    runs_per_instance: int | None = None
    age: int | None = None


@dataclass(frozen=True)
class Incomplete:
    """A run that came to nothing: what it had matched, why it ended, and at which instant."""

    type: str
    lo: int
    hi: int
    attributes: Mapping[str, Any] = field(hash=False)
    parts: tuple[Part, ...]
    reason: Reason
    at: int


@dataclass(frozen=True)
class Outcome:
    """What becomes of a pattern's runs."""

    composites: list[Composite]
    incomplete: list[Incomplete]


def reference(
    pattern: Pattern, events: Iterable[Event], *, until: int | None = None, **choices: Any
) -> list[Composite]:
    """All composites of a pattern over a bounded input; the choices are those of `Choices`.

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


class Detector:
    """The runs of one instance of a definition or of a side.

    Runs are in the order in which they started. Each is kept with whether what it has matched made a composite.
    """

    def __init__(self, meaning: Meaning, instance: Instance, order: Mapping[int, int]) -> None:
        self.meaning, self.instance, self.order = meaning, instance, order
        self.runs: dict[Run, bool] = {}
        self.made: set[Composite] = set()
        self.ended: list[Incomplete] = []
        self.sides = {key: [Detector(side, instance, order) for side in sides] for key, sides in meaning.sides.items()}
        alternatives = meaning.first(meaning.tree, self.known(()))
        self.starts = [Run(in_order(options)) for options, _ in alternatives if options]

    def known(self, parts: Iterable[Part]) -> Context:
        """What conditions can read after a match of these parts."""
        labels: dict[str, list[Event | Composite]] = {}
        for part in parts:
            for label in part.labels:
                labels.setdefault(label, []).append(part.symbol)
        return Context(self.instance, labels, self.meaning.zone)

    def detect(self, places: Sequence[Place], end: int) -> Iterator[tuple[tuple[int, ...], Composite]]:
        """The instance's composites over all places, each with the place that completes it."""
        last: tuple[int, ...] = ()
        for place in [*places, Place((end + 1,), ())]:
            while due := min(self.pending(), default=None):
                key = (due[0], 1, 0, due[1])
                if key <= last:
                    key = (due[0], 1, last[2] + 1, due[1])
                if key > place.key:
                    break
                yield from ((key, composite) for composite in self.step(due[0], (), due))
                last = key
            if place.symbols:
                yield from ((place.key, composite) for composite in self.step(place.key[0], place.symbols, None))
            last = place.key
        self.let_go(end)
        for run in self.runs:
            self.end(run, "open", end)

    def pending(self) -> Iterator[tuple[int, int]]:
        """Instant and rank of each timer that is set."""
        for run in self.runs:
            yield from ((instant, self.meaning.ranks[id(tree.expression)]) for tree, instant in run.timers)
        for sides in self.sides.values():
            for side in sides:
                yield from side.pending()

    def step(self, now: int, symbols: Sequence[Event | Composite], due: Due) -> list[Composite]:
        """One place: every run moves, fails or ignores it. Returns the composites made."""
        there = {key: [side.step(now, symbols, due) for side in sides] for key, sides in self.sides.items()}
        self.let_go(now)
        kept: dict[Run, bool] = {}
        starts: list[Run] = []
        complete: dict[Run, None] = {}
        used = False
        for run in [*self.runs, *self.starts]:
            started = run.previous is not None
            moves, failed = self.meet(run, symbols, there, due)
            if used and self.uses_once(due):
                moves = []
            ways = [way for move in moves if (way := self.move(run, *move))]
            used |= bool(ways)  # what a limit does not let a run take is not used by it
            for way in ways:
                complete |= dict.fromkeys(way.complete)
                kept |= {new: kept.get(new, False) or bool(way.complete) for new in way.runs}
            if not started and (not failed or self.meaning.choices.restart):
                starts.append(run)
            elif not moves and not failed:
                kept[run] = kept.get(run, False) or self.runs[run]
            elif started and not any(way.complete or way.runs for way in ways):
                self.end(run, "failed" if failed or ways else "expired", now)
        self.runs, self.starts = kept, starts
        self.limit(now)
        return self.fresh(complete)

    # Contexts and limits

    def uses_once(self, due: Due) -> bool:
        """Whether what is here is used once. A time event belongs to its run, which uses it whatever others do."""
        return self.meaning.choices.context == "chronicle" and (
            due is None or due[1] not in self.meaning.ranks.values()
        )

    def let_go(self, now: int) -> None:
        """Ends the runs whose time was over before this instant."""
        for run in list(self.runs):
            reason, over = self.time_over(run)
            if over < now:
                self.end(run, reason, max(int(over), run.span[1]))
                del self.runs[run]

    def time_over(self, run: Run) -> tuple[Reason, float]:
        """The last instant at which a run has a way on; for one without a time bound, at which it is kept."""
        limits, age = dict(run.limits), self.meaning.choices.age
        over = max(
            min((limits[t][0] + t.expression.microseconds for t in limits if option.stays_inside(t)), default=inf)  # type: ignore[attr-defined]
            for option in run.options
        )
        if over == inf and age is not None and not run.timers:
            return "dropped", run.began + age
        return "expired", over

    def limit(self, now: int) -> None:
        """After a place, lets go of the runs that later ones replace, and of the oldest of too many."""
        if self.meaning.choices.context == "recent":
            latest = {frozenset(option.awaited for option in run.options): run for run in self.runs}
            for run in self.runs.keys() - set(latest.values()):
                self.end(run, "replaced", now)
                del self.runs[run]
        most = self.meaning.choices.runs_per_instance
        for run in list(self.runs)[: -most or None] if most is not None and len(self.runs) > most else []:
            self.end(run, "dropped", now)
            del self.runs[run]

    def end(self, run: Run, reason: Reason, at: int) -> None:
        """A run ends; if it came to nothing, this is noted."""
        if not self.runs.get(run, False):
            self.ended.append(Incomplete(self.meaning.name, *run.span, self.instance, run.parts, reason, at))

    def fresh(self, complete: Collection[Run]) -> list[Composite]:
        """The composites of complete runs that were not made before; where runs are cumulated, of all together.

        Runs that have matched the same are one, whatever they would have waited for.
        """
        made = dict.fromkeys(self.composite(run) for run in complete)
        if self.meaning.choices.context == "cumulative" and len(made) > 1:
            made = {self.composite(self.united(complete)): None}
        found = [composite for composite in made if composite not in self.made]
        self.made.update(found)
        return found

    def united(self, runs: Collection[Run]) -> Run:
        """One run that has matched what all of these have, in the order of the input."""
        whole: dict[int, Part] = {}
        for part in (part for run in runs for part in run.parts):
            place = self.order[id(part.symbol)]
            whole[place] = Part(part.symbol, part.labels | whole.get(place, part).labels)
        parts = tuple(whole[place] for place in sorted(whole))
        spans = [run.span for run in runs]
        return Run((), span=(min(lo for lo, _ in spans), max(hi for _, hi in spans)), parts=parts)

    # What a run does

    def meet(
        self, run: Run, symbols: Sequence[Any], there: Mapping[int, list[list[Composite]]], due: Due
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

    def move(self, run: Run, option: Option, taken: Mapping[int, Any]) -> Way | None:
        """What becomes of a run that moves through an option; nothing if a limit forbids it."""
        tree = option.tree
        labels = frozenset(t.expression.label for t in tree.above if isinstance(t.expression, x.Labelled))
        parts = [*run.parts]
        for symbol in taken.values():
            if isinstance(tree.expression, x.Parallel):
                parts += [Part(part.symbol, part.labels | labels) for part in symbol.parts]
            elif not isinstance(symbol, Tick):
                parts.append(Part(symbol, labels))
        lo, hi = min(symbol.lo for symbol in taken.values()), max(symbol.hi for symbol in taken.values())
        limits = {}
        for limit in (above for above in tree.above if isinstance(above.expression, x.Within)):
            since = dict(run.limits).get(limit, (lo, hi)) if limit not in option.entered else (lo, hi)
            limits[limit] = (min(since[0], lo), hi)
            if hi - limits[limit][0] > limit.expression.microseconds:  # type: ignore[attr-defined]
                return None
        started = run.previous is not None
        fired = {symbol.timer for symbol in taken.values() if isinstance(symbol, Tick)}
        timers = frozenset(one for one in run.timers if one[0].expression.timer not in fired)  # type: ignore[attr-defined]
        moved = Run(
            (),
            previous=hi,
            span=(min(lo, run.span[0]) if started else lo, hi),
            parts=tuple(parts),
            timers=timers,
            limits=frozenset(limits.items()),
            began=run.began if started else hi,
        )
        remaining = tuple(side for side in option.remaining if side not in taken)
        if isinstance(tree.expression, x.Parallel) and remaining:
            base = option.base if option.waiting else run.previous if option.strong else None
            wait = replace(option, entered=frozenset(), remaining=remaining, base=base, waiting=True)
            return Way([], [self.timed(replace(moved, options=(wait,)), tree)])
        alternatives = self.meaning.after(tree, self.known(parts))
        return Way(
            [moved] if any(end for _, end in alternatives) else [],
            [self.timed(replace(moved, options=in_order(o)), tree) for o, _ in alternatives if o],
        )

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
        return Composite(self.meaning.name, *run.span, dict(self.instance) | selected, run.parts)


@dataclass(frozen=True)
class Way:
    """What a move leads to: the run if it is complete, and the runs that go on."""

    complete: list[Run]
    runs: list[Run]


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
