"""What may be given for each option of detection: whatever else is given is told at once, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from penstock.algebra.pattern import Pattern
from penstock.detection.limits import Limits
from penstock.errors import PenstockError
from penstock.events.fields import shown
from penstock.events.mapping import Columns
from penstock.ordering.policies import BestEffort, Delay, Guaranteed, Probabilistic

Check = Callable[[Any], bool]


def check_options(**given: Any) -> None:
    """Refuses what is nothing that an option can be.

    >>> check_options(restart=True, sources=["door-1"])
    >>> check_options(sources="door-1")
    Traceback (most recent call last):
    penstock.errors.PenstockError: `sources` is 'door-1'
    hint: give a list of the names of sources
    """
    for name, value in given.items():
        is_good, wanted = _OPTIONS[name]
        if not is_good(value):
            raise PenstockError(f"`{name}` is {_told(value)}", hint=f"give {wanted}")


def _told(value: Any) -> str:
    plain = isinstance(value, str | int | float | list | dict | tuple | None)
    return shown(value) if plain else f"a {type(value).__name__}"


def _is(*kinds: type) -> Check:
    return lambda value: isinstance(value, kinds)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool | int | np.bool_) and value in (False, True)


def _is_count(least: int) -> Check:
    return lambda value: isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def _are_names(value: Any) -> bool:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return False
    return not isinstance(value, list | tuple | set | frozenset) or all(isinstance(one, str) for one in value)


_NONE = type(None)
_TRUTH: tuple[Check, str] = (_is_truth, "True or False")
_OPTIONS: dict[str, tuple[Check, str]] = {
    "pattern": (_is(str, Pattern), "a pattern, or its text, such as '[A] ; [B]'"),
    "patterns": (
        _is(str, Pattern, list, tuple, dict),
        "a pattern or its text, a list of them, or a dict by their names",
    ),
    "context": (_is(str), "the name of a context, such as 'chronicle'"),
    "restart": _TRUTH,
    "incomplete": _TRUTH,
    "unique": _TRUTH,
    "late": _TRUTH,
    "status": _TRUTH,
    "skip_bad": _TRUTH,
    "changed": (_is(str), "'refuse' or 'restart'"),
    "zone": (_is(str, _NONE), "the name of a time zone, such as 'Europe/Berlin'"),
    "carry": (lambda value: isinstance(value, str) or _are_names(value), "'all', 'none' or a list of attributes"),
    "only": (_are_names, "a list of the names of definitions"),
    "columns": (_is(Mapping, Columns, _NONE), "a dict that says which column a field is, such as {'type': 'kind'}"),
    "time_unit": (_is(str, _NONE), "'s', 'ms', 'us' or 'ns'"),
    "clock_error": (_is_count(0), "a whole number of microseconds"),
    "limits": (_is(Limits, _NONE), "penstock.Limits(…)"),
    "policy": (
        _is(str, BestEffort, Delay, Guaranteed, Probabilistic, _NONE),
        "a policy, such as penstock.guaranteed() or 'delay(5 s)'",
    ),
    "source": (_is(str), "the name of a source"),
    "sources": (_are_names, "a list of the names of sources"),
    "clock": (callable, "a function that tells the time in microseconds"),
    "buckets": (lambda value: value is None or _is_count(1)(value), "a whole number, at least 1"),
}
"""For each option what it can be, as a check and in words."""
