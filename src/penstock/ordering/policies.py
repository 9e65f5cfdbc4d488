"""Detection policies: when an event may be consumed. Immutable, and written as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from penstock.errors import DataError, PatternError, nearest
from penstock.events.durations import format_duration, parse_duration

Duration = int | str | timedelta
"""Microseconds, text such as ``10 s``, or a ``timedelta``."""

_MICROSECOND = timedelta(microseconds=1)
_FORM = re.compile(r"\s*(?P<name>\w+)\s*(?:\((?P<argument>.*)\))?\s*", re.DOTALL)
_NAMED = re.compile(r"\s*(?P<name>\w+)\s*=(?P<value>.*)", re.DOTALL)
_HINT = "policies are best_effort, guaranteed, guaranteed(max_wait=10 s), probabilistic(0.99) and delay(5 s)"


@dataclass(frozen=True)
class BestEffort:
    """Consume on arrival.

    >>> print(BestEffort())
    best_effort
    """

    def __str__(self) -> str:
        return "best_effort"


@dataclass(frozen=True)
class Guaranteed:
    """Consume what is stable; ``max_wait`` is how long an event waits for others at most, in microseconds.

    >>> print(Guaranteed(), Guaranteed(10_000_000))
    guaranteed guaranteed(max_wait=10 s)
    """

    max_wait: int | None = None

    def __str__(self) -> str:
        return "guaranteed" if self.max_wait is None else f"guaranteed(max_wait={format_duration(self.max_wait)})"


@dataclass(frozen=True)
class Probabilistic:
    """Consume once nothing earlier is under way with probability ``p``, as far as can be estimated.

    >>> print(Probabilistic(0.99))
    probabilistic(0.99)
    """

    p: float

    def __str__(self) -> str:
        return f"probabilistic({self.p!r})"


@dataclass(frozen=True)
class Delay:
    """Consume once the newest stamp or arrival is later than the event's end by ``d`` microseconds.

    >>> print(Delay(5_000_000))
    delay(5 s)
    """

    d: int

    def __str__(self) -> str:
        return f"delay({format_duration(self.d)})"


Policy = BestEffort | Guaranteed | Probabilistic | Delay


def best_effort() -> Policy:
    """Consume events on arrival: the least delay, and results that may be wrong.

    >>> print(best_effort())
    best_effort
    """
    return BestEffort()


def guaranteed(max_wait: Duration | None = None) -> Policy:
    """Consume an event once every source has shown a later stamp: the results of ordered input.

    With ``max_wait`` no event waits longer than that; what comes too late then is in the late stream.

    >>> print(guaranteed(), guaranteed(max_wait="1 min"))
    guaranteed guaranteed(max_wait=1 min)
    """
    return Guaranteed(None if max_wait is None else _microseconds("max_wait", max_wait))


def probabilistic(p: float) -> Policy:
    """Consume an event once the probability that nothing earlier is under way is at least ``p``.

    >>> print(probabilistic(0.95))
    probabilistic(0.95)
    >>> probabilistic(1)
    Traceback (most recent call last):
    penstock.errors.PatternError: 1 is no probability for this policy
    hint: give one between 0 and 1, such as 0.99; for certainty there is guaranteed
    """
    if isinstance(p, bool) or not isinstance(p, int | float) or not 0 < p < 1:
        raise PatternError(
            f"{p!r} is no probability for this policy",
            hint="give one between 0 and 1, such as 0.99; for certainty there is guaranteed",
        )
    return Probabilistic(float(p))


def delay(d: Duration) -> Policy:
    """Consume an event once something later than its end by more than ``d`` was seen: for delays that are bounded.

    >>> from datetime import timedelta
    >>> delay("5 s") == delay(timedelta(seconds=5)) == delay(5_000_000)
    True
    """
    return Delay(_microseconds("delay", d))


def parse_policy(text: str) -> Policy:
    """Reads a policy as it is written and printed.

    >>> parse_policy("guaranteed(max_wait = 10 s)")
    Guaranteed(max_wait=10000000)
    >>> parse_policy("garanteed")
    Traceback (most recent call last):
    penstock.errors.PatternError: 'garanteed' is no policy
    hint: did you mean guaranteed? policies are best_effort, guaranteed, guaranteed(max_wait=10 s), ...
    """
    form = _FORM.fullmatch(text)
    if form is None or form["name"] not in _READERS:
        close = nearest(form["name"] if form else text, _READERS)
        hint = f"did you mean {close}? {_HINT}" if close else _HINT
        raise PatternError(f"{text.strip()!r} is no policy", hint=hint)
    argument = form["argument"]
    name, wanted, needed = form["name"], *_READERS[form["name"]]
    if argument is None or not argument.strip():
        if needed:
            raise PatternError(f"{name} needs to know {wanted}", hint=_HINT)
        return guaranteed() if name == "guaranteed" else best_effort()
    return _with_argument(text.strip(), name, wanted, argument)


_READERS = {
    "best_effort": ("", False),
    "guaranteed": ("max_wait", False),
    "probabilistic": ("p", True),
    "delay": ("d", True),
}
"""For each policy the name of its argument, and whether it must be given."""


def _with_argument(text: str, name: str, wanted: str, argument: str) -> Policy:
    named = _NAMED.fullmatch(argument)
    if not wanted or (named and named["name"] != wanted):
        given = named["name"] if named else argument.strip()
        raise PatternError(f"{name} knows no {given!r}", hint=_HINT)
    value = (named["value"] if named else argument).strip()
    if name == "probabilistic":
        return probabilistic(_number(text, value))
    return guaranteed(value) if name == "guaranteed" else delay(value)


def _number(text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise PatternError(f"{value!r} in {text!r} is no number", hint=_HINT) from None


def _microseconds(name: str, given: Duration) -> int:
    if isinstance(given, str):
        try:
            return parse_duration(given)
        except DataError as error:
            raise PatternError(f"{name}: {error.message}", hint=error.hint) from None
    whole = given // _MICROSECOND if isinstance(given, timedelta) else given
    if isinstance(whole, bool) or not isinstance(whole, int) or whole <= 0:
        raise PatternError(
            f"{name}: {given!r} is no duration", hint="give microseconds, a timedelta or text such as '10 s'"
        )
    return whole
