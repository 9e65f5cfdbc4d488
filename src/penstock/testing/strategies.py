"""Hypothesis strategies for conditions, patterns and traces.

``patterns`` says anything that the syntax allows, of all kinds of nodes. ``meaningful_patterns`` says only what
passes the checks, over a small alphabet; ``traces`` are short and full of ties, overlaps and equal instants,
so that patterns and traces collide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.pattern import BARE, Definition, Let, Pattern
from penstock.events.event import Event

SECOND = 1_000_000
TYPES = ("A", "B", "C", "D")
Sign = Literal["=", "<>", "<", "<=", ">", ">="]
COMPARISONS: tuple[Sign, ...] = ("=", "<>", "<", "<=", ">", ">=")

# Anything that the syntax allows.

names = st.sampled_from(["a", "B", "x1", "_y", "größe", "count", "first", "T", "within_", "AT1"])
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=5)
types = st.one_of(st.sampled_from([*TYPES, "office.door", "Last", "hour", "in", "in.out", "at.home", "it's"]), texts)
numbers = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), st.integers(-3, 3)
)
durations = st.one_of(st.integers(1, 10**13), st.integers(1, 100).map(lambda n: n * SECOND))


def _values() -> SearchStrategy[c.Value]:
    leaves: SearchStrategy[c.Value] = st.one_of(
        st.builds(c.Literal, st.one_of(st.booleans(), numbers, texts)),
        st.builds(c.Attribute, st.one_of(names, st.sampled_from(["in", "my attribute", 'a"b', "x.y"]))),
        st.builds(c.Parameter, names),
        st.builds(c.LabelRead, names, names),
        st.builds(c.Aggregate, st.just("count"), names, st.none()),
        st.builds(c.Aggregate, st.sampled_from([one for one in c.AGGREGATES if one != "count"]), names, names),
        st.builds(c.ClockFunction, st.sampled_from(c.CLOCK_FUNCTIONS)),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(c.Arithmetic, st.sampled_from("+-*/"), inner, inner), st.builds(c.Negative, inner)
        ),
        max_leaves=4,
    )


values = _values()
"""Anything that can be compared or selected."""


def _tuples(one: SearchStrategy[Any], least: int = 1, most: int = 3) -> SearchStrategy[tuple[Any, ...]]:
    return st.lists(one, min_size=least, max_size=most).map(tuple)


def _conditions() -> SearchStrategy[c.Condition]:
    leaves: SearchStrategy[c.Condition] = st.one_of(
        values,
        st.builds(c.Comparison, st.sampled_from(COMPARISONS), values, values),
        st.builds(c.Between, values, values, values, st.booleans()),
        st.builds(c.In, values, _tuples(values), st.booleans()),
        st.builds(c.Like, values, texts, st.sampled_from([None, "!", "'", "%"]), st.booleans()),
        st.builds(c.IsNull, values, st.booleans()),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(c.And, _tuples(inner, 2)), st.builds(c.Or, _tuples(inner, 2)), st.builds(c.Not, inner)
        ),
        max_leaves=4,
    )


conditions = _conditions()
"""Anything that can stand in a filter or a ``where``."""
sets = st.builds(x.DescribableSet, st.one_of(types, st.none()), st.one_of(st.none(), conditions))
timespecs: SearchStrategy[x.TimeSpec] = st.one_of(
    st.builds(x.After, durations),
    st.builds(
        x.AtClock, st.one_of(st.integers(0, 1439).map(lambda n: n * 60 * SECOND), st.integers(0, 86_399_999_999))
    ),
    st.builds(x.AtInstant, st.integers(0, 4 * 10**15)),
)


def _expressions() -> SearchStrategy[x.Expression]:
    atoms = st.one_of(
        st.builds(x.Atom, _tuples(sets), _tuples(sets, 0)),
        st.builds(x.Atom, _tuples(sets), _tuples(sets), st.just(True)),
    )
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            *(st.builds(kind, _tuples(inner, 2)) for kind in (x.Concatenation, x.Sequence, x.Alternation, x.Parallel)),
            st.builds(x.Repetition, inner, st.integers(0, 3), st.one_of(st.none(), st.integers(0, 4))),
            st.builds(x.Scope, inner, _tuples(sets)),
            st.builds(x.Timing, inner, inner, names, timespecs),
            st.builds(x.Labelled, names, inner),
            st.builds(x.Within, inner, durations),
            st.builds(x.Where, inner, conditions),
            st.builds(x.Select, inner, _tuples(st.builds(x.Selected, names, values))),
        ),
        max_leaves=5,
    )


expressions = _expressions()
"""Anything that matches events."""
_items = st.one_of(
    st.builds(Let, names, _tuples(sets)), st.builds(Definition, names.filter(lambda name: name != BARE), expressions)
)
patterns: SearchStrategy[Pattern] = st.one_of(
    st.builds(lambda body: Pattern((Definition(BARE, body, bare=True),)), expressions),
    st.builds(Pattern, _tuples(_items)),
)
"""Anything that the syntax allows."""

# What passes the checks.


@dataclass(frozen=True)
class Around:
    """What stands around a part of a pattern that is being drawn.

    ``starting``: what it begins with can start the pattern. ``full``: it must not match nothing. ``known`` are
    the labels that can be read, each with whether it is one event; it grows as parts are drawn.
    """

    parameter: bool
    composites: tuple[str, ...]
    numbers: list[int]
    starting: bool = True
    full: bool = False
    repeated: bool = False
    timers: tuple[str, ...] = ()
    known: dict[str, bool] = field(default_factory=dict)

    def fresh(self, prefix: str) -> str:
        """A name that was not used before."""
        self.numbers.append(len(self.numbers))
        return f"{prefix}{len(self.numbers)}"


@st.composite
def meaningful_patterns(draw: DrawFn, most: int = 2, parameter: bool | None = None) -> Pattern:
    """A pattern that passes the checks: one or two definitions, with or without the parameter ``$k``."""
    items: list[Definition] = []
    shared: list[int] = []
    for name in draw(st.sampled_from([(BARE,), (BARE,), ("Met", BARE), ("Met", "Long")][: most * 2])):
        with_parameter = draw(st.integers(0, 2)) == 0 if parameter is None else parameter
        around = Around(with_parameter, tuple(item.name for item in items), shared)
        body = _part(draw, around, depth=3)
        if draw(st.integers(0, 3)) == 0:
            value = _read(draw, around) or c.Literal(1)
            body = x.Select(body, (x.Selected("selected", value),))
        items.append(Definition(name, body, bare=name == BARE))
    return Pattern(tuple(items))


def _part(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    kinds: list[Callable[[DrawFn, Around, int], x.Expression]] = [_atom]
    if depth:
        kinds += [_chain, _chain, _choice, _both, _repeated, _scoped, _timed, _labelled, _limited, _guarded]
    return draw(st.sampled_from(kinds))(draw, around, depth - 1)


def _filter(draw: DrawFn, around: Around, bind: bool) -> c.Condition | None:
    parts: list[c.Condition] = []
    v = c.Attribute("v")
    if around.parameter and (bind or draw(st.booleans())):
        sign: Sign = "=" if bind else draw(st.sampled_from(COMPARISONS))
        parts.append(c.Comparison(sign, c.Attribute("k"), c.Parameter("k")))
    match draw(st.integers(0, 11)):
        case 0:
            right = draw(st.sampled_from([c.Literal(1), c.Literal(1.0), c.Literal("x"), c.Literal(True)]))
            parts.append(c.Comparison(draw(st.sampled_from(COMPARISONS)), v, right))
        case 1:
            parts.append(c.IsNull(v, draw(st.booleans())))
        case 2 if (read := _read(draw, around)) is not None:
            newer = c.Comparison(draw(st.sampled_from(COMPARISONS)), v, read)
            parts.append(draw(st.sampled_from([newer, c.Or((c.IsNull(read), newer)), c.Not(newer)])))
        case 3:
            parts.append(c.Comparison("<", c.Attribute("lo"), c.Attribute("hi")))
    return c.And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def _read(draw: DrawFn, around: Around) -> c.Value | None:
    """A value that a label gives."""
    if not around.known:
        return None
    label = draw(st.sampled_from(sorted(around.known)))
    if around.known[label] and draw(st.booleans()):
        return c.LabelRead(label, draw(st.sampled_from(["v", "v", "lo", "hi", "source"])))
    function = draw(st.sampled_from(["count", "min", "max", "sum", "avg", "first", "last", "distinct"]))
    return c.Aggregate(function, label, None if function == "count" else "v")


def _set(draw: DrawFn, around: Around, bind: bool) -> x.DescribableSet:
    kind = draw(st.integers(0, 9))
    if kind == 0 and around.composites and not bind:
        return x.DescribableSet(draw(st.sampled_from(around.composites)))
    if kind == 1:
        return x.DescribableSet(None, _filter(draw, around, bind))
    return x.DescribableSet(draw(st.sampled_from(TYPES)), _filter(draw, around, bind))


def _sets(draw: DrawFn, around: Around, bind: bool) -> tuple[x.DescribableSet, ...]:
    found = [_set(draw, around, bind) for _ in range(draw(st.sampled_from([1, 1, 1, 2])))]
    if draw(st.booleans()) and around.timers:
        found.append(x.DescribableSet(draw(st.sampled_from(around.timers))))
    return tuple(found)


def _atom(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    bind = around.parameter and around.starting
    kind = draw(st.sampled_from(["plain", "plain", "domain", "negated"]))
    if kind == "negated":
        return x.Atom(_sets(draw, around, False), _sets(draw, around, bind), negated=True)
    domain = _sets(draw, around, False) if kind == "domain" else ()
    return x.Atom(_sets(draw, around, bind), domain)


def _chain(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    number = draw(st.sampled_from([2, 2, 3]))
    full = draw(st.integers(0, number - 1))
    parts, starting = [], around.starting
    for place in range(number):
        here = replace(around, starting=starting, full=place == 0 or (around.full and place == full))
        parts.append(_part(draw, here, depth))
        starting = starting and place > 0 and not here.full
    return draw(st.sampled_from([x.Concatenation, x.Sequence]))(tuple(parts))


def _choice(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    parts = []
    before = dict(around.known)
    for _ in range(2):
        here = replace(around, known=dict(before))
        parts.append(_part(draw, here, depth))
        around.known.update(here.known)
    return x.Alternation(tuple(parts))


def _both(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    sides = []
    for _ in range(draw(st.sampled_from([2, 2, 3]))):
        here = replace(around, timers=(), known={}, full=True)
        sides.append(_part(draw, here, min(depth, 1)))
        around.known.update(here.known)
    return x.Parallel(tuple(sides))


def _repeated(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    least = [(1, None), (2, 2), (1, 2), (2, None)]
    low, high = draw(st.sampled_from(least if around.full else [(0, None), (0, 1), (0, 2), *least]))
    return x.Repetition(_part(draw, replace(around, repeated=True), depth), low, high)


def _scoped(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    domain = _sets(draw, around, False)
    return x.Scope(_part(draw, around, depth), domain)


def _timed(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    timer = around.fresh("T")
    first = _part(draw, replace(around, full=True), depth)
    second = _part(draw, replace(around, full=True, starting=False, timers=(*around.timers, timer, timer)), depth)
    instant = st.integers(0, 8).map(lambda n: n * SECOND)
    after = st.builds(x.After, st.integers(1, 4).map(lambda n: n * SECOND))
    spec = draw(st.one_of(after, after, st.builds(x.AtClock, instant), st.builds(x.AtInstant, instant)))
    return x.Timing(first, second, timer, spec)


def _labelled(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    label = around.fresh("x")
    kind = draw(st.sampled_from(["one", "list", "any"]))
    if kind == "one":
        body = _atom(draw, around, depth)
        around.known[label] = not around.repeated
        return x.Labelled(label, body)
    if kind == "list":
        inside = replace(around, repeated=True, known={**around.known, label: False})
        body = x.Repetition(_atom(draw, inside, depth), 1, None)
    else:
        body = _part(draw, around, depth)
    around.known[label] = isinstance(body, x.Atom) and not around.repeated
    return x.Labelled(label, body)


def _limited(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    return x.Within(_part(draw, around, depth), draw(st.integers(1, 5)) * SECOND)


def _guarded(draw: DrawFn, around: Around, depth: int) -> x.Expression:
    body = _part(draw, around, depth)
    read = _read(draw, around)
    condition: c.Condition = c.Comparison("=", c.Literal(1), c.Literal(1))
    if read is not None:
        condition = c.Comparison(
            draw(st.sampled_from(COMPARISONS)), read, draw(st.sampled_from([c.Literal(1), c.Literal(2)]))
        )
    return x.Where(body, condition)


# Traces.


@st.composite
def traces(draw: DrawFn, most: int = 7) -> list[Event]:
    """A short trace over the same alphabet, in any order, sometimes with a repeated event."""
    number = draw(st.one_of(st.just(most), st.integers(0, most)))
    events = [_event(draw, place) for place in range(number)]
    if events and draw(st.integers(0, 9)) == 0:
        events.append(draw(st.sampled_from(events)))
    return events


def _event(draw: DrawFn, place: int) -> Event:
    hi = draw(st.integers(1, 8))
    attributes = {
        "v": draw(st.sampled_from([None, 0, 1, 1, 2, 2.5])),
        "k": draw(st.sampled_from([1, 1, 1, 1.0, 2, None])),
    }
    return Event(
        type=draw(st.sampled_from(TYPES)),
        source=draw(st.sampled_from(["s", "s", "t"])),
        id=f"{place}",
        lo=(hi - draw(st.sampled_from([0, 0, 0, 1, 2]))) * SECOND,
        hi=hi * SECOND,
        seq=draw(st.sampled_from([None, None, 1, 2])),
        attributes={name: value for name, value in attributes.items() if value is not None},
    )
