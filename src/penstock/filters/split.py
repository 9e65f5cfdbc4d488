"""What of a filter can be decided by columns, what binds parameters, and what needs a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.algebra.conditions import (
    FIELDS,
    Aggregate,
    And,
    Attribute,
    ClockFunction,
    Condition,
    LabelRead,
    Parameter,
    bindings,
    conjuncts,
)
from penstock.algebra.node import walk


@dataclass(frozen=True)
class Reads:
    """The names that a condition reads, each once, in the order in which they are written."""

    fields: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def needs_run(self) -> bool:
        """Whether a row's own columns are not enough.

        >>> Reads(attributes=("room",)).needs_run, Reads(parameters=("r",)).needs_run
        (False, True)
        """
        return bool(self.parameters or self.labels)


def reads(condition: Condition | None) -> Reads:
    """What a condition reads; ``hour()`` and the like read the field ``hi``.

    >>> from penstock.algebra.conditions import Comparison
    >>> reads(Comparison("=", Attribute("room"), Parameter("r")))
    Reads(fields=(), attributes=('room',), parameters=('r',), labels=())
    """
    fields: list[str] = []
    attributes: list[str] = []
    parameters: list[str] = []
    labels: list[str] = []
    for node in walk(condition) if condition is not None else ():
        match node:
            case Attribute(name=name):
                (fields if name in FIELDS else attributes).append(name)
            case ClockFunction():
                fields.append("hi")
            case Parameter(name=name):
                parameters.append(name)
            case LabelRead(label=name) | Aggregate(label=name):
                labels.append(name)
    return Reads(_once(fields), _once(attributes), _once(parameters), _once(labels))


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class SplitFilter:
    """Three conditions that together hold exactly where the filter does.

    ``plain`` needs columns only, ``bindings`` are pairs of an attribute (or field) and the parameter that it
    must equal, each parameter at most once, and ``residual`` is what only a run can decide.
    """

    plain: Condition | None = None
    bindings: tuple[tuple[str, str], ...] = ()
    residual: Condition | None = None


def split(condition: Condition | None) -> SplitFilter:
    """Sort the conjuncts of a filter by what they need.

    >>> from penstock.algebra.conditions import Comparison
    >>> bound = Comparison("=", Attribute("room"), Parameter("r"))
    >>> split(And((Attribute("open"), bound)))
    SplitFilter(plain=Attribute(name='open'), bindings=(('room', 'r'),), residual=None)
    """
    plain: list[Condition] = []
    bound: dict[str, str] = {}
    residual: list[Condition] = []
    for part in conjuncts(condition):
        binding = bindings(part)
        if not reads(part).needs_run:
            plain.append(part)
        elif binding and not binding.keys() & bound.keys():
            bound |= binding
        else:
            residual.append(part)
    pairs = tuple((attribute, parameter) for parameter, attribute in bound.items())
    return SplitFilter(_joined(plain), pairs, _joined(residual))


def _joined(parts: list[Condition]) -> Condition | None:
    return And(tuple(parts)) if len(parts) > 1 else next(iter(parts), None)
