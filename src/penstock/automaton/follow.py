"""What may come first in an expression, and what may follow an atom of it.

Alternatives are found from the operators alone, as the language's description gives them. Conditions of
``where`` are not known yet, so options and ends that depend on them carry them as guards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from penstock.algebra import expressions as x
from penstock.automaton.program import Alternative, Option
from penstock.automaton.syntax import Occurrence

MAX_ALTERNATIVES = 4_000

EMPTY = Alternative((), ())
"""The alternative of what matches nothing and may end at once."""


class TooManyAlternatives(Exception):  # noqa: N818
    """There are more ways to go on than any program should have."""


class Follow:
    """Finds alternatives; positions, limits and guards are numbered by the caller."""

    def __init__(
        self, position: Callable[[Occurrence], int], limit: Callable[[Occurrence], int], guard: Callable[[x.Where], int]
    ) -> None:
        self.position = position
        self.limit = limit
        self.guard = guard
        self._first: dict[int, list[Alternative]] = {}
        self._rounds: dict[int, list[list[Alternative]]] = {}
        self._after: dict[int, list[Alternative]] = {}

    def first(self, here: Occurrence) -> list[Alternative]:
        """What may come first in an occurrence; what leads to it sets the strengths."""
        if id(here) not in self._first:
            self._first[id(here)] = self._find_first(here)
        return self._first[id(here)]

    def _find_first(self, here: Occurrence) -> list[Alternative]:
        match here.expression:
            case x.Atom() | x.Parallel():
                return [Alternative((Option(self.position(here)),), None)]
            case x.Alternation():
                return [one for child in here.children for one in self.first(child)]
            case x.Concatenation() | x.Sequence():
                return self._chain(here.children)
            case x.Repetition(low=low):
                return joined(self._chain(here.children[:low]), self._optional_rounds(here)[low])
            case x.Timing():
                return self.first(here.children[0])
            case x.Within():
                enter = (self.limit(here),)
                return [replace(one, options=_entering(one, enter)) for one in self.first(here.children[0])]
            case x.Where() as where:
                return [_guarded_end(one, (self.guard(where),)) for one in self.first(here.children[0])]
            case _:
                return self.first(here.children[0])

    def _chain(self, parts: Iterable[Occurrence]) -> list[Alternative]:
        whole = [EMPTY]
        for part in parts:
            whole = joined(whole, self.first(part))
            if _cannot_end(whole):
                break
        return whole

    def _optional_rounds(self, here: Occurrence) -> list[list[Alternative]]:
        """For each round of a repetition, what comes first from there on if no further round is needed.

        That is ``(C (C)?)?`` with as many C as are left, or ``C*``.
        """
        if id(here) not in self._rounds:
            rounds = [[EMPTY]]
            for child in reversed(here.children):
                rounds.append([replace(one, end=()) for one in joined(self.first(child), rounds[-1])])
            self._rounds[id(here)] = rounds[::-1]
        return self._rounds[id(here)]

    def after(self, here: Occurrence) -> list[Alternative]:
        """What may follow an occurrence."""
        if here.parent is None:
            return [EMPTY]
        if id(here) not in self._after:
            self._after[id(here)] = self._find_after(here, here.parent)
        return self._after[id(here)]

    def _find_after(self, here: Occurrence, parent: Occurrence) -> list[Alternative]:
        whole = [EMPTY]
        match parent.expression:
            case x.Concatenation() | x.Sequence() | x.Timing():
                strong = isinstance(parent.expression, x.Sequence)
                for sibling in parent.children[here.place + 1 :]:
                    whole = joined(whole, led(self.first(sibling), strong))
                    if _cannot_end(whole):
                        return whole
            case x.Repetition():
                whole = led(self._next_rounds(here, parent), strong=False)
            case x.Where() as where:
                guard = (self.guard(where),)
                return [_guarded(one, guard) for one in self.after(parent)]
        return joined(whole, self.after(parent))

    def _next_rounds(self, here: Occurrence, parent: Occurrence) -> list[Alternative]:
        assert isinstance(parent.expression, x.Repetition)  # noqa: S101
        low, high = parent.expression.low, parent.expression.high
        endless = high is None and here.place == len(parent.children) - 1
        next_round = here.place if endless else here.place + 1
        wanted = self._chain(parent.children[next_round:low] if not endless else ())
        return joined(wanted, self._optional_rounds(parent)[max(low, next_round) if not endless else next_round])


def _cannot_end(alternatives: list[Alternative]) -> bool:
    return all(one.end is None for one in alternatives)


def led(alternatives: list[Alternative], strong: bool) -> list[Alternative]:
    """The alternatives as an operator leads to them."""
    return [
        Alternative(_merged(replace(option, strong=strong) for option in one.options), one.end) for one in alternatives
    ]


def joined(before: list[Alternative], after: list[Alternative]) -> list[Alternative]:
    """Where what comes before may be empty, its options and those of each alternative after it are one set."""
    whole: dict[Alternative, None] = {}
    for one in before:
        if one.end is None:
            whole[one] = None
            continue
        for two in after:
            more = _guarded(two, one.end)
            whole[Alternative(_merged((*one.options, *more.options)), more.end)] = None
        if len(whole) > MAX_ALTERNATIVES:
            raise TooManyAlternatives
    return list(whole)


def _guarded(alternative: Alternative, guards: tuple[int, ...]) -> Alternative:
    options = tuple(replace(one, guards=_union(one.guards, guards)) for one in alternative.options)
    return _guarded_end(replace(alternative, options=options), guards)


def _guarded_end(alternative: Alternative, guards: tuple[int, ...]) -> Alternative:
    return alternative if alternative.end is None else replace(alternative, end=_union(alternative.end, guards))


def _entering(alternative: Alternative, limits: tuple[int, ...]) -> tuple[Option, ...]:
    return tuple(replace(option, enters=_union(limits, option.enters)) for option in alternative.options)


def _union(one: tuple[int, ...], two: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({*one, *two}))


def _merged(options: Iterable[Option]) -> tuple[Option, ...]:
    """Options without those that another makes superfluous: weak wins, and so do fewer guards."""
    alike: dict[tuple[int, tuple[int, ...]], list[Option]] = {}
    for one in dict.fromkeys(options):
        alike.setdefault((one.position, one.enters), []).append(one)
    kept = [one for some in alike.values() for one in some if len(some) == 1 or not _is_covered(one, some)]
    return tuple(sorted(kept, key=lambda one: (one.position, one.strong, one.enters, one.guards)))


def _is_covered(one: Option, some: list[Option]) -> bool:
    """Whether another of the options at a position makes one superfluous."""
    return any(
        other != one and (not other.strong or one.strong) and set(other.guards) <= set(one.guards) for other in some
    )
