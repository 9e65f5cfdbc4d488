"""A one-line match for tests and documentation, and the notation of events and composites that it uses.

``a`` is an event of type A, at the next whole second. After it may stand, in any order: a time or an
interval in seconds (``a@5``, ``a@1.5-3``; also ``a@18:59:30`` and ``a@2026-03-29T00:30:00Z``), attributes
(``a(v=3, room='x')``), a source (``a"door-1"``), a counter (``a#7``) and an id (``a/17``). A type that does
not begin with a capital stands in quotes: ``'office.door'@5``. An event's name is its word and its place
in the text: the third event of ``a b a`` is ``a3``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from penstock.checks.check import parse
from penstock.errors import DataError
from penstock.events.event import Event
from penstock.events.found import Composite, Part
from penstock.events.times import datetime_of, format_time, of_datetime, parse_time
from penstock.testing.reference import reference
from penstock.testing.runs import Incomplete

SECOND = 1_000_000
TIME = r"\d{4}-\d\d-\d\d[Tt][^\s()\"#/]+|\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?|\d+(?:\.\d+)?"
TEXT = r"'(?:[^']|'')*'"
SUFFIX = re.compile(
    rf"""@(?P<lo>{TIME})(?:-(?P<hi>{TIME}))?
      |  \((?P<attributes>(?:[^()']|{TEXT})*)\)
      |  "(?P<source>[^"]*)"
      |  \#(?P<seq>-?\d+)
      |  /(?P<id>[\w.-]+)""",
    re.VERBOSE,
)
TOKEN = re.compile(rf"\s*(?P<word>[^\W\d][\w.]*|{TEXT})(?P<suffixes>(?:{SUFFIX.pattern})*)", re.VERBOSE)
VALUE = rf"{TEXT}|[^\s,=']+"
ATTRIBUTE = re.compile(rf"\s*(?P<name>\w+)\s*=\s*(?P<value>{VALUE})\s*(?:,|\Z)")


@dataclass(frozen=True)
class Trace:
    """Events as a text gives them, and their names."""

    events: tuple[Event, ...]
    names: Mapping[tuple[str, str, int, int], str]

    def name(self, event: Event) -> str:
        """The event's name, such as ``a1``."""
        return self.names[event.source, event.id, event.lo, event.hi]


def match(pattern: str, events: str, *, until: str | None = None, **choices: Any) -> list[str]:
    """What the reference finds, as text: the parts, and the attributes if there are any.

    The choices are those of `penstock.testing.meaning.Choices`, such as ``restart=True``.

    >>> match("[A] [A in {A, B}]* [C]", "a a c")
    ['a1 a2 c3', 'a2 c3']
    >>> match("[Open(door = $d)] ; [Close(door = $d)]", "open(door=1) open(door=2) close(door=2)")
    ['open2 close3 {d=2}']
    """
    read = trace(events)
    found = reference(parse(pattern), read.events, until=None if until is None else time(until), **choices)
    return [shown(composite, read, Detail(attributes=True)) for composite in found]


def trace(text: str) -> Trace:
    """The events that a text in the notation says.

    >>> [(event.type, event.hi) for event in trace("a b@7 c").events]
    [('A', 1000000), ('B', 7000000), ('C', 8000000)]
    """
    events: list[Event] = []
    names: dict[tuple[str, str, int, int], str] = {}
    for number, (word, suffixes) in enumerate(_tokens(text), 1):
        after = events[-1].hi if events else 0
        event = _event(word, _fields(suffixes), number, (after // SECOND + 1) * SECOND)
        events.append(event)
        names.setdefault((event.source, event.id, event.lo, event.hi), f"{word.strip(chr(39))}{number}")
    return Trace(tuple(events), names)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position, end = 0, len(text.rstrip())
    while position < end:
        found = TOKEN.match(text, position)
        if not found or (found.end() < end and not text[found.end()].isspace()):
            raise DataError(f"{text[position:].split()[0]!r} is not an event", hint="write one such as a@5(v=3)")
        yield found["word"], found["suffixes"]
        position = found.end()


def _fields(suffixes: str) -> dict[str, str]:
    return {
        name: value
        for found in SUFFIX.finditer(suffixes)
        for name, value in found.groupdict().items()
        if value is not None
    }


def _event(word: str, fields: Mapping[str, str], number: int, next_second: int) -> Event:
    lo = time(fields["lo"]) if "lo" in fields else next_second
    return Event(
        type=_unquoted(word) if word.startswith("'") else word[0].upper() + word[1:],
        source=fields.get("source", "s"),
        id=fields.get("id", f"{number:03}"),
        lo=lo,
        hi=time(fields["hi"]) if "hi" in fields else lo,
        seq=int(fields["seq"]) if "seq" in fields else None,
        attributes=dict(_attributes(fields.get("attributes", ""))),
    )


def _attributes(text: str) -> Iterator[tuple[str, Any]]:
    position = 0
    while position < len(text.rstrip()):
        found = ATTRIBUTE.match(text, position)
        if not found:
            raise DataError(f"{text[position:]!r} is not an attribute", hint="write one such as v=3 or room='x'")
        value = _value(found["value"])
        if value is not None:
            yield found["name"], value
        position = found.end()


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    if text.startswith("'"):
        return _unquoted(text)
    if re.match(r"\d{4}-\d\d-", text):
        return datetime_of(parse_time(text))
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")


def time(text: str) -> int:
    """Microseconds of a time in the notation.

    >>> time("1.5"), time("0:01"), time("1970-01-01T00:00:02Z")
    (1500000, 60000000, 2000000)
    """
    if "-" in text:
        return parse_time(text)
    seconds = Fraction(0)
    for piece in text.split(":"):
        seconds = seconds * 60 + Fraction(piece)
    clock = seconds * (60 if text.count(":") == 1 else 1) * SECOND
    return int(clock)


@dataclass(frozen=True)
class Detail:
    """What is written of a composite beside its type and parts."""

    stamp: bool = False
    attributes: bool = False
    labels: bool = False


def shown(composite: Composite | Incomplete, trace: Trace, detail: Detail) -> str:
    """A composite or an incomplete run as text; its type is left out if the pattern has no name.

    >>> from penstock import parse
    >>> read = trace("a b")
    >>> met = reference(parse("Met := x: [A] ; [B] select n = count(x)"), read.events)[0]
    >>> shown(met, read, Detail(stamp=True, attributes=True, labels=True))
    'Met: x=a1 b2 [1,2] {n=1}'
    """
    text = "" if composite.type == "composite" else f"{composite.type}: "
    if isinstance(composite, Incomplete):
        text = f"{composite.reason}@{_shown_value(Fraction(composite.at, SECOND))} {text}"
    text += _shown_parts(composite.parts, trace, detail)
    if detail.stamp:
        text += f" [{_shown_value(Fraction(composite.lo, SECOND))},{_shown_value(Fraction(composite.hi, SECOND))}]"
    values = sorted((name, value) for name, value in composite.attributes.items() if value is not None)
    if detail.attributes and values:
        text += " {" + ", ".join(f"{name}={_shown_value(value)}" for name, value in values) + "}"
    return text


def _shown_parts(parts: tuple[Part, ...], trace: Trace, detail: Detail) -> str:
    texts = []
    for part in parts:
        labels = ",".join(sorted(part.labels)) + "=" if detail.labels and part.labels else ""
        whole = part.symbol
        if isinstance(whole, Composite):
            texts.append(f"{labels}{whole.type}({_shown_parts(whole.parts, trace, detail)})")
        else:
            texts.append(labels + trace.name(whole))
    return " ".join(texts)


def _shown_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime):
        return format_time(of_datetime(value))
    return str(int(value)) if value == int(value) else str(float(value))
