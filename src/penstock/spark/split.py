"""How patterns are shared out over buckets: which attributes of which events say where each event belongs.

A definition is split by some of its parameters. An event of a set that equates all of them with attributes belongs
to one bucket, by a hash of those attributes' values; an event of any other set concerns all instances, so it is
copied to all buckets. A definition that uses another must be split so that what it needs of the other is found in the
same bucket. What cannot be split is detected in one bucket, and the split says why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, permutations

from penstock.algebra.conditions import FIELDS
from penstock.algebra.expressions import DescribableSet
from penstock.algebra.names import used_types, uses_any_type, without_lets
from penstock.algebra.pattern import BARE, Pattern
from penstock.automaton.compile import compile_pattern
from penstock.automaton.program import Program
from penstock.filters.split import split as split_filter

Target = tuple[str, ...]
"""The attributes by whose values events find their bucket."""
ALL: Target = ()
"""The target of events that concern all instances."""
Routes = Mapping[str | None, frozenset[Target]]
"""The targets of events by their type; ``None`` is any type."""

_MOST_PARAMETERS = 4
_LONGEST_KEY = 3
_MOST_TRIES = 20_000


@dataclass(frozen=True)
class Group:
    """Definitions that are detected together, over the same events.

    Attributes:
        members: The number of each pattern that has definitions here, and the pattern with those only.
        keys: By pattern and definition, the parameters that it is split by.
        routes: Where events belong; nothing for a group that is not split.
        reason: Why it is not split, if it is not.
    """

    members: tuple[tuple[int, Pattern], ...]
    keys: Mapping[tuple[int, str], Target]
    routes: Routes
    reason: str | None = None

    @property
    def is_split(self) -> bool:
        """Whether it has several buckets."""
        return self.reason is None

    @property
    def meets_strangers(self) -> bool:
        """Whether a bucket may meet events of instances that belong to another, as some go to several."""
        any_type = self.routes.get(None, frozenset())
        return any(len(targets | any_type) > 1 for targets in self.routes.values())

    def targets(self, type: str) -> frozenset[Target]:
        """Where events of a type belong."""
        return self.routes.get(type, frozenset()) | self.routes.get(None, frozenset())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The definitions."""
        return tuple(one.name for _, pattern in self.members for one in pattern.definitions)

    def lines(self) -> Iterator[str]:
        """The group in words."""
        listed = ", ".join(self.names)
        if self.reason is not None:
            yield f"{listed}: in one bucket, since {self.reason}"
            return
        yield f"{listed}: in buckets"
        for type, targets in self.routes.items():
            by = " and ".join(f"by {', '.join(one)}" if one else "to all" for one in sorted(targets))
            yield f"  {type or 'any event'} goes {by}"


@dataclass(frozen=True)
class Split:
    """How some patterns are shared out; printed, it says so in words.

    >>> from penstock import parse
    >>> print(split([parse("[Open(door = $d)] ; [Close(door = $d)] ; [Alarm]")]))
    composite: in buckets
      Open goes by door
      Close goes by door
      Alarm goes to all
    """

    groups: tuple[Group, ...]

    def __str__(self) -> str:
        return "\n".join(line for group in self.groups for line in group.lines())

    @property
    def reasons(self) -> dict[str, str]:
        """For each definition that is not split, why."""
        return {name: group.reason for group in self.groups if group.reason is not None for name in group.names}

    def places(self, buckets: int) -> list[tuple[int, int]]:
        """The first bucket of each group and how many it has, if those that are split have so many."""
        places, first = [], 0
        for group in self.groups:
            size = buckets if group.is_split else 1
            places.append((first, size))
            first += size
        return places


def split(patterns: Sequence[Pattern]) -> Split:
    """How patterns are shared out, each as well as can be; those that need the same events are together.

    >>> from penstock import parse
    >>> print(split([parse("Met := [A(k = $k)] ; [B(k = $k)]\\n[Met] ; [C]")]))
    Met, composite: in one bucket, since `composite` has no parameter
    """
    groups: list[Group] = []
    for number, pattern in enumerate(patterns):
        for group in _groups(number, pattern):
            alike = next((place for place, one in enumerate(groups) if _may_share(one, group)), None)
            if alike is None:
                groups.append(group)
            else:
                groups[alike] = _joined(groups[alike], group, patterns)
    return Split(tuple(groups))


def _may_share(one: Group, other: Group) -> bool:
    if not (one.is_split and other.is_split):
        return one.reason is not None and one.reason == other.reason
    if None in one.routes or None in other.routes:
        return one.routes == other.routes
    return all(one.routes[type] == other.routes[type] for type in one.routes.keys() & other.routes.keys())


def _joined(one: Group, other: Group, patterns: Sequence[Pattern]) -> Group:
    names = {number: {each.name for each in pattern.definitions} for number, pattern in one.members}
    for number, pattern in other.members:
        names[number] = names.get(number, set()) | {each.name for each in pattern.definitions}
    members = tuple((number, _alone(patterns[number], own)) for number, own in names.items())
    return Group(members, {**one.keys, **other.keys}, {**one.routes, **other.routes}, one.reason)


