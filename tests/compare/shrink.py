"""Makes a trial smaller as long as the engine and the reference still differ on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from penstock.algebra import expressions as x
from penstock.algebra.node import Node
from penstock.algebra.pattern import Pattern
from penstock.checks.check import parse
from penstock.errors import PenstockError
from penstock.events.event import Event
from penstock.languages.core.printer import print_pattern
from tests.compare.trial import Trial


def shrunk(trial: Trial, differs: Callable[[Trial], bool]) -> Trial:
    """The smallest trial that can be had by leaving things out one at a time."""
    smaller: Trial | None = trial
    while smaller is not None:
        trial = smaller
        smaller = next((one for one in _smaller(trial) if differs(one)), None)
    return trial


def _smaller(trial: Trial) -> Iterator[Trial]:
    for place in range(len(trial.events)):
        yield replace(trial, events=trial.events[:place] + trial.events[place + 1 :])
    yield from (replace(trial, pattern=pattern) for pattern in _smaller_patterns(trial.pattern))
    for name in trial.options:
        yield replace(trial, options={one: value for one, value in trial.options.items() if one != name})
    if trial.cuts:
        yield replace(trial, cuts=(), snapshots=())
    for cut in trial.cuts:
        yield replace(trial, cuts=tuple(one for one in trial.cuts if one != cut))
    if trial.snapshots:
        yield replace(trial, snapshots=())
    for place, event in enumerate(trial.events):
        for plain in _plainer_events(event):
            yield replace(trial, events=(*trial.events[:place], plain, *trial.events[place + 1 :]))


def _plainer_events(event: Event) -> Iterator[Event]:
    for name in event.attributes:
        yield replace(event, attributes={one: value for one, value in event.attributes.items() if one != name})
    if event.seq is not None:
        yield replace(event, seq=None)
    if event.source != "s":
        yield replace(event, source="s")
    if event.lo != event.hi:
        yield replace(event, lo=event.hi)


def _smaller_patterns(pattern: Pattern) -> Iterator[Pattern]:
    """Patterns with one thing less that pass the checks, as their text parses."""
    items = pattern.definitions
    candidates = [items[:place] + items[place + 1 :] for place in range(len(items)) if len(items) > 1]
    for place, item in enumerate(items):
        candidates += [
            (*items[:place], replace(item, body=body), *items[place + 1 :]) for body in _smaller_nodes(item.body)
        ]
    for candidate in candidates:
        try:
            yield parse(print_pattern(Pattern(candidate)))
        except PenstockError:
            continue


def _smaller_nodes(node: Any) -> Iterator[Any]:
    """An expression without one of its parts, or one of its parts alone."""
    if isinstance(node, x.Expression):
        yield from (child for child in node.children if isinstance(child, x.Expression))
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(node, x.DescribableSet) and item.name == "filter" and value is not None:
            yield replace(node, filter=None)
        if isinstance(value, Node):
            yield from (replace(node, **{item.name: one}) for one in _smaller_nodes(value))
        elif isinstance(value, tuple) and value and isinstance(value[0], Node):
            for place, member in enumerate(value):
                if len(value) > 1 or item.name == "domain":
                    yield replace(node, **{item.name: value[:place] + value[place + 1 :]})
                for one in _smaller_nodes(member):
                    yield replace(node, **{item.name: (*value[:place], one, *value[place + 1 :])})
