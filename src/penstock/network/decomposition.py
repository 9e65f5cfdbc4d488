"""Patterns divided along their syntax tree, exactly where results cannot change.

A part that is factored out becomes a definition of its own, which is *inlined*: what it matched is listed where it is
used, and not it itself, so that composites and their ids are those of the undivided pattern. What remains waits for the
part's composites, at the places of the events that completed them. Safe are

- the first part of a sequence, a concatenation or a timing, if it cannot go on where it may end: a run that may do
  either takes the first thing that comes, and two detectors would do both;
- the sides of an alternation where the pattern begins, and those of a parallelisation anywhere: these are detected by
  themselves also in one automaton;
- named types, which are composites of their own.

Wherever a part cannot be factored out, there is a `Reason`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.names import evaluation_order, used_types, uses_any_type, without_lets
from penstock.algebra.node import Node, walk, walk_inside_first
from penstock.algebra.pattern import Definition, Pattern
from penstock.automaton.compile import compile_definition, parameters
from penstock.checks.parameters import check_parameters
from penstock.checks.shape import may_be_empty
from penstock.errors import PatternError
from penstock.languages.core.printer import print_expression

CONTINUOUS, CUMULATIVE = "continuous", "cumulative"


@dataclass(frozen=True)
class Reason:
    """Why a part was not factored out."""

    part: str
    definition: str
    why: str

    def __str__(self) -> str:
        return f"{self.definition}: `{self.part}` is not factored out: {self.why}"


@dataclass(frozen=True)
class Part:
    """A part that may be factored out, as a definition; nothing inside it has been."""

    definition: Definition
    inside: str
    text: str


Wanted = Callable[[Part], bool]


@dataclass(frozen=True)
class Decomposition:
    """A pattern with its parts factored out: ``inlined`` names those that are not types of their own.

    ``undivided`` has the bodies of these as they were before something inside them was factored out.

    >>> from penstock import parse
    >>> from penstock.languages.core.printer import print_pattern
    >>> whole = decompose(parse("([A(k = $k)] ; [B(k = $k)], [T]){T = 5 min}"))
    >>> print(print_pattern(whole.pattern))
    composite_1 := [A(k = $k)] ; [B(k = $k)]
    ([composite_1(k = $k)], [T]){T = 5 min}
    >>> whole.inlined
    ('composite_1',)
    """

    pattern: Pattern
    inlined: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    undivided: Mapping[str, x.Expression] = field(default_factory=dict)

    @property
    def is_divisible(self) -> bool:
        """Whether its definitions may be detected by different detectors."""
        return not any(uses_any_type(one) for one in self.pattern.definitions)


def decompose(pattern: Pattern, context: str = CONTINUOUS, wanted: Wanted = lambda part: True) -> Decomposition:
    """The pattern with all safe parts factored out that are wanted.

    >>> from penstock import parse
    >>> print(*decompose(parse("[A]+ [B]")).reasons, sep="\\n")
    composite: `[A]+` is not factored out: it may go on where it may end, and one run must do either
    """
    plain = without_lets(pattern)
    ordered = evaluation_order(plain)
    if any(uses_any_type(one) for one in ordered):
        whole = replace(plain, items=tuple(ordered))
        reasons = [
            Reason("*", one.name, "`*` hears all events and composites") for one in ordered if uses_any_type(one)
        ]
        return Decomposition(whole, (), tuple(reasons))
    taken = {one.name for one in ordered}
    items: list[Definition] = []
    inlined: list[str] = []
    reasons = []
    undivided: dict[str, x.Expression] = {}
    for definition in ordered:
        division = _Division(plain, definition, context, wanted, taken)
        items += division.divided()
        inlined += division.inlined
        reasons += division.reasons
        undivided |= division.undivided
    return Decomposition(Pattern(tuple(items)), tuple(inlined), tuple(dict.fromkeys(reasons)), undivided)


@dataclass(frozen=True)
class _Place:
    """Where an expression stands: what its parts must keep of what is around, and whether anything follows.

    ``around`` are scopes and limits, outside first; ``labels`` those around it; ``is_side`` says that it is a side of a
    parallelisation, whose detector is another one anyway.
    """

    around: tuple[x.Scope | x.Within, ...] = ()
    labels: tuple[str, ...] = ()
    last: bool = True
    is_side: bool = False


class _Division:
    """Divides one definition."""

    def __init__(self, pattern: Pattern, definition: Definition, context: str, wanted: Wanted, taken: set[str]) -> None:
        self.pattern, self.definition, self.context = pattern, definition, context
        self.wanted, self.taken = wanted, taken
        self.items: list[Definition] = []
        self.inlined: list[str] = []
        self.reasons: list[Reason] = []
        self.undivided: dict[str, x.Expression] = {}
        self.read = {one.label for one in walk(definition) if isinstance(one, c.LabelRead | c.Aggregate)}
        self.timings = _in_order(definition.body)

    def divided(self) -> list[Definition]:
        """The parts that were factored out, each after those inside it, and what remains."""
        body = self.start(self.definition.body, _Place())
        return [*self.items, replace(self.definition, body=body)]

    def start(self, here: x.Expression, place: _Place) -> x.Expression:
        """An expression that begins the pattern or a side, with its parts factored out."""
        match here:
            case x.Sequence(parts=parts) | x.Concatenation(parts=parts):
                return self.chain(here, parts, place)
            case x.Timing(first=first, second=second):
                begin = self.part(first, replace(place, last=False))
                return replace(here, first=begin, second=self.inside(second))
            case x.Alternation(choices=choices):
                return replace(here, choices=tuple(self.part(one, place) for one in choices))
            case x.Parallel():
                return self.inside(here)
            case x.Scope(body=body) | x.Within(body=body):
                return replace(here, body=self.start(body, replace(place, around=(*place.around, here))))
            case x.Labelled(body=body, label=label):
                return replace(here, body=self.start(body, replace(place, labels=(*place.labels, label))))
            case x.Where(body=body) | x.Select(body=body):
                return replace(here, body=self.start(body, place))
        return self.inside(here)

    def chain(self, here: x.Sequence | x.Concatenation, parts: tuple[x.Expression, ...], place: _Place) -> x.Expression:
        """The longest beginning that is wanted is factored out; otherwise something inside the first part may be."""
        for count in range(len(parts) - 1, 0, -1):
            beginning = parts[0] if count == 1 else replace(here, parts=parts[:count])
            atom = self.factored(beginning, replace(place, last=False))
            if atom is not None:
                return replace(here, parts=(atom, *map(self.inside, parts[count:])))
        if may_be_empty(parts[0]):
            return self.inside(here)
        first = self.start(parts[0], replace(place, last=False))
        return replace(here, parts=(first, *map(self.inside, parts[1:])))

    def part(self, here: x.Expression, place: _Place) -> x.Expression:
        """An expression that may be factored out as it is, or in parts."""
        return self.factored(here, place) or self.start(here, place)

    def inside(self, here: x.Expression) -> x.Expression:
        """An expression that may begin anywhere: only sides of parallelisations in it are detected by themselves."""
        match here:
            case x.Parallel(sides=sides):
                return replace(here, sides=tuple(self.part(one, _Place(is_side=True)) for one in sides))
            case x.Sequence(parts=parts) | x.Concatenation(parts=parts):
                return replace(here, parts=tuple(map(self.inside, parts)))
            case x.Alternation(choices=choices):
                return replace(here, choices=tuple(map(self.inside, choices)))
            case x.Timing(first=first, second=second):
                return replace(here, first=self.inside(first), second=self.inside(second))
            case x.Atom():
                return here
        return replace(here, body=self.inside(here.body))  # type: ignore[attr-defined, call-arg]

    def factored(self, here: x.Expression, place: _Place) -> x.Atom | None:
        """What waits for the composites of a part, if it may be factored out and is wanted."""
        if _is_event(here):
            return None
        why = self.refusal(here, place)
        if why is not None:
            self.reasons.append(Reason(print_expression(here), self.definition.name, why))
            return None
        body = here
        for wrapper in reversed(place.around):
            body = replace(wrapper, body=body)
        name = self.fresh_name()
        part = Definition(name, body)
        try:
            check_parameters(Pattern((part,)))
        except PatternError as error:
            self.reasons.append(Reason(print_expression(here), self.definition.name, error.message))
            return None
        if not self.wanted(Part(part, self.definition.name, print_expression(here))):
            return None
        self.taken.add(name)
        inner = _Division(self.pattern, part, self.context, self.wanted, self.taken)
        self.items += inner.divided()
        self.inlined += [*inner.inlined, name]
        self.reasons += inner.reasons
        self.undivided |= inner.undivided | {name: body}
        bound = tuple(c.Comparison("=", c.Attribute(one), c.Parameter(one)) for one in parameters(body))
        condition = None if not bound else bound[0] if len(bound) == 1 else c.And(bound)
        return x.Atom((x.DescribableSet(name, condition),))

    def fresh_name(self) -> str:
        """A name for a part that nothing has."""
        number = 1
        while (name := f"{self.definition.name}_{number}") in self.taken:
            number += 1
        return name

    def refusal(self, here: x.Expression, place: _Place) -> str | None:
        """Why a part may not be factored out; None if it may."""
        return next(filter(None, self._refusals(here, place)), None)

    def _refusals(self, here: x.Expression, place: _Place) -> Iterator[str | None]:
        inner = list(walk(here))
        labels = {one.label for one in inner if isinstance(one, x.Labelled)}
        reads = sum(isinstance(one, c.LabelRead | c.Aggregate) and one.label in labels for one in inner)
        all_reads = sum(
            isinstance(one, c.LabelRead | c.Aggregate) and one.label in labels for one in walk(self.definition)
        )
        if self.context == CUMULATIVE:
            yield "in the cumulative context what it matched is united with what the rest did"
        if self.context != CONTINUOUS and not place.is_side:
            yield f"in the {self.context} context its runs and those of the rest use up each other's events"
        if any(isinstance(one, x.Select) for one in inner):
            yield "it selects attributes of the whole"
        if may_be_empty(here):
            yield "it may match nothing"
        if not place.last and self._goes_on(here):
            yield "it may go on where it may end, and one run must do either"
        if reads != all_reads:
            yield "a label in it is read outside"
        if self.read & {*place.labels}:
            yield "a label around it is read"
        yield self._timing_refusal(inner)

    def _goes_on(self, here: x.Expression) -> bool:
        program = compile_definition(self.pattern, Definition("", here))
        return any(one.options and one.end is not None for after in program.follow for one in after)

    def _timing_refusal(self, inner: list[Node]) -> str | None:
        timings = [one for one in inner if isinstance(one, x.Timing)]
        if any(isinstance(one.spec, x.AtInstant) for one in timings):
            return "a given instant may be past, and then its timer fires behind events that end with it"
        if len(timings) > 1 and any(isinstance(one, x.Alternation) for one in inner):
            return "two of its timers may complete the same at one instant"
        own = {id(one) for one in timings}
        if any(id(one) not in own for one in self.timings[: len(timings)]):
            return "other timers come before those in it, where they fire at one instant"
        return None


def _is_event(here: x.Expression) -> bool:
    """Whether a part is one event, which needs no detector."""
    wrapped = isinstance(here, x.Labelled | x.Within | x.Scope) and _is_event(here.body)
    return isinstance(here, x.Atom) or wrapped


def _in_order(body: x.Expression) -> list[x.Timing]:
    """Timings in the order in which they fire at one instant: those of sides first, others as they end in the text."""
    sides: list[x.Timing] = []
    own: list[x.Timing] = []
    hidden: set[int] = set()
    for one in walk(body):
        if isinstance(one, x.Parallel) and id(one) not in hidden:
            for side in one.sides:
                sides += _in_order(side)
                hidden |= {id(node) for node in walk(side)}
    for one in walk_inside_first(body):
        if isinstance(one, x.Timing) and id(one) not in hidden:
            own.append(one)
    return sides + own


@dataclass(frozen=True)
class Unit:
    """What one detector detects of a divided pattern: the definitions that it ``gives``, and those that only they use.

    ``elsewhere`` are all other definitions of its pattern, ``parts`` those of them whose composites it must be given.
    """

    gives: tuple[str, ...]
    pattern: Pattern
    own: tuple[str, ...]
    parts: tuple[str, ...]
    elsewhere: tuple[str, ...]
    inlined: tuple[str, ...]


def units(whole: Decomposition, groups: Iterable[Iterable[str]]) -> list[Unit]:
    """One unit for each group of definitions that shall be detected by one detector, in the order of the groups.

    >>> from penstock import parse
    >>> found = units(decompose(parse("[A] ; [B] ; [C]")), [["composite"], ["composite_1"]])
    >>> [(one.gives, one.parts) for one in found]
    [(('composite',), ('composite_1',)), (('composite_1',), ())]
    """
    items = {one.name: one for one in whole.pattern.definitions}
    divided = [frozenset(group) for group in groups]
    wanted = frozenset().union(*divided)
    found = []
    for group in divided:
        own = _reached(group, items, stop=wanted - group)
        every = _reached(group, items, stop=frozenset())
        parts = {used for one in own for used in used_types(items[one]) & items.keys()} - own

        gives, mine, given, others = (
            tuple(one for one in items if one in names) for names in (group, own, parts, every - own)
        )
        pattern = Pattern(tuple(items[one] for one in items if one in every))
        inlined = tuple(one for one in whole.inlined if one in every)
        found.append(Unit(gives, pattern, mine, given, others, inlined))
    return found


def _reached(names: Iterable[str], items: Mapping[str, Definition], stop: frozenset[str]) -> set[str]:
    """Definitions and those that they use, and they; what ``stop`` names is not gone through nor counted."""
    found: set[str] = set()
    waiting = sorted(names)
    while waiting:
        one = waiting.pop()
        if one not in found and one not in stop:
            found.add(one)
            waiting += sorted(used_types(items[one]) & items.keys())
    return found
