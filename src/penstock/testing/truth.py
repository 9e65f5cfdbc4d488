"""What conditions mean, one event at a time: the reference's own evaluator, with ``None`` for unknown and null."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from penstock.algebra import conditions as c

ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Context:
    """What a condition can read: parameters, what was matched under each label, and the event at hand."""

    parameters: Mapping[str, Any]
    labels: Mapping[str, Sequence[Any]]
    zone: str
    event: Any = None

    def at(self, event: Any) -> Context:
        """The same, for this event."""
        return replace(self, event=event)

    @staticmethod
    def read(event: Any, name: str) -> Any:
        """A field or an attribute of an event; ``None`` if it is absent."""
        if name in c.FIELDS:
            return getattr(event, name, None)
        value = event.attributes.get(name)
        return None if isinstance(value, float) and math.isnan(value) else value


def kind(value: Any) -> str:
    """Values of different kinds are never equal, and never compared."""
    return {bool: "boolean", int: "number", float: "number", str: "text"}.get(type(value), "time")


def evaluate(condition: c.Condition, known: Context) -> Any:  # noqa: C901
    """The value of a condition; a truth is true, false or ``None``."""
    match condition:
        case c.Literal(value=value):
            return value
        case c.Attribute(name=name):
            return known.read(known.event, name)
        case c.Parameter(name=name):
            return known.parameters.get(name)
        case c.LabelRead(label=label, attribute=attribute):
            events = known.labels.get(label, ())
            return known.read(events[0], attribute) if events else None
        case c.Aggregate():
            return _aggregate(condition, known)
        case c.ClockFunction(function=function):
            local = (EPOCH + timedelta(microseconds=known.event.hi)).astimezone(ZoneInfo(known.zone))
            return local.weekday() if function == "weekday" else getattr(local, function)
        case c.Arithmetic(operator=sign, left=left, right=right):
            return _arithmetic(sign, evaluate(left, known), evaluate(right, known))
        case c.Negative(operand=operand):
            return _arithmetic("-", 0, evaluate(operand, known))
        case c.Comparison(operator=sign, left=left, right=right):
            return _compare(sign, evaluate(left, known), evaluate(right, known))
        case c.And(parts=parts):
            return _all([_truth(evaluate(part, known)) for part in parts])
        case c.Or(parts=parts):
            return _not(_all([_not(_truth(evaluate(part, known))) for part in parts]))
        case c.Not(operand=operand):
            return _not(_truth(evaluate(operand, known)))
        case c.Between(value=value, low=low, high=high, negated=negated):
            given = evaluate(value, known)
            inside = [_compare("<=", evaluate(low, known), given), _compare("<=", given, evaluate(high, known))]
            return _not(_all(inside)) if negated else _all(inside)
        case c.In(value=value, choices=choices, negated=negated):
            given = evaluate(value, known)
            outside = _all([_not(_compare("=", given, evaluate(one, known))) for one in choices])
            return outside if negated else _not(outside)
        case c.Like(value=value, pattern=pattern, escape=escape, negated=negated):
            text = evaluate(value, known)
            alike = bool(_like(pattern, escape).fullmatch(text)) if isinstance(text, str) else None
            return _not(alike) if negated else alike
        case c.IsNull(value=value, negated=negated):
            return (evaluate(value, known) is None) is not negated
    raise TypeError(type(condition).__name__)


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _not(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _all(truths: list[bool | None]) -> bool | None:
    return False if False in truths else None if None in truths else True


def _compare(sign: str, left: Any, right: Any) -> bool | None:
    if left is None or right is None or kind(left) != kind(right):
        return None
    return ORDER[sign](left, right)


def _arithmetic(sign: str, left: Any, right: Any) -> Any:
    if left is None or right is None or {kind(left), kind(right)} != {"number"} or (sign == "/" and right == 0):
        return None
    value = SUMS[sign](left, right)
    return _fitting(value)


def _fitting(value: Any) -> Any:
    """A number, unless it is none or does not fit into 64 bits."""
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else None
    return None if math.isnan(value) else value


def _aggregate(aggregate: c.Aggregate, known: Context) -> Any:
    events = known.labels.get(aggregate.label, ())
    if aggregate.attribute is None:
        return len(events)
    every = [known.read(event, aggregate.attribute) for event in events]
    values = [value for value in every if value is not None]
    if aggregate.function == "distinct":
        return len({(kind(value), value) for value in values})
    if aggregate.function in ("first", "last"):
        return every[0 if aggregate.function == "first" else -1] if every else None
    kinds = {kind(value) for value in values}
    if len(kinds) != 1 or (aggregate.function in ("sum", "avg") and kinds != {"number"}):
        return None
    if aggregate.function == "avg":
        return sum(values) / len(values)
    if aggregate.function == "sum":
        return _fitting(sum(values))
    return min(values) if aggregate.function == "min" else max(values)


def _like(pattern: str, escape: str | None) -> re.Pattern[str]:
    mark = re.escape(escape) if escape is not None else "(?!)"
    wild = {"%": ".*", "_": "."}
    pieces = re.findall(f"{mark}.|.", pattern, re.DOTALL)
    return re.compile("".join(re.escape(p[1:]) if len(p) > 1 else wild.get(p, re.escape(p)) for p in pieces), re.DOTALL)
