"""What is to be detected and how, and what of the events that concerns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.algebra.conditions import Aggregate, Attribute, LabelRead
from penstock.algebra.expressions import Timing
from penstock.algebra.names import primitive_types, uses_any_type, without_lets
from penstock.algebra.node import walk
from penstock.algebra.pattern import Pattern
from penstock.automaton.compile import compile_pattern
from penstock.detection.kinds import Kinds, kinds_of
from penstock.detection.limits import Limits
from penstock.engine.memory import CONTEXTS
from penstock.engine.prepared import Choice, Prepared, prepared
from penstock.engine.selection import Picked, choose
from penstock.errors import PatternError, nearest
from penstock.events.convert import FEW_NAMES
from penstock.events.table import EventTable
from penstock.filters.attributes import check_attributes

_MOST_KNOWN = 32
"""Plans that are kept for patterns that are asked for again."""


@dataclass(frozen=True)
class Plan:
    """A pattern, and what was chosen for its detection; ``carry`` and ``only`` are as for `penstock.detect`.

    Where the pattern is only some definitions of one that is detected in several places, ``whole`` is that one: what
    its results look like is the same everywhere.

    >>> from penstock import parse
    >>> plan = Plan(parse("[Open(door = $d)] ; [Close(door = $d)]"), Choice(), carry="person")
    >>> sorted(plan.types), sorted(plan.attributes)
    (['Close', 'Open'], ['door', 'person'])
    """

    pattern: Pattern
    choice: Choice
    carry: str | Iterable[str] = "all"
    only: tuple[str, ...] = ()
    whole: Pattern | None = None

    def __reduce__(self) -> tuple[type[Plan], tuple[object, ...]]:
        """What is written where the plan goes to another process: what was chosen, not what follows from it."""
        return Plan, (self.pattern, self.choice, self.carry, self.only, self.whole)

    @cached_property
    def carried(self) -> list[str] | None:
        """The attributes that primitive parts keep, each once; None for all."""
        if self.carry == "all":
            return None
        named = self.carry.split(",") if isinstance(self.carry, str) else self.carry
        return [] if self.carry == "none" else list(dict.fromkeys(name.strip() for name in named))

    @cached_property
    def types(self) -> frozenset[str] | None:
        """The types of events that can be met; None for all."""
        if any(uses_any_type(definition) for definition in without_lets(self.pattern).definitions):
            return None
        return frozenset(primitive_types(self.pattern))

    @cached_property
    def attributes(self) -> frozenset[str] | None:
        """The attributes of events that are read or carried; None for all."""
        if self.carried is None:
            return None
        read = set(self.carried)
        for definition in without_lets(self.pattern).definitions:
            for node in walk(definition):
                match node:
                    case Attribute(name=name):
                        read.add(name)
                    case LabelRead(attribute=str(name)) | Aggregate(attribute=str(name)):
                        read.add(name)
        return frozenset(read)

    @cached_property
    def needs_end(self) -> bool:
        """Whether it matters when the input ends: timers fire until then, and runs that wait may be too old.

        >>> from penstock import parse
        >>> [Plan(parse(text), Choice()).needs_end for text in ("[A] ; [B]", "([A], [T in {T, B}]){T = 5 s}")]
        [False, True]
        """
        nodes = (node for definition in self.pattern.definitions for node in walk(definition))
        return self.choice.incomplete or self.choice.age is not None or any(isinstance(one, Timing) for one in nodes)

    @cached_property
    def definitions(self) -> tuple[Prepared, ...]:
        """The pattern, compiled and prepared for what was chosen."""
        return prepared(compile_pattern(self.pattern), self.choice)

    @cached_property
    def kinds(self) -> Kinds:
        """What the composites have that it gives, wanted or not."""
        return kinds_of(self.whole or self.pattern)

    @cached_property
    def wanted(self) -> Kinds:
        """What those have that are wanted."""
        return self.kinds.only(self.only)

    def check(self, table: EventTable) -> None:
        """Raises an error if a table with fixed columns does not have an attribute that is read or carried."""
        there = tuple(table.attributes.column_names)
        if table.fixed and there not in self._checked:
            check_attributes(self.pattern, table)
            for name in self.carried or ():
                if name not in there:
                    close = nearest(name, there)
                    hint = f"did you mean `{close}`?" if close else f"they have {', '.join(there)}"
                    raise PatternError(f"the events have no attribute `{name}` to carry", hint=hint)
            self._checked.append(there)

    @cached_property
    def _checked(self) -> deque[tuple[str, ...]]:
        """The columns of some tables that have all that is read."""
        return deque(maxlen=_MOST_KNOWN)

    def picked(self, table: EventTable) -> Picked:
        """The rows of the events that can be met."""
        column = table.given("type")
        wanted = self._are_wanted(column.dictionary)
        return Picked(wanted, choose(np.asarray(column.indices), wanted))

    def relevant(self, table: EventTable) -> EventTable:
        """The events that can be met."""
        if self.types is None:
            return table
        rows = self.picked(table).rows
        return table if len(rows) == len(table) else table.take(rows)

    def _are_wanted(self, types: pa.Array) -> NDArray[np.bool_]:
        if self.types is None:
            return np.ones(len(types), bool)
        if len(types) <= FEW_NAMES:
            return np.array([name in self.types for name in types.to_pylist()], bool)
        return np.asarray(pc.is_in(types, pa.array(sorted(self.types), pa.string())))

    def narrowed(self, table: EventTable) -> EventTable:
        """The same events with the attributes that are needed."""
        if self.attributes is None:
            return table
        names = [name for name in table.attributes.column_names if name in self.attributes]
        return table.with_attributes(table.attributes.select(names))


def plan_of(
    pattern: Pattern,
    *,
    context: str = "continuous",
    restart: bool = False,
    zone: str | None = None,
    carry: str | Iterable[str] = "all",
    only: Iterable[str] = (),
    limits: Limits | None = None,
    incomplete: bool = False,
) -> Plan:
    """The plan for these options, which are those of `penstock.detect`.

    >>> from penstock import parse
    >>> plan_of(parse("[A]"), context="chronical")
    Traceback (most recent call last):
    penstock.errors.PatternError: there is no context 'chronical'
    hint: did you mean `chronicle`? there are continuous, chronicle, recent, cumulative
    """
    if context not in CONTEXTS:
        close, listed = nearest(context, CONTEXTS), f"there are {', '.join(CONTEXTS)}"
        hint = f"did you mean `{close}`? {listed}" if close else listed
        raise PatternError(f"there is no context {context!r}", hint=hint)
    chosen = (limits or Limits()).chosen()
    truths = {"restart": bool(restart), "incomplete": bool(incomplete)}  # those of NumPy cannot be written
    choice = Choice(zone=zone or "UTC", context=context, **truths, **chosen)
    return _known_plan(_Same(pattern), choice, carry if isinstance(carry, str) else tuple(carry), tuple(only))


class _Same:
    """Stands for a pattern and for no other, not even an equal one, which may say 1.0 for 1, or stand elsewhere."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.pattern is self.pattern

    def __hash__(self) -> int:
        return id(self.pattern)


@lru_cache(maxsize=_MOST_KNOWN)
def _known_plan(same: _Same, choice: Choice, carry: str | tuple[str, ...], only: tuple[str, ...]) -> Plan:
    """The plan, which is made once for a pattern that is asked for several times."""
    return Plan(same.pattern, choice, carry, only)
