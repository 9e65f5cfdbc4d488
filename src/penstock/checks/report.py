"""What ``penstock check`` says of a pattern: parameters, how it splits, its time bound, what will cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from penstock.algebra import expressions as x
from penstock.algebra.conditions import bindings
from penstock.algebra.names import without_lets
from penstock.algebra.node import walk
from penstock.algebra.pattern import Definition, Pattern
from penstock.automaton.compile import compile_pattern
from penstock.automaton.program import Program
from penstock.checks.bound import time_bound


@dataclass(frozen=True)
class DefinitionReport:
    """What is worth knowing of one definition.

    Attributes:
        splits: For each parameter, by which attribute each event type can be split.
        copied: For each parameter, the event types that concern all its instances.
        bound: How long a match can be under way, in microseconds, if that is limited.
    """

    name: str
    parameters: tuple[str, ...]
    splits: dict[str, dict[str, str]]
    copied: dict[str, tuple[str, ...]]
    bound: int | None
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As what ``json.dumps`` takes."""
        return asdict(self)


def report(pattern: Pattern) -> list[DefinitionReport]:
    """A report on each definition, each after those whose composites it may meet.

    >>> from penstock import parse
    >>> whole = report(parse("[Open(door = $d)] ; [Close(door = $d)] within 1 h"))[0]
    >>> whole.splits, whole.bound
    ({'d': {'Open': 'door', 'Close': 'door'}}, 3600000000)
    """
    plain = without_lets(pattern)
    definitions = {definition.name: definition for definition in plain.definitions}
    return [_report(definitions[program.name], program) for program in compile_pattern(pattern)]


def _report(definition: Definition, program: Program) -> DefinitionReport:
    splits = {name: _split(definition, name) for name in program.parameters}
    bound, waits = time_bound(program)
    return DefinitionReport(
        name=program.name,
        parameters=program.parameters,
        splits={name: bound_types for name, (bound_types, _) in splits.items()},
        copied={name: copied for name, (_, copied) in splits.items()},
        bound=bound,
        warnings=(*waits, *_dying_starts(program), *_exponential(program)),
    )


def _split(definition: Definition, parameter: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """By which attribute each event type is split, and which types go to all instances."""
    timers = {node.timer for node in walk(definition) if isinstance(node, x.Timing)}
    found: dict[str, set[str | None]] = {}
    for one in walk(definition):
        if isinstance(one, x.DescribableSet) and one.type not in timers:
            found.setdefault(one.type or "*", set()).add(bindings(one.filter).get(parameter))
    split = {name: next(iter(by)) for name, by in found.items() if len(by) == 1}
    return (
        {name: by for name, by in split.items() if by is not None},
        tuple(name for name in found if split.get(name) is None),
    )


def _dying_starts(program: Program) -> Iterator[str]:
    for alternative in program.start:
        for option in alternative.options:
            position = program.positions[option.position]
            if set(position.written) - set(position.label) and not position.negated:
                yield f"{position.text} can end its own start: after the first event that fails it, no match \
starts any more (restart brings it back)"
            elif position.negated:
                yield f"{position.text} can end its own start: after the first event that it excludes, no match \
starts any more (restart brings it back)"


def _exponential(program: Program) -> Iterator[str]:
    """A loop in which a run becomes several at each round."""
    for number, position in enumerate(program.positions):
        rounds = [one for one in program.follow[number] if number in _reached(program, one.options)]
        if len(rounds) > 1:
            yield f"matches can grow exponentially: each time {position.text} matches, the run goes on as \
{len(rounds)}; write [A, B]* instead of ([A] | [B])*, or limit the rounds"
            return


def _reached(program: Program, options: tuple[Any, ...]) -> set[int]:
    reached: set[int] = set()
    waiting = [option.position for option in options]
    while waiting:
        here = waiting.pop()
        if here not in reached:
            reached.add(here)
            waiting += [option.position for one in program.follow[here] for option in one.options]
    return reached
