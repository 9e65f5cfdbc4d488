"""Hypothesis strategies for conditions, patterns, traces and options of detection.

``patterns`` says anything that the syntax allows, of all kinds of nodes. ``meaningful_patterns``, ``traces`` and
``choices`` say what `generate` makes.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.pattern import BARE, Definition, Let, Pattern
from penstock.events.event import Event
from penstock.testing import generate
from penstock.testing.generate import COMPARISONS, SECOND, TYPES
from penstock.testing.meaning import Using

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


@st.composite
def meaningful_patterns(draw: DrawFn, most: int = 2, parameter: bool | None = None) -> Pattern:
    """A pattern that passes the checks: one or two definitions, with or without the parameter ``$k``."""
    return generate.meaningful_pattern(lambda choices: draw(st.sampled_from(choices)), most, parameter)


@st.composite
def traces(draw: DrawFn, most: int = 7) -> list[Event]:
    """A short trace over the same alphabet, in any order, sometimes with a repeated event."""
    return generate.trace(lambda choices: draw(st.sampled_from(choices)), most)


@st.composite
def choices(draw: DrawFn, context: Using | None = None, limited: bool = True) -> dict[str, Any]:
    """Options of detection: restart, a context, and sometimes limits so small that they are met."""
    return generate.choices(lambda choices: draw(st.sampled_from(choices)), context, limited)
