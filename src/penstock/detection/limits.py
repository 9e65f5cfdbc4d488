"""Limits of detection: how much may wait, so that a pattern without a time bound does not fill a machine."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import TypedDict

from penstock.errors import DataError, PatternError
from penstock.events.durations import parse_duration
from penstock.ordering.policies import Duration

_MICROSECOND = timedelta(microseconds=1)


class ChosenLimits(TypedDict):
    """The limits among the fields of the engine's ``Choice``."""

    runs_per_instance: int | None
    age: int | None
    runs: int | None


@dataclass(frozen=True)
class Limits:
    """How much may wait at once; None is no limit.

    At the first two, runs are dropped and counted, the oldest first, and the same ones everywhere. At the others
    detection stops with a `penstock.StateError`: what it would find would depend on the machine.

    Attributes:
        runs_per_instance: The runs of a definition that wait for one value of its parameters.
        age: How old a run without a time bound may get: microseconds, a ``timedelta`` or text such as ``1 h``. It is
            kept as microseconds.
        runs: The runs of a definition that wait in all.
        held: The events that are held until they can be put in order. Where all events are there, none is held.

    >>> Limits(age="1 h").age, Limits(runs_per_instance=None).runs_per_instance
    (3600000000, None)
    >>> from penstock import detect
    >>> events = [{"type": type, "id": str(time), "time": time} for time, type in enumerate("AAB")]
    >>> found = detect(events, "[A] ; [B]", limits=Limits(runs_per_instance=1))
    >>> len(found), found.dropped
    (1, 1)
    """

    runs_per_instance: int | None = 1_000_000
    age: Duration | None = None
    runs: int | None = 50_000_000
    held: int | None = 5_000_000

    def __post_init__(self) -> None:
        for name in (one.name for one in fields(self)):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _duration(given) if name == "age" else _count(name, given))

    def chosen(self) -> ChosenLimits:
        """What the engine is told.

        >>> Limits().chosen()
        {'runs_per_instance': 1000000, 'age': None, 'runs': 50000000}
        """
        age = None if self.age is None else _duration(self.age)
        return {"runs_per_instance": self.runs_per_instance, "age": age, "runs": self.runs}


def _count(name: str, given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise PatternError(f"{name}: {given!r} is no limit", hint="give a whole number from 1 on, or None for no limit")
    return given


def _duration(given: Duration) -> int:
    if isinstance(given, str):
        try:
            return parse_duration(given)
        except DataError as error:
            raise PatternError(f"age: {error.message}", hint=error.hint) from None
    whole = given // _MICROSECOND if isinstance(given, timedelta) else given
    if isinstance(whole, bool) or not isinstance(whole, int) or whole < 1:
        raise PatternError(
            f"age: {given!r} is no duration", hint="give microseconds, a timedelta or text such as '1 h'"
        )
    return whole
