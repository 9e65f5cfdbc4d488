"""Random patterns, traces and options of detection, from anything that can pick one of several things.

``pick`` may be ``random.Random(seed).choice``, which is fast, or a strategy of Hypothesis, which shrinks what it finds
(`strategies`). Patterns pass the checks and have a small alphabet; traces are short and full of ties, overlaps and
equal instants, so that patterns and traces collide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.pattern import BARE, Definition, Pattern
from penstock.events.event import Event
from penstock.testing.meaning import USING, Using

SECOND = 1_000_000
TYPES = ("A", "B", "C", "D")
FEW = ("A", "A", "B", "B", "C")
"""Those of plain patterns, so that many of their runs come to something."""
Sign = Literal["=", "<>", "<", "<=", ">", ">="]
COMPARISONS: tuple[Sign, ...] = ("=", "<>", "<", "<=", ">", ">=")
T = TypeVar("T")


class Pick(Protocol):
    """Picks one of several things."""

    def __call__(self, choices: Sequence[T], /) -> T:
        """One of them."""


@dataclass(frozen=True)
class Around:
    """What stands around a part of a pattern that is being made.

    ``starting``: what it begins with can start the pattern. ``full``: it must not match nothing. ``known`` are
    the labels that can be read, each with whether it is one event; it grows as parts are made. ``sides`` is how deep
    the sides of a ``||`` may be.
    """

    parameter: bool
    composites: tuple[str, ...]
    numbers: list[int]
    starting: bool = True
    full: bool = False
    repeated: bool = False
    timers: tuple[str, ...] = ()
    known: dict[str, bool] = field(default_factory=dict)
    sides: int = 1

    def fresh(self, prefix: str) -> str:
        """A name that was not used before."""
        self.numbers.append(len(self.numbers))
        return f"{prefix}{len(self.numbers)}"


def meaningful_pattern(pick: Pick, most: int = 2, parameter: bool | None = None, sides: int = 1) -> Pattern:
    """A pattern that passes the checks: one or two definitions, with or without the parameter ``$k``.

    >>> from random import Random
    >>> from penstock.languages.core.printer import print_pattern
    >>> print_pattern(meaningful_pattern(Random(9).choice, most=1, parameter=False))
    '([A] [!B(lo < hi), A in {*, B}]){0,2} within 3 s'
    """
    items: list[Definition] = []
    shared: list[int] = []
    for name in pick([(BARE,), (BARE,), ("Met", BARE), ("Met", "Long")][: most * 2]):
        with_parameter = pick(range(3)) == 0 if parameter is None else parameter
        around = Around(with_parameter, tuple(item.name for item in items), shared, sides=sides)
        body = _part(pick, around, depth=3)
        if pick(range(4)) == 0:
            value = _read(pick, around) or c.Literal(1)
            body = x.Select(body, (x.Selected("selected", value),))
        items.append(Definition(name, body, bare=name == BARE))
    return Pattern(tuple(items))


def plain_pattern(pick: Pick) -> Pattern:
    """A pattern that asks nothing of runs: chains, choices, rounds and domains of types, for each key or for none, with
    a limit around all of it or without.

    >>> from random import Random
    >>> from penstock.languages.core.printer import print_pattern
    >>> print_pattern(plain_pattern(Random(3).choice))
    '[C] ; [B] ; ([B]+ | [C]) within 4 s'
    """
    parameter = pick((False, True))
    own = x.Atom((_typed(pick, parameter),))
    parts: list[x.Expression] = [own, *(_plain_part(pick, parameter, depth=2) for _ in range(pick((1, 2, 2, 3))))]
    body: x.Expression = pick([x.Sequence, x.Sequence, x.Concatenation])(tuple(parts))
    if pick(range(3)):
        body = x.Within(body, pick((2, 4, 6, 20)) * SECOND)
    return Pattern((Definition(BARE, body, bare=True),))


def _typed(pick: Pick, parameter: bool) -> x.DescribableSet:
    key = c.Comparison("=", c.Attribute("k"), c.Parameter("k"))
    return x.DescribableSet(pick(FEW), key if parameter else None)


def _plain_part(pick: Pick, parameter: bool, depth: int) -> x.Expression:
    again = [_plain_part(pick, parameter, depth - 1) for _ in range(2)] if depth else []
    match pick(range(7)) if depth else 0:
        case 1 | 2:
            low, high = pick([(0, None), (1, None), (1, None), (1, 2), (2, None)])
            return x.Repetition(again[0], low, high)
        case 3:
            return x.Alternation(tuple(again))
        case 4:
            return pick([x.Sequence, x.Concatenation])(tuple(again))
        case 5:
            return x.Atom((_typed(pick, parameter),), (_typed(pick, parameter),))
    return x.Atom((_typed(pick, parameter),))


def _part(pick: Pick, around: Around, depth: int) -> x.Expression:
    kinds: list[Callable[[Pick, Around, int], x.Expression]] = [_atom]
    if depth:
        kinds += [_chain, _chain, _choice, _both, _repeated, _scoped, _timed, _labelled, _limited, _guarded]
    return pick(kinds)(pick, around, depth - 1)


def _filter(pick: Pick, around: Around, bind: bool) -> c.Condition | None:
    parts: list[c.Condition] = []
    v = c.Attribute("v")
    if around.parameter and (bind or pick((False, True))):
        sign: Sign = "=" if bind else pick(COMPARISONS)
        parts.append(c.Comparison(sign, c.Attribute("k"), c.Parameter("k")))
    match pick(range(12)):
        case 0:
            right = pick([c.Literal(1), c.Literal(1.0), c.Literal("x"), c.Literal(True)])
            parts.append(c.Comparison(pick(COMPARISONS), v, right))
        case 1:
            parts.append(c.IsNull(v, pick((False, True))))
        case 2 if (read := _read(pick, around)) is not None:
            newer = c.Comparison(pick(COMPARISONS), v, read)
            parts.append(pick([newer, c.Or((c.IsNull(read), newer)), c.Not(newer)]))
        case 3:
            parts.append(c.Comparison("<", c.Attribute("lo"), c.Attribute("hi")))
    return c.And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def _read(pick: Pick, around: Around) -> c.Value | None:
    """A value that a label gives."""
    if not around.known:
        return None
    label = pick(sorted(around.known))
    if around.known[label] and pick((False, True)):
        return c.LabelRead(label, pick(["v", "v", "lo", "hi", "source"]))
    function = pick(["count", "min", "max", "sum", "avg", "first", "last", "distinct"])
    return c.Aggregate(function, label, None if function == "count" else "v")


def _set(pick: Pick, around: Around, bind: bool) -> x.DescribableSet:
    kind = pick(range(10))
    if kind == 0 and around.composites and not bind:
        return x.DescribableSet(pick(around.composites))
    if kind == 1:
        return x.DescribableSet(None, _filter(pick, around, bind))
    return x.DescribableSet(pick(TYPES), _filter(pick, around, bind))


def _sets(pick: Pick, around: Around, bind: bool) -> tuple[x.DescribableSet, ...]:
    found = [_set(pick, around, bind) for _ in range(pick([1, 1, 1, 2]))]
    if pick((False, True)) and around.timers:
        found.append(x.DescribableSet(pick(around.timers)))
    return tuple(found)


def _atom(pick: Pick, around: Around, depth: int) -> x.Expression:
    bind = around.parameter and around.starting
    kind = pick(["plain", "plain", "domain", "negated"])
    if kind == "negated":
        return x.Atom(_sets(pick, around, False), _sets(pick, around, bind), negated=True)
    domain = _sets(pick, around, False) if kind == "domain" else ()
    return x.Atom(_sets(pick, around, bind), domain)


def _chain(pick: Pick, around: Around, depth: int) -> x.Expression:
    number = pick([2, 2, 3])
    full, begins = pick(range(number)), pick((True, True, True, False))
    parts, starting = [], around.starting
    for place in range(number):
        here = replace(around, starting=starting, full=(begins and place == 0) or (around.full and place == full))
        parts.append(_part(pick, here, depth))
        starting = starting and not here.full
    return pick([x.Concatenation, x.Sequence])(tuple(parts))


def _choice(pick: Pick, around: Around, depth: int) -> x.Expression:
    parts = []
    before = dict(around.known)
    for _ in range(2):
        here = replace(around, known=dict(before))
        parts.append(_part(pick, here, depth))
        around.known.update(here.known)
    return x.Alternation(tuple(parts))


def _both(pick: Pick, around: Around, depth: int) -> x.Expression:
    sides = []
    for _ in range(pick([2, 2, 3])):
        here = replace(around, timers=(), known={}, full=True)
        sides.append(_part(pick, here, min(depth, around.sides)))
        around.known.update(here.known)
    return x.Parallel(tuple(sides))


def _repeated(pick: Pick, around: Around, depth: int) -> x.Expression:
    least = [(1, None), (2, 2), (1, 2), (2, None)]
    low, high = pick(least if around.full else [(0, None), (0, 1), (0, 2), *least])
    return x.Repetition(_part(pick, replace(around, repeated=True), depth), low, high)


def _scoped(pick: Pick, around: Around, depth: int) -> x.Expression:
    domain = _sets(pick, around, False)
    return x.Scope(_part(pick, around, depth), domain)


def _timed(pick: Pick, around: Around, depth: int) -> x.Expression:
    timer = around.fresh("T")
    first = _part(pick, replace(around, full=True), depth)
    second = _part(pick, replace(around, full=True, starting=False, timers=(*around.timers, timer, timer)), depth)
    kind = pick((x.After, x.After, x.AtClock, x.AtInstant))
    spec: x.TimeSpec = kind(pick(range(1, 5) if kind is x.After else range(9)) * SECOND)
    return x.Timing(first, second, timer, spec)


def _labelled(pick: Pick, around: Around, depth: int) -> x.Expression:
    label = around.fresh("x")
    kind = pick(["one", "list", "any"])
    if kind == "one":
        body = _atom(pick, around, depth)
        around.known[label] = not around.repeated
        return x.Labelled(label, body)
    if kind == "list":
        inside = replace(around, repeated=True, known={**around.known, label: False})
        body = x.Repetition(_atom(pick, inside, depth), 1, None)
    else:
        body = _part(pick, around, depth)
    around.known[label] = isinstance(body, x.Atom) and not around.repeated
    return x.Labelled(label, body)


def _limited(pick: Pick, around: Around, depth: int) -> x.Expression:
    return x.Within(_part(pick, around, depth), pick(range(1, 6)) * SECOND)


def _guarded(pick: Pick, around: Around, depth: int) -> x.Expression:
    if not around.full and pick((False, True)):
        return _counted(pick, around, depth)
    body = _part(pick, around, depth)
    read = _read(pick, around)
    condition: c.Condition = c.Comparison("=", c.Literal(1), c.Literal(1))
    if read is not None:
        condition = c.Comparison(pick(COMPARISONS), read, pick([c.Literal(1), c.Literal(2)]))
    return x.Where(body, condition)


def _counted(pick: Pick, around: Around, depth: int) -> x.Expression:
    """A part that may be left out, or not, as a condition on how often it is there says."""
    label = around.fresh("x")
    body = x.Labelled(label, x.Repetition(_atom(pick, replace(around, repeated=True), depth), 0, pick((None, 1, 2))))
    around.known[label] = False
    numbers: list[c.Value] = [c.Literal(number) for number in range(3)]
    number = pick(numbers + [c.Parameter("k")] * around.parameter)
    return x.Where(body, c.Comparison(pick(COMPARISONS), c.Aggregate("count", label, None), number))


# Traces.


def trace(
    pick: Pick, most: int = 7, types: Sequence[str] = TYPES, seconds: Sequence[int] = range(2, 10)
) -> list[Event]:
    """A trace over the same alphabet, short if it is not to be longer, sometimes with a repeated event."""
    number = pick((most, pick(range(most + 1))))
    events = [_event(pick, place, seconds, types) for place in range(number)]
    if events and pick(range(10)) == 0:
        events.append(pick(events))
    return events


def _event(pick: Pick, place: int, seconds: Sequence[int], types: Sequence[str]) -> Event:
    hi = pick(seconds)
    attributes = {
        "v": pick([None, 0, 1, 1, 2, 2.5]),
        "k": pick([1, 1, 1, 1.0, 2, None]),
    }
    return Event(
        type=pick(types),
        source=pick(["s", "s", "t"]),
        id=f"{place}",
        lo=(hi - pick([0, 0, 0, 1, 2])) * SECOND,
        hi=hi * SECOND,
        seq=pick([None, None, 1, 2]),
        attributes={name: value for name, value in attributes.items() if value is not None},
    )


# How they are detected.


def choices(pick: Pick, context: Using | None = None, limited: bool = True) -> dict[str, Any]:
    """Options of detection: contexts and, one time in three, limits so small that they are met.

    >>> from random import Random
    >>> choices(Random(1).choice, context="recent")["context"]
    'recent'
    """
    chosen: dict[str, Any] = {"restart": pick((False, False, True)), "context": context or pick(USING)}
    if limited and pick(range(3)) == 0:
        chosen |= {"runs_per_instance": pick((1, 2, 3)), "age": pick((None, 0, 1, 3))}
        if chosen["age"] is not None:
            chosen["age"] *= SECOND
    return chosen
