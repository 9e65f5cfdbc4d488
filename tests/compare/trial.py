"""One comparison of the engine with the reference: what is detected, how, and where the two differ."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from penstock.algebra.pattern import Pattern
from penstock.errors import PatternError, StateError
from penstock.events.event import Event
from penstock.events.found import Composite
from penstock.testing.generate import FEW, SECOND, Pick, choices, meaningful_pattern, plain_pattern, trace
from penstock.testing.meaning import Using
from penstock.testing.reference import Outcome, outcome
from penstock.testing.runs import Incomplete
from tests.engine.conftest import SUPPORTED, composites_of, feeds, incomplete_of, table_of

CRASH = "the engine failed"
MOST = 20_000
"""Where more composites are found, these are mostly subsets of subsets, which the reference would list for days."""
PLAIN = "plain"


class TooLargeError(Exception):
    """What a trial finds is too much to be compared."""


@dataclass(frozen=True)
class Trial:
    """A pattern, events, options of detection, and how the input is cut into batches."""

    pattern: Pattern
    events: tuple[Event, ...]
    options: dict[str, Any] = field(hash=False)
    cuts: tuple[int, ...] = ()
    snapshots: tuple[int, ...] = ()


@dataclass(frozen=True)
class Difference:
    """What only one of the two finds, as text."""

    missing: tuple[str, ...]
    odd: tuple[str, ...]


def random_trial(seed: str, context: Using | None = None) -> Trial:
    """The trial of a seed; it has only options that the engine knows. Seeds of plain trials begin with a word."""
    pick = Random(seed).choice  # noqa: S311
    if seed.startswith(PLAIN):
        return plain_trial(pick)
    pattern, events = meaningful_pattern(pick, sides=pick([1, 1, 2])), tuple(trace(pick))
    options = supported(choices(pick, context))
    if pick(range(3)) == 0:
        options["until"] = pick(range(1, 16)) * SECOND
    cuts = tuple(sorted(pick(range(8)) for _ in range(pick(range(4)))))
    snapshots = tuple(cut for cut in cuts if "snapshots" in SUPPORTED and pick((False, True)))
    return Trial(pattern, events, options, cuts, snapshots)


def plain_trial(pick: Pick) -> Trial:
    """A trial whose pattern asks nothing of runs, with more events: many of its runs can move together."""
    pattern, events = plain_pattern(pick), tuple(trace(pick, most=12, types=FEW, seconds=range(2, 15)))
    options: dict[str, Any] = {"restart": pick((True, True, False))}
    if pick(range(4)) == 0:
        options["runs_per_instance"] = pick((1, 2, 4))
    if pick(range(4)) == 0:
        options["until"] = pick(range(1, 20)) * SECOND
    cuts = tuple(sorted(pick(range(13)) for _ in range(pick(range(4)))))
    return Trial(pattern, events, options, cuts, tuple(cut for cut in cuts if pick((False, True))))


def supported(options: dict[str, Any]) -> dict[str, Any]:
    """Those of the options that the engine knows."""
    return {name: value for name, value in options.items() if name in {"restart", *SUPPORTED} and value is not None}


def engine_outcome(trial: Trial, reports: bool = True) -> Outcome:
    """What the engine makes of a trial: the one place that knows how the engine is asked."""
    more: dict[str, Any] = {"snapshots": trial.snapshots} if trial.snapshots else {}
    found = list(feeds(trial.pattern, trial.events, cuts=trial.cuts, incomplete=reports, **trial.options, **more))
    if sum(len(definition.composites) for one in found for definition in one.definitions) > MOST:
        raise TooLargeError
    composites = [composite for one in found for composite in composites_of(one)]
    return Outcome(composites, [run for one in found for run in incomplete_of(one)])


def compared(trial: Trial) -> tuple[Difference | None, Outcome | None]:
    """Where the two differ, and what the reference finds; nothing for what the engine refuses or has no room for.

    The engine detects twice: where no reports of incomplete runs are wanted, many programs are stepped by other code.
    """
    try:
        found = engine_outcome(trial)
        silent = engine_outcome(trial, reports=False)
    except (PatternError, StateError, MemoryError, TooLargeError):
        return None, None
    except Exception:
        return Difference((), (CRASH, *traceback.format_exc().splitlines()[-3:])), None
    wanted = outcome(trial.pattern, table_of(trial.events).to_events(), **trial.options)
    got, meant = _counted(found), _counted(wanted)
    if got == meant:
        got, meant = _counted(silent), _counted(Outcome(wanted.composites, []))
    if got == meant:
        return None, wanted
    return Difference(tuple((meant - got).elements()), tuple((got - meant).elements())), wanted


def _counted(found: Outcome) -> Counter[str]:
    told: Sequence[Composite | Incomplete] = found.incomplete if "incomplete" in SUPPORTED else []
    return Counter(repr(canonical(one)) for one in [*found.composites, *told])


def canonical(symbol: Any) -> Any:
    """A composite or an incomplete run as plain data: type, stamp, attributes, parts with labels, why and when."""
    if isinstance(symbol, Event):
        return symbol.source, symbol.id
    attributes = sorted((name, _value(one)) for name, one in symbol.attributes.items() if one is not None)
    parts = [(canonical(part.symbol), sorted(part.labels)) for part in symbol.parts]
    ended = (symbol.reason, symbol.at) if isinstance(symbol, Incomplete) else ()
    return symbol.type, symbol.lo, symbol.hi, attributes, parts, *ended


def _value(given: Any) -> Any:
    return (type(given).__name__, given) if isinstance(given, bool | str) else ("number", float(given))
