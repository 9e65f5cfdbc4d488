"""A trial on which the engine and the reference differ, as a golden case that says what the reference finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.events.event import Event
from penstock.languages.core.printer import print_pattern
from penstock.testing.generate import SECOND
from penstock.testing.match import Detail, shown, trace
from penstock.testing.reference import outcome
from tests.compare.trial import Trial, compared

WORDS = {"context": "context", "runs_per_instance": "runs", "age": "age", "until": "until"}


def case_of(trial: Trial, title: str) -> str:
    """The golden case, with what the engine gives instead and how the input was cut in its title."""
    difference, _ = compared(trial)
    lines = [f"# {title}; batches cut at {list(trial.cuts)}, restored at {list(trial.snapshots)}"]
    if difference is not None:
        lines += [f"# only the reference: {one}" for one in difference.missing]
        lines += [f"# only the engine: {line}" for one in difference.odd for line in one.splitlines()]
    events = " ".join(_event(one) for one in trial.events)
    lines += [_entry("pattern", print_pattern(trial.pattern).splitlines()), _entry("events", [events])]
    if trial.options.get("restart"):
        lines.append("restart")
    lines += [_entry(word, [_option(trial.options[name])]) for name, word in WORDS.items() if name in trial.options]
    return "\n".join([*lines, *_expected(trial, events)])


def _expected(trial: Trial, events: str) -> Iterator[str]:
    read = trace(events)
    found = outcome(trial.pattern, read.events, **trial.options)
    detail = Detail(stamp=True, attributes=True, labels=True)
    yield _entry("expect", [shown(one, read, detail) for one in found.composites] or ["-"])
    yield _entry("incomplete", [shown(one, read, detail) for one in found.incomplete] or ["-"])


def _entry(word: str, lines: list[str]) -> str:
    return "\n".join(f"{word if place == 0 else '':<10} {line}" for place, line in enumerate(lines))


def _option(value: Any) -> str:
    return f"{value / SECOND:g}" if isinstance(value, int) and value >= SECOND else str(value)


def _event(event: Event) -> str:
    stamp = f"{event.lo / SECOND:g}" + (f"-{event.hi / SECOND:g}" if event.lo != event.hi else "")
    attributes = ", ".join(f"{name}={value}" for name, value in event.attributes.items())
    counter = f"#{event.seq}" if event.seq is not None else ""
    source = f'"{event.source}"' if event.source != "s" else ""
    return f"{event.type.lower()}@{stamp}" + (f"({attributes})" if attributes else "") + f"{source}{counter}/{event.id}"
