"""Programs to graphs: the states of each in the order in which they are reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from penstock.algebra.conditions import And, Or
from penstock.algebra.pattern import Pattern
from penstock.automaton.program import Alternative, Option, Position, Program
from penstock.drawing.domains import SideNames, domain, fails_on, label
from penstock.drawing.graph import Graph, Move, State, Wait
from penstock.events.durations import format_duration
from penstock.languages.core.printer import print_condition, print_expression, print_timespec

Key = tuple[bool, tuple[Option, ...]]
"""What makes a state: whether nothing is matched yet, and the options."""


def graphs(programs: Iterable[Program], pattern: Pattern | None = None) -> list[Graph]:
    """A graph for each program, and after it one for each side of its ``||``; the pattern gives them their text.

    >>> from penstock import parse
    >>> from penstock.automaton.compile import compile_pattern
    >>> [graph.title for graph in graphs(compile_pattern(parse("[A] ; ([B] || [C])")))]
    ['composite', 'side 1 of || in composite', 'side 2 of || in composite']
    """
    texts = {one.name: print_expression(one.body) for one in pattern or ()}
    return [graph for one in programs for graph in _definition(one, texts.get(one.name, ""))]


def _definition(program: Program, text: str) -> Iterator[Graph]:
    sides = _side_names(program, "side ")
    yield _Automaton(program, sides).graph(program.name, program.name, text)
    yield from _sides(program, sides, program.name)


def _sides(program: Program, names: SideNames, definition: str) -> Iterator[Graph]:
    every = [side for group in program.sides for side in group]
    for name, side in zip((name for group in names for name in group), every, strict=True):
        inner = _side_names(side, f"{name}.")
        yield _Automaton(side, inner).graph(name, f"{name} of || in {definition}", "")
        yield from _sides(side, inner, definition)


def _side_names(program: Program, prefix: str) -> SideNames:
    """Names of a program's sides, counted through if there is more than one ``||``."""
    before = [sum(map(len, program.sides[:number])) for number in range(len(program.sides))]
    return [
        tuple(f"{prefix}{first + place}" for place in range(1, len(group) + 1))
        for first, group in zip(before, program.sides, strict=True)
    ]


class _Automaton:
    """The states of one program."""

    def __init__(self, program: Program, sides: SideNames) -> None:
        self.program = program
        self.sides = sides
        self.numbers: dict[Key, int] = {}
        for one in program.start:
            self.numbers.setdefault((True, one.options), len(self.numbers))
        self.starts = len(self.numbers)
        waiting = list(self.numbers)
        for key in waiting:
            waiting.extend(self.reach(key))
        self.generative = len(self.numbers)

    def reach(self, key: Key) -> Iterator[Key]:
        """The states that can be reached from one in one move and have no number yet, numbered."""
        for option in key[1]:
            for follower in self.program.follow[option.position]:
                found = (False, follower.options)
                if follower.options and found not in self.numbers:
                    self.numbers[found] = len(self.numbers)
                    yield found

    def graph(self, name: str, title: str, text: str) -> Graph:
        """The graph; its generative state has its name."""
        graph = Graph(name, title, text, (*map(self.state, self.numbers), State(name, "generative")))
        sets: list[dict[str, None]] = [{} for _ in graph.states]
        for _, _, move in graph.edges():
            sets[move.target].update(dict.fromkeys(move.sets))
        states = (replace(state, sets=tuple(timers)) for state, timers in zip(graph.states, sets, strict=True))
        return replace(graph, states=tuple(states))

    def state(self, key: Key) -> State:
        """One state; what sets its timers is seen only when all states are there."""
        start, options = key
        positions = self.positions(options)
        return State(
            name=self.state_name(self.numbers[key]),
            kind="start" if start else "ordinary",
            waits=tuple(self.wait(option, start) for option in options),
            domain=domain(self.program, positions, start),
            fails_on=fails_on(self.program, positions, start),
            timers=tuple(self.program.timers[n].name for n in _heard(positions)),
        )

    def state_name(self, number: int) -> str:
        """``S0``, ``S0'`` and so on for starts, then ``S1`` and so on."""
        if number >= self.starts:
            return f"S{number - self.starts + 1}"
        return "S0" + ("'" * number if number < 4 else f"'{number}")

    def wait(self, option: Option, start: bool) -> Wait:
        """One option of a state."""
        position = self.program.positions[option.position]
        limits = {n: format_duration(self.program.limits[n].microseconds) for n in position.limits}
        followers = self.program.follow[option.position]
        return Wait(
            label=label(self.program, position, self.sides),
            strong=start or option.strong,
            conditions=self.conditions(option.guards),
            within=tuple(limit for n, limit in limits.items() if n not in option.enters),
            begins=tuple(limit for n, limit in limits.items() if n in option.enters),
            moves=tuple(dict.fromkeys(self.moves(position, followers))),
        )

    def moves(self, position: Position, followers: Sequence[Alternative]) -> Iterator[Move]:
        """The end and the states that alternatives lead to."""
        ends = [one.end for one in followers if one.end is not None]
        if ends:
            yield Move(self.generative, condition=self.any_of(ends))
        for options in (one.options for one in followers if one.options):
            timers = set(position.sets_timers) & _heard(self.positions(options)).keys()
            yield Move(self.numbers[(False, options)], tuple(map(self.timer, sorted(timers))))

    def any_of(self, ends: Sequence[tuple[int, ...]]) -> str:
        """What must hold if all guards of one of several ends must; nothing if one of them has none."""
        if () in ends:
            return ""
        parts = [tuple(self.program.conditions[n] for n in guards) for guards in dict.fromkeys(ends)]
        choices = tuple(And(part) if len(part) > 1 else part[0] for part in parts)
        return print_condition(Or(choices) if len(choices) > 1 else choices[0])

    def positions(self, options: Iterable[Option]) -> list[Position]:
        """The positions of options."""
        return [self.program.positions[one.position] for one in options]

    def conditions(self, guards: Sequence[int]) -> tuple[str, ...]:
        """The text of guards."""
        return tuple(print_condition(self.program.conditions[n]) for n in guards)

    def timer(self, number: int) -> str:
        """A timer as it is set."""
        timer = self.program.timers[number]
        return f"{timer.name} = {print_timespec(timer.spec)}"


def _heard(positions: Iterable[Position]) -> dict[int, None]:
    return dict.fromkeys(n for one in positions for n in one.hears)
