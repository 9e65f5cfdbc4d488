"""Labels: known where they are read, and read as what they are, one event or a list."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.algebra import conditions as c
from penstock.algebra import expressions as x
from penstock.algebra.node import Node, walk
from penstock.algebra.pattern import Definition, Pattern
from penstock.automaton.compile import compile_definition
from penstock.automaton.program import Program
from penstock.checks.shape import bodies, inner
from penstock.errors import nearest

Read = c.LabelRead | c.Aggregate
MANY = 2


def check_labels(pattern: Pattern) -> None:
    """Refuses a label that is read where it cannot be known, or as what it is not."""
    for definition in pattern.definitions:
        labels = {node.label for node in walk(definition) if isinstance(node, x.Labelled)}
        for read in _reads(definition):
            if read.label not in labels:
                raise _unknown(pattern, read, labels)
            if isinstance(read, c.LabelRead) and not _is_single(definition.body, read.label):
                raise pattern.error(
                    f"`{read.label}` stands for several events, so `{read.label}.{read.attribute}` says too little",
                    read,
                    f"write first({read.label}.{read.attribute}), last(…), max(…) or another of "
                    + ", ".join(c.AGGREGATES),
                )
        for body in bodies(definition.body):
            _check_known(pattern, body)


def _reads(node: Node) -> Iterator[Read]:
    return (one for one in walk(node) if isinstance(one, c.LabelRead | c.Aggregate))


def _unknown(pattern: Pattern, read: Read, labels: set[str]) -> Exception:
    close = nearest(read.label, labels)
    known = f"the labels are {', '.join(sorted(labels))}" if labels else "the pattern has none; write x: [A]"
    return pattern.error(f"there is no label `{read.label}`", read, f"did you mean `{close}`?" if close else known)


def _is_single(body: x.Expression, label: str) -> bool:
    labelled = (node for node in walk(body) if isinstance(node, x.Labelled) and node.label == label)
    return all(_is_atom(node.body) for node in labelled) and _most(body, label) < MANY


def _is_atom(expression: x.Expression) -> bool:
    once = isinstance(expression, x.Repetition) and (expression.low, expression.high) == (1, 1)
    return isinstance(expression, x.Atom) or (once and _is_atom(inner(expression)))


def _most(expression: x.Expression, label: str) -> int:
    """How many events a run can have under a label: none, one, or many."""
    match expression:
        case x.Labelled(label=name, body=body):
            return 1 if name == label else _most(body, label)
        case x.Atom():
            return 0
        case x.Alternation(choices=choices):
            return max(_most(choice, label) for choice in choices)
        case x.Concatenation(parts=parts) | x.Sequence(parts=parts) | x.Parallel(sides=parts):
            return min(MANY, sum(_most(part, label) for part in parts))
        case x.Timing(first=first, second=second):
            return min(MANY, _most(first, label) + _most(second, label))
        case x.Repetition(body=body, high=high):
            return min(MANY, _most(body, label) * (MANY if high is None else high))
    return _most(inner(expression), label)


def _check_known(pattern: Pattern, body: x.Expression) -> None:
    """Every read in a body must be able to come after something with that label, in the same body."""
    program = compile_definition(pattern, Definition("", body))
    here = _label_positions(program)
    reads: dict[int, tuple[Read, bool]] = {}

    def note(node: Node, position: int, *, at_end: bool) -> None:
        for read in _reads(node):
            labelled = here.get(read.label, set())
            known = position in _reachable(program, labelled) or (at_end and position in labelled)
            reads[id(read)] = (read, known or reads.get(id(read), (read, False))[1])

    for number, position in enumerate(program.positions):
        for one in {*position.label, *position.written, *position.scope}:
            condition = program.sets[one].filter
            if condition is not None:
                note(condition, number, at_end=False)
        for guard in _guards(program, number):
            note(program.conditions[guard], number, at_end=True)
    for read, known in reads.values():
        if not known:
            raise pattern.error(
                f"`{read.label}` is not known here: nothing is matched under that label before",
                read,
                "a filter can read what was matched earlier in the same side",
            )


def _label_positions(program: Program) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for number, position in enumerate(program.positions):
        names = {program.labels[label] for label in position.labels}
        if position.sides is not None:
            names |= {name for side in program.sides[position.sides] for name in _label_positions(side)}
        for name in names:
            found.setdefault(name, set()).add(number)
    return found


def _reachable(program: Program, starts: set[int]) -> set[int]:
    reached: set[int] = set()
    waiting = list(starts)
    while waiting:
        for alternative in program.follow[waiting.pop()]:
            fresh = {option.position for option in alternative.options} - reached
            reached |= fresh
            waiting.extend(fresh)
    return reached


def _guards(program: Program, position: int) -> set[int]:
    alternatives = program.follow[position]
    ends = {guard for one in alternatives for guard in one.end or ()}
    return ends | {guard for one in alternatives for option in one.options for guard in option.guards}