def _alone(pattern: Pattern, names: Collection[str]) -> Pattern:
    """A pattern with some of its definitions only."""
    definitions = [one for one in pattern.definitions if one.name in names]
    return Pattern((*pattern.lets, *definitions), pattern.text, pattern.name)


def _groups(number: int, pattern: Pattern) -> Iterator[Group]:
    programs = compile_pattern(pattern)
    meets = _meets(pattern, programs)
    for component in _components(programs, meets):
        alone = _alone(pattern, component)
        own = [program for program in programs if program.name in component]
        found = _Search(own, meets).best()
        if found is None:
            yield Group(((number, alone),), {}, {}, _reason(own, meets))
        else:
            keys = {(number, name): key for name, key in found.items()}
            yield Group(((number, alone),), keys, _routes(own, found))


def _meets(pattern: Pattern, programs: Sequence[Program]) -> dict[str, frozenset[str]]:
    """The definitions whose composites each may meet."""
    plain = {one.name: one for one in without_lets(pattern).definitions}
    meets: dict[str, frozenset[str]] = {}
    for place, program in enumerate(programs):
        definition = plain[program.name]
        before = {one.name for one in programs[:place]}
        met = before - {BARE} if uses_any_type(definition) else set()
        meets[program.name] = frozenset(met | (used_types(definition) & before))
    return meets


def _components(programs: Sequence[Program], meets: Mapping[str, frozenset[str]]) -> list[frozenset[str]]:
    """Definitions that hang together."""
    found: list[frozenset[str]] = []
    for program in programs:
        own = frozenset({program.name}) | meets[program.name]
        touched = [one for one in found if one & own]
        found = [one for one in found if one not in touched] + [own.union(*touched)]
    order = [program.name for program in programs]
    return sorted(found, key=lambda names: min(order.index(name) for name in names))


def all_sets(program: Program) -> list[DescribableSet]:
    """The sets of a program and of the sides in it."""
    inner = (side for sides in program.sides for side in sides)
    return [*program.sets, *(one for side in inner for one in all_sets(side))]


def _target(one: DescribableSet, key: Target) -> Target:
    """By which attributes events of a set belong to instances, if it equates all parameters of the key with some."""
    bound = {parameter: attribute for attribute, parameter in split_filter(one.filter).bindings}
    return tuple(bound[name] for name in key) if all(name in bound for name in key) else ALL


class _Search:
    """Looks for keys of all definitions that fit together, with as few types as can be that go to all buckets."""

    def __init__(self, programs: Sequence[Program], meets: Mapping[str, frozenset[str]]) -> None:
        self._programs = programs
        self._meets = meets
        self._names = {program.name for program in programs}
        self._best: tuple[tuple[int, int], dict[str, Target]] | None = None
        self._tries = count()

    def best(self) -> dict[str, Target] | None:
        self._descend({}, 0, 0)
        return None if self._best is None else self._best[1]

    def _descend(self, chosen: dict[str, Target], copied: int, length: int) -> None:
        if next(self._tries) > _MOST_TRIES:
            return
        if len(chosen) == len(self._programs):
            cost = (copied, -length)
            if self._best is None or cost < self._best[0]:
                self._best = (cost, dict(chosen))
            return
        program = self._programs[len(chosen)]
        for key in _candidates(program):
            if self._fits(program, key, chosen):
                more = self._copied(program, key)
                self._descend({**chosen, program.name: key}, copied + more, length + len(key))

    def _fits(self, program: Program, key: Target, chosen: Mapping[str, Target]) -> bool:
        """Whether all composites that it may meet are in the bucket of the instance that they concern."""
        met = self._meets[program.name]
        for one in all_sets(program):
            wanted = met if one.type is None else met & {one.type}
            by = _target(one, key)
            # A composite's own id or stamp is not what it was split by, even if a parameter is called so.
            if wanted and (set(by) & set(FIELDS) or any(by != chosen[name] for name in wanted)):
                return False
        return True

    def _copied(self, program: Program, key: Target) -> int:
        return len({one.type for one in all_sets(program) if _target(one, key) == ALL})


def _candidates(program: Program) -> list[Target]:
    """Keys by which a definition may be split, the longest first."""
    names = program.parameters[:_MOST_PARAMETERS]
    return [key for size in range(min(len(names), _LONGEST_KEY), 0, -1) for key in permutations(names, size)]


def _routes(programs: Sequence[Program], keys: Mapping[str, Target]) -> dict[str | None, frozenset[Target]]:
    routes: dict[str | None, frozenset[Target]] = {}
    for program in programs:
        for one in all_sets(program):
            if one.type not in keys:
                routes[one.type] = routes.get(one.type, frozenset()) | {_target(one, keys[program.name])}
    return routes


def _reason(programs: Sequence[Program], meets: Mapping[str, frozenset[str]]) -> str:
    for program in programs:
        if not program.parameters:
            return f"`{program.name}` has no parameter"
    for program in programs:
        for one in all_sets(program):
            met = meets[program.name] if one.type is None else meets[program.name] & {one.type}
            if met and not split_filter(one.filter).bindings:
                return f"each `{min(met)}` concerns all instances of `{program.name}`"
    return f"{' and '.join(f'`{one.name}`' for one in programs)} have no parameters in common"
