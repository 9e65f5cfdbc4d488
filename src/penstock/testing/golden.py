"""Golden cases: plain text that a person can read and add to, for every runtime to agree with.

A file holds blocks with an empty line between them. The comment above a case is its title; a block of
comments alone is a heading.

::

    # an event in the domain that is in no label fails the run
    pattern   [A] [A in {A, B}]* [C]
    events    a a b c
    expect    -

What stands below a word, further in, belongs to it: more items or lines of a pattern, more events, one
composite a line. Beside these there are ``restart``, ``until 20``, ``zone Europe/London``, ``context recent``,
``runs 3`` (most runs of an instance), ``age 20`` (most seconds of a run without a time bound), and ``error``
with a fragment of the message for a pattern that must be refused. ``incomplete`` says which runs came to
nothing, why and when: ``failed@5 a1 b2``. The notation of events is that of
`penstock.testing.match`. A composite is written as its parts, after its type if it has one: ``Met: a1 b2``;
a composite among them as ``Met(a1 b2)``. Where one line of a case says stamps ``[1,2.5]``, attributes
``{d='x', n=3}`` or labels ``x=a1``, all lines below that word do. The order of lines does not matter.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from penstock.algebra.pattern import Pattern
from penstock.checks.check import parse
from penstock.errors import DataError, PenstockError
from penstock.events.event import Event
from penstock.events.found import Composite
from penstock.testing.match import Detail, Trace, shown, time, trace
from penstock.testing.runs import Incomplete

WORDS = ("pattern", "events", "restart", "until", "zone", "context", "runs", "age", "expect", "incomplete", "error")
NOTHING = "-"


class Find(Protocol):
    """What finds a pattern's composites (or incomplete runs) in events, such as `reference` (or `incomplete`)."""

    def __call__(
        self, pattern: Pattern, events: Sequence[Event], *, restart: bool, until: int | None, zone: str, **more: Any
    ) -> Sequence[Composite | Incomplete]:
        """All of them; ``more`` are the options that only some cases have."""


@dataclass(frozen=True)
class Case:
    """One golden case; ``error`` is a fragment of the message if the pattern must be refused."""

    title: str
    where: str
    pattern: str
    trace: Trace
    expected: tuple[str, ...]
    error: str | None = None
    restart: bool = False
    until: int | None = None
    zone: str = "UTC"
    more: Mapping[str, Any] = field(default_factory=dict)
    incomplete: tuple[str, ...] | None = None

    @property
    def needs(self) -> set[str]:
        """What it asks of a runtime beyond finding composites: options, and ``incomplete``."""
        return {*self.more, *(["incomplete"] if self.incomplete is not None else [])}


def read_cases(path: Path) -> list[Case]:
    """The cases of a file."""
    return list(cases_of(path.read_text(encoding="utf-8"), path.name))


def cases_of(text: str, name: str) -> Iterator[Case]:
    """The cases of a text that errors call ``name``.

    >>> [case.title for case in cases_of("# B follows A\\npattern [A];[B]\\nevents a b\\nexpect a1 b2", "here")]
    ['B follows A']
    """
    lines: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.strip():
            lines.append(line.rstrip())
            continue
        if not all(one.startswith("#") for one in lines):
            yield _case(lines, f"{name}:{number - len(lines)}")
        lines = []


def run(case: Case, detect: Find, incomplete: Find | None = None) -> list[str]:
    """What is wrong with what ``detect`` finds; nothing if it is as the case says.

    ``incomplete`` finds incomplete runs, where a case says which there are.

    >>> from penstock.testing.reference import reference
    >>> [case] = cases_of("pattern [A];[B]\\nevents b a\\nexpect a2 b1", "here")
    >>> run(case, reference)
    ['missing: a2 b1']
    """
    try:
        pattern = parse(case.pattern)
    except PenstockError as error:
        return _refused(case, error)
    if case.error is not None:
        return [f"not refused: expected an error that says {case.error!r}"]
    problems = _compared(case, pattern, case.expected, detect)
    if incomplete is not None and case.incomplete is not None:
        problems += _compared(case, pattern, case.incomplete, incomplete)
    return problems


def _compared(case: Case, pattern: Pattern, lines: Sequence[str], find: Find) -> list[str]:
    options = {"restart": case.restart, "until": case.until, "zone": case.zone, **case.more}
    detail = _detail(lines)
    got = Counter(shown(one, case.trace, detail) for one in find(pattern, case.trace.events, **options))
    wanted = Counter(lines)
    missing, odd = wanted - got, got - wanted
    return [f"missing: {line}" for line in missing.elements()] + [f"not expected: {line}" for line in odd.elements()]


def _detail(lines: Sequence[str]) -> Detail:
    """What expected lines say of composites."""
    parts = [re.sub(r"\{.*|'[^']*'", "", line) for line in lines]
    return Detail(
        stamp=any("[" in line for line in parts),
        attributes=any("{" in line for line in lines),
        labels=any("=" in line for line in parts),
    )


def _refused(case: Case, error: PenstockError) -> list[str]:
    said = f"{error.message} {error.hint or ''}"
    if case.error is not None and case.error.lower() in said.lower():
        return []
    return [f"refused: {error}"]


def _case(lines: list[str], where: str) -> Case:
    title = " ".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    said = _entries(lines, where)
    odd = said.keys() - set(WORDS)
    if odd or "pattern" not in said or ("expect" in said) is ("error" in said):
        raise DataError(
            f"{where}: a case has a pattern, events and what to expect; wrong: {', '.join(sorted(odd or said))}",
            hint=f"the words are {', '.join(WORDS)}",
        )
    more: dict[str, Any] = {"context": said["context"]} if "context" in said else {}
    more |= {"runs_per_instance": int(said["runs"])} if "runs" in said else {}
    more |= {"age": time(said["age"])} if "age" in said else {}
    return Case(
        title=title,
        where=where,
        pattern=said["pattern"],
        trace=trace(said.get("events", "")),
        expected=_lines(said.get("expect", NOTHING)),
        error=said.get("error"),
        restart="restart" in said,
        until=time(said["until"]) if "until" in said else None,
        zone=said.get("zone", "UTC"),
        more=more,
        incomplete=_lines(said["incomplete"]) if "incomplete" in said else None,
    )


def _lines(text: str) -> tuple[str, ...]:
    lines = tuple(" ".join(line.split()) for line in text.splitlines())
    return () if lines == (NOTHING,) else lines


def _entries(lines: list[str], where: str) -> dict[str, str]:
    """What stands after each word, and below it further in."""
    found: dict[str, list[str]] = {}
    word = ""
    for line in lines:
        if line.startswith("#"):
            continue
        if not line.startswith(" "):
            word = line.split()[0]
            if word in found:
                raise DataError(f"{where}: `{word}` stands twice in one case", hint="an empty line ends a case")
            line = " " * len(word) + line[len(word) :]
        found.setdefault(word, []).append(line)
    return {word: textwrap.dedent("\n".join(texts)).strip() for word, texts in found.items()}
